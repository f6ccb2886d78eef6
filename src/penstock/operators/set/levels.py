"""INTERSECT ALL and max-union where nothing is withdrawn: elements with exact intervals.

At every instant a row occurs as often as in the input that has it less (or more) often. Copies
sent out are good until the earliest of the ends that could make the result smaller; when they
end, the operator looks again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.division import Moves, with_column
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.operators.set.levels_loops import LISTS, all_nodes, insert_all, sweep_levels
from penstock.state.expiry import CalendarQueue
from penstock.state.keyed import KeyedRows
from penstock.state.rows import grown
from penstock.state.slots import SlotPool
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.state.arrays import Flags, Ints, Places

_NODES = 256
"""So many nodes, at least, are got at once."""


class Levels(Operator):
    """The least (intersection) or the most (max-union) of the copies in two inputs."""

    def __init__(
        self, types: Sequence[pa.DataType], span: int, partitions: int, *, least: bool
    ) -> None:
        self._least = least
        self._rows = KeyedRows(types)
        self._alive: Flags = np.zeros(0, np.bool_)
        # For each row three lists of ends, earliest first: left, right, and sent out.
        self._tails: Places = np.zeros((0, LISTS), np.int32)
        self._counts: Places = np.zeros((0, LISTS), np.int32)
        # A node of a list has an end, the next node and the one before.
        self._ends: Ints = np.zeros(0, np.int64)
        self._links: Places = np.zeros((0, 2), np.int32)
        self._pool = SlotPool()
        self._queue = CalendarQueue((np.dtype(np.int32),), span, partitions)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Copies that the result has more than were sent out."""
        times, slots, sides, ends = [], [], [], []
        for side, block in enumerate(map(rows_by_time, inputs)):
            if block is not None:
                times.append(block.ts)
                slots.append(self._enter(block))
                ends.append(block.te)
                sides.append(np.full(len(block), side, np.int64))
        ended, (ended_slots,) = self._queue.pop(clock)
        times.append(ended)
        slots.append(ended_slots.astype(np.int64))
        ends.append(ended)
        sides.append(np.full(len(ended), -1, np.int64))
        return self._swept(*map(np.concatenate, (times, slots, sides, ends)))

    def _swept(self, times: Ints, slots: Ints, sides: Ints, ends: Ints) -> list[Block]:
        order = order_of(times)
        times, ordered, sides, ends = times[order], slots[order], sides[order], ends[order]
        made: list[tuple[Ints, Ints, Ints]] = []
        arrivals = int((sides >= 0).sum())
        # Most often an arrival needs a node, and some are sent out as well.
        position, room = 0, arrivals + arrivals // 4 + _NODES
        while position < len(order):
            fresh, before = self._new_nodes(room), position
            found_slots, ts, te, position, used, freed = sweep_levels(
                times, ordered, sides, ends, position, self._tails, self._counts,
                self._ends, self._links, fresh, self._least,
            )  # fmt: skip
            made.append((found_slots, ts, te))
            self._pool.give_back(fresh[used:])
            self._pool.release(freed)
            # Many copies of one row at one instant may need more than all events so far.
            room = max(2 * (len(order) - position), 2 * room if position == before else _NODES)
        blocks = self._blocks(made)
        self._release(slots)
        return blocks

    def _new_nodes(self, count: int) -> Ints:
        nodes = self._pool.allocate(count)
        self._ends = grown(self._ends, self._pool.capacity)
        self._links = grown(self._links, self._pool.capacity)
        return nodes

    def _blocks(self, made: list[tuple[Ints, Ints, Ints]]) -> list[Block]:
        nothing = np.zeros(0, np.int64)
        slots, ts, te = map(np.concatenate, zip((nothing,) * 3, *made, strict=True))
        return stored_blocks(self._rows, slots, ts, te)

    def _enter(self, block: Block) -> Ints:
        slots, new = self._rows.enter(block.columns, len(block))
        self._reserve(self._rows.capacity)
        self._alive[slots[new]] = True
        self._tails[slots[new]] = -1
        ending = block.te < INFINITY
        if ending.any():
            self._queue.push(block.te[ending], [slots[ending]])
        return slots

    def _reserve(self, capacity: int) -> None:
        self._tails = grown(self._tails, capacity)
        self._counts = grown(self._counts, capacity)
        self._alive = grown(self._alive, capacity)

    def _release(self, slots: Ints) -> None:
        """Forget rows that no input has any more; each has an end in this step."""
        met = np.unique(slots)
        gone = met[~self._counts[met].any(axis=1)]
        gone = gone[self._alive[gone]]
        self._alive[gone] = False
        self._rows.remove(gone)

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if self._rows.is_spacious:
            moved = self._rows.compact()
            self._tails, self._counts = moved.rows(self._tails), moved.rows(self._counts)
            self._alive = moved.rows(self._alive)
            self._queue.renumber(moved.numbers)
        if self._pool.is_spacious:
            moved = self._pool.compact()
            self._ends, self._links = moved.rows(self._ends), moved.rows(self._links)
            moved.links(self._links)
            moved.links(self._tails)

    @property
    def state_rows(self) -> int:
        """Ends in all lists."""
        return len(self._pool)

    @property
    def state_bytes(self) -> int:
        """Bytes of memory in use."""
        lists = self._tails.nbytes + self._counts.nbytes + self._alive.nbytes
        nodes = self._ends.nbytes + self._links.nbytes + self._pool.nbytes
        return self._rows.nbytes + self._queue.nbytes + lists + nodes

    def segments(self) -> Segments:
        """The rows, and the ends in each list."""
        slots = self._rows.live_slots()
        columns = self._rows.columns(slots)
        total = int(self._counts.sum())
        row, which, end = all_nodes(
            slots, self._tails, self._counts, self._ends, self._links, total
        )
        ends = {"row": pa.array(row), "list": pa.array(which), "end": pa.array(end)}
        return {"rows": pa.table(columns | {"_slot": pa.array(slots)}), "ends": pa.table(ends)}

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Each different row with its ends."""
        tables = [_placed(part["rows"]) for part in parts]
        shares = division.shares(tables, division.inputs[0])
        ends = Moves(shares).moved([part["ends"] for part in parts], "row")
        return [{"rows": _placed(shares.of(lane)), "ends": one} for lane, one in enumerate(ends)]

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back rows and ends."""
        *columns, slot = arrays_of(segments["rows"])
        slots = np.arange(len(slot))
        self._rows.restore(columns, slots)
        self._reserve(len(slots))
        self._alive[slots] = True
        self._tails[slots] = -1
        row, which, end = (one.to_numpy() for one in arrays_of(segments["ends"]))
        fresh = self._new_nodes(len(row))
        insert_all(
            row, which, end, self._tails, self._counts,
            self._ends, self._links, fresh,
        )  # fmt: skip
        ending = (end < INFINITY) & (which < 2)
        if ending.any():
            self._queue.push(end[ending], [row[ending]])


def _placed(rows: pa.Table) -> pa.Table:
    """Rows that are called by their place, as ends call them."""
    return with_column(rows, "_slot", np.arange(len(rows)))
