"""Duplicate elimination where nothing is withdrawn: the output, and the youngest duplicate.

For each different row the operator keeps the end of the element it sent out, and the latest end
seen among its duplicates (the improved operator of the thesis): about twice the output, however
many duplicates there are. When the element sent out ends, the youngest duplicate takes over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.operators.set.distinct_loops import cover, take_over
from penstock.state.expiry import CalendarQueue
from penstock.state.keyed import KeyedRows
from penstock.state.rows import grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.state.arrays import Ints


class Distinct(Operator):
    """Every different row once, in elements that follow each other without a gap."""

    def __init__(self, types: Sequence[pa.DataType], span: int, partitions: int) -> None:
        self._rows = KeyedRows(types)
        # By slot: the end of the element sent out, and the latest end of all duplicates; the
        # beginning of time where there is no row.
        self._ends: Ints = np.zeros((0, 2), np.int64)
        self._queue = CalendarQueue((np.dtype(np.int32),), span, partitions)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows not there before, and for duplicates that take over."""
        (block,) = map(rows_by_time, inputs)
        parts = [] if block is None else [self._enter(block)]
        gone: list[Ints] = []
        while True:
            ends, (slots,) = self._queue.pop(clock)
            if not len(ends):
                break
            later, started, ended, removed = take_over(ends, slots.astype(np.int64), self._ends)
            self._expect(later, ended)
            parts.append((later, started, ended))
            gone.append(removed)
        made = [
            block for part in parts if len(part[0]) for block in stored_blocks(self._rows, *part)
        ]
        if gone:
            self._rows.remove(np.concatenate(gone))
        return made

    def _enter(self, block: Block) -> tuple[Ints, Ints, Ints]:
        slots, _ = self._rows.enter(block.columns, len(block))
        self._reserve(self._rows.capacity)
        made = cover(slots, block.ts, block.te, self._ends)
        self._expect(made[0], made[2])
        return made

    def _reserve(self, capacity: int) -> None:
        before = len(self._ends)
        self._ends = grown(self._ends, capacity)
        self._ends[before:] = BEGINNING

    def _expect(self, slots: Ints, ends: Ints) -> None:
        ending = ends < INFINITY
        if ending.any():
            self._queue.push(ends[ending], [slots[ending]])

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if self._rows.is_spacious:
            moved = self._rows.compact()
            self._ends = self._ends[moved.kept]
            self._reserve(len(moved.kept) + 1)
            self._queue.renumber(moved.numbers)

    @property
    def state_rows(self) -> int:
        """Different rows."""
        return len(self._rows)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        return self._rows.nbytes + self._ends.nbytes + self._queue.nbytes

    def segments(self) -> Segments:
        """The rows, each with its two ends."""
        slots = self._rows.live_slots()
        columns = self._rows.columns(slots)
        columns |= {f"_end{n}": pa.array(self._ends[slots, n]) for n in range(2)}
        return {"rows": pa.table(columns)}

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Each different row on its own."""
        return division.rows(parts, {"rows": division.inputs[0]})

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the rows."""
        *columns, sent, latest = arrays_of(segments["rows"])
        slots = np.arange(len(sent))
        self._rows.restore(columns, slots)
        self._reserve(len(slots))
        self._ends[slots, 0] = sent.to_numpy()
        self._ends[slots, 1] = latest.to_numpy()
        self._expect(slots, self._ends[slots, 0])
