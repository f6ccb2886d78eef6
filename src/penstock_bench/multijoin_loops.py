"""The loops of the paper, one tuple after the other: what blocks and tables are compared with.

Windows are lists, one for each bucket of a hash table; nested loops have one bucket. The naive join
runs the loops in one global order, whichever window the new tuple is in. The improved one has the
new tuple in the outermost loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints
    from penstock_bench.multijoin_traffic import StreamTraffic, TrafficStep

VALUE, INSTANT, OLDER = 0, 1, 2
"""A kept row: what it is joined by, when it came, and the row of its bucket that came before."""
NOBODY = -1


@compiled
def keep(rows: Ints, counts: Ints, heads: Ints, buckets: Ints, owner: int, row: Ints) -> None:
    """Append a row to its window and to the list of its bucket."""
    place, bucket = counts[owner], row[VALUE] % buckets[owner]
    rows[owner, place, VALUE], rows[owner, place, INSTANT] = row[VALUE], row[INSTANT]
    rows[owner, place, OLDER] = heads[owner, bucket]
    heads[owner, bucket] = place
    counts[owner] = place + 1


@compiled
def keep_all(rows: Ints, counts: Ints, heads: Ints, buckets: Ints, owners: Ints, new: Ints) -> None:
    """Append rows in the order in which they came."""
    for at in range(len(owners)):
        keep(rows, counts, heads, buckets, owners[at], new[at])


@compiled
def next_match(window: Ints, row: int, since: int, wanted: int, any_value: bool) -> tuple[int, int]:
    """The first row from one on that came behind an instant and fits; how many were visited."""
    visits = 0
    while row != NOBODY and window[row, INSTANT] > since:
        visits += 1
        if any_value or window[row, VALUE] == wanted:
            return row, visits
        row = window[row, OLDER]
    return NOBODY, visits


@compiled
def put_first(order: Ints, owner: int, loops: Ints) -> None:
    """Write an order with one input before all others."""
    loops[0] = owner
    place = 1
    for one in order:
        if one != owner:
            loops[place] = one
            place += 1


@compiled
def nested_loops(
    rows: Ints, counts: Ints, heads: Ints, buckets: Ints, owners: Ints, new: Ints, lengths: Ints,
    order: Ints, naive: bool,
) -> tuple[Ints, int]:  # fmt: skip
    """Keep each new row, and find its combinations; how many rows were visited.

    Of a combination there is where its rows are, then which new row it is for.
    """
    inputs = len(order)
    room = np.empty((1024, inputs + 1), np.int64)
    at, loops = np.empty(inputs, np.int64), order.copy()
    count, visits = 0, 0
    for number, owner in enumerate(owners):
        now = new[number, INSTANT]
        keep(rows, counts, heads, buckets, owner, new[number])
        if not naive:
            put_first(order, owner, loops)
        depth, row = 0, heads[loops[0], new[number, VALUE] % buckets[loops[0]]]
        while depth >= 0:
            one = loops[depth]
            if one != owner:
                wanted = rows[loops[0], at[0], VALUE] if depth else 0
                since = now - lengths[one]
                row, visited = next_match(rows[one], row, since, wanted, depth == 0)
                visits += visited
            elif depth and row != NOBODY and new[number, VALUE] != rows[loops[0], at[0], VALUE]:
                row = NOBODY
            if row == NOBODY:
                depth -= 1
                if depth >= 0:
                    one = loops[depth]
                    row = NOBODY if one == owner else rows[one, at[depth], OLDER]
                continue
            at[depth] = row
            if depth == inputs - 1:
                if count == len(room):
                    room = np.concatenate((room, np.empty_like(room)))
                for place in range(inputs):
                    room[count, loops[place]] = at[place]
                room[count, inputs] = number
                count += 1
                row = NOBODY if one == owner else rows[one, row, OLDER]
            else:
                depth += 1
                one = loops[depth]
                wanted = rows[loops[0], at[0], VALUE]
                row = counts[owner] - 1 if one == owner else heads[one, wanted % buckets[one]]
    return room[:count], visits


class Loops:
    """A join by plain loops.

    Args:
        traffic: Whose windows are joined.
        order: The global order.
        buckets: Of the hash table of each window; 1: all rows are visited.
        naive: Whether new rows stay where the order has them; only with one bucket.

    Attributes:
        visits: Rows that were visited so far.
    """

    def __init__(
        self, traffic: StreamTraffic, order: Sequence[int], buckets: Sequence[int], *, naive: bool
    ) -> None:
        assert not naive or max(buckets) == 1
        self._lengths = np.array(traffic.lengths)
        self._order = np.array(order)
        self._buckets = np.array(buckets)
        self._naive = naive
        room = 2 * max(traffic.live) + traffic.step_rows
        self._rows = np.empty((len(order), room, 3), np.int64)
        self._empty()
        self.visits = 0

    @property
    def state_bytes(self) -> int:
        """Of the rows and the tables, without room that is empty."""
        return int(self._counts.sum()) * self._rows.itemsize * 3 + self._heads.nbytes

    def fill(self, traffic: StreamTraffic) -> None:
        """Let windows be full, without looking for results."""
        for number in range(traffic.steps_to_fill):
            step = traffic.step(number)
            self._make_room(step)
            keep_all(*self._windows, step.owners, step.rows)

    def step(self, step: TrafficStep) -> list[Block]:
        """The results of the rows of a step."""
        self._make_room(step)
        found, visits = nested_loops(
            *self._windows, step.owners, step.rows, self._lengths, self._order, self._naive
        )
        self.visits += visits
        taken = [self._rows[one, found[:, one]] for one in range(len(self._order))]
        columns = [pa.array(part[:, word].copy()) for part in taken for word in (VALUE, INSTANT)]
        ends = [
            part[:, INSTANT] + length for part, length in zip(taken, self._lengths, strict=True)
        ]
        te = np.minimum.reduce(ends)
        return [Block(tuple(columns), step.rows[found[:, -1], INSTANT], te)]

    @property
    def _windows(self) -> tuple[Ints, Ints, Ints, Ints]:
        return self._rows, self._counts, self._heads, self._buckets

    def _empty(self) -> None:
        self._counts = np.zeros(len(self._order), np.int64)
        self._heads = np.full((len(self._order), int(self._buckets.max())), NOBODY, np.int64)

    def _make_room(self, step: TrafficStep) -> None:
        """Forget what has ended, if there is no room for a step; windows are shifted, seldom."""
        if int(self._counts.max()) + len(step.owners) <= self._rows.shape[1]:
            return
        before = int(step.rows[0, INSTANT])
        kept = [
            rows[:count][rows[:count, INSTANT] > before - length]
            for rows, count, length in zip(self._rows, self._counts, self._lengths, strict=True)
        ]
        owners = np.repeat(np.arange(len(kept)), [len(one) for one in kept])
        rows = np.concatenate(kept)
        self._empty()
        keep_all(*self._windows, owners, rows)
