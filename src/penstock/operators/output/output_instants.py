"""The instants at which RSTREAM sends out: blocks without columns, one row for each instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import DataError
from penstock.operators.block import Block, arriving, rows_by_time
from penstock.operators.declared_state.known_values import LATEST, KnownValues
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState, RowsPart
from penstock.operators.operator import Inputs, Operator
from penstock.operators.window.time_windows import rounded_up
from penstock.state.expiry import CalendarQueue
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.division import Division
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints


MOST_SLIDES = 50_000_000
"""How many slides may pass in one step."""


def instants_block(instants: Ints) -> Block:
    """The different instants, in order, without what was there before all input."""
    found = np.unique(instants)
    return arriving((), found[found > BEGINNING])


class Boundaries(Operator):
    """The instants at which an element of a window begins or ends, or a relation is updated."""

    def __init__(self, span: int, partitions: int) -> None:
        self._ends = _Awaited(CalendarQueue((), span, partitions))
        self.state = DeclaredState(ends=self._ends)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Begins and withdrawals of this step, and ends known from before."""
        blocks = [block for blocks in inputs for block in blocks]
        for block in blocks:
            # A negative row's end is that of the element it withdraws, which was told already.
            ends = np.unique(block.te[(block.te < INFINITY) & (block.signs > 0)])
            self._ends.queue.push(ends, [])
        ended, _ = self._ends.queue.pop(clock)
        return [instants_block(np.concatenate([ended, *(block.ts for block in blocks)]))]


class _Awaited(RowsPart):
    """Instants to come. Like what is told of them they have no columns: all lanes may know all."""

    def __init__(self, queue: CalendarQueue) -> None:
        self.queue = queue

    def table(self) -> pa.Table:
        """The instants."""
        return pa.table({"_ts": pa.array(self.queue.contents()[0])})

    def take_back(self, table: pa.Table) -> None:
        """Await them."""
        self.queue.push(table["_ts"].to_numpy(), [])

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """All that any lane awaits, for all."""
        awaited = pa.concat_tables([table for part in parts for table in part.values()])
        known = pa.table({"_ts": np.unique(awaited["_ts"].to_numpy())})
        return [dict.fromkeys(parts[0], known) for _ in range(division.lanes)]

    def __len__(self) -> int:
        return len(self.queue)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.queue.nbytes


class TimeSlides(Operator):
    """The multiples of a slide, from the first row's on to the last that any interval touches.

    The first `arrivals` ports bring rows as they came, the others the same rows windowed. After
    the last interval ended it is not known whether there will be another slide before the next
    row comes, so the frontier stays behind the clock until then; unless it `skips` such slides,
    as it may where nothing is in the result once all intervals have ended.
    """

    meets = False

    def __init__(self, slide: int, arrivals: int, *, skips: bool = False) -> None:
        self._slide = slide
        self._arrivals = arrivals
        self._skips = skips
        self._next: int | None = None
        self._last = BEGINNING
        self._endless = False
        self.state = DeclaredState(
            slides=KnownValues(self, _next=LATEST, _last=LATEST, _endless=LATEST)
        )

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The slides up to the clock and the last interval known."""
        self._look_at(inputs)
        if self._next is None:
            return ()
        stop = min(self._last + 1, clock)
        if (stop - self._next) // self._slide > MOST_SLIDES:
            msg = f"a periodic query with a slide of {self._slide} goes from {self._next} to {stop}"
            raise DataError(msg, hint=f"At most {MOST_SLIDES} slides pass at once.")
        slides = np.arange(self._next, stop, self._slide, dtype=np.int64)
        self._next += len(slides) * self._slide
        if self._skips and not self._endless:
            self._next = max(self._next, int(rounded_up(np.array([clock]), self._slide)[0]))
        return [instants_block(slides)]

    def frontier(self, clock: int) -> int:
        """The next slide: what is before it is settled."""
        if self._next is None or clock >= INFINITY:
            return clock
        return min(clock, self._next)

    def _look_at(self, inputs: Inputs) -> None:
        arrived = [block.ts for blocks in inputs[: self._arrivals] for block in blocks]
        if self._next is None and arrived:
            first = np.concatenate(arrived).min(keepdims=True)
            self._next = int(rounded_up(first, self._slide)[0])
        for block in (block for blocks in inputs[self._arrivals :] for block in blocks):
            ends = np.concatenate([block.ts, block.te])
            self._endless |= bool((block.te == INFINITY).any())
            self._last = max(self._last, int(ends[ends < INFINITY].max(initial=BEGINNING)))


class RowSlides(Operator):
    """The times of the rows numbered m, 2m, ... of each partition."""

    def __init__(
        self, types: Sequence[pa.DataType], slide: int, partition_by: Sequence[int]
    ) -> None:
        self._slide = slide
        self._partition_by = tuple(partition_by)
        keys = [types[number] for number in partition_by]
        self._partitions = SlotTable(keys, keyed=len(keys), columns=partition_by)
        self._counts = self._partitions.column(np.int64, "_count")
        self.state = DeclaredState(partitions=self._partitions)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Count the rows of each partition."""
        (block,) = map(rows_by_time, inputs)
        if block is None:
            return ()
        keys = [block.columns[number] for number in self._partition_by]
        partitions, _ = self._partitions.enter(keys, len(block))
        order = order_of(partitions)
        ordered = partitions[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        places = np.arange(len(ordered)) - np.repeat(starts, np.diff(starts, append=len(ordered)))
        numbers = self._counts.values[ordered] + places + 1
        np.add.at(self._counts.values, partitions, 1)
        return [instants_block(block.ts[order][numbers % self._slide == 0])]
