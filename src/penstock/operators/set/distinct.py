"""Duplicate elimination where nothing is withdrawn: the output, and the youngest duplicate.

For each different row the operator keeps the end of the element it sent out, and the latest end
seen among its duplicates (the improved operator of the thesis): about twice the output, however
many duplicates there are. When the element sent out ends, the youngest duplicate takes over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.declared_state.slot_entries import SlotQueue
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.set.distinct_loops import cover, take_over
from penstock.state.expiry import CalendarQueue

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.state.arrays import Ints


class DistinctOperator(Operator):
    """Every different row once, in elements that follow each other without a gap."""

    def __init__(self, types: Sequence[pa.DataType], span: int, partitions: int) -> None:
        self._rows = SlotTable(types, keyed=len(types))
        # The end of the element sent out, and the latest end of all duplicates; the beginning of
        # time where there is no row.
        self._ends = self._rows.column(np.int64, "_end", width=2, fill=BEGINNING, merge=np.maximum)
        queue = CalendarQueue((np.dtype(np.int32),), span, partitions)
        self._awaited = self._rows.beside(SlotQueue(queue, None))
        self.state = DeclaredState(rows=self._rows)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows not there before, and for duplicates that take over."""
        (block,) = map(rows_by_time, inputs)
        parts = [] if block is None else [self._enter(block)]
        gone: list[Ints] = []
        while True:
            ends, (slots,) = self._awaited.queue.pop(clock)
            if not len(ends):
                break
            later, started, ended, removed = take_over(
                ends, slots.astype(np.int64), self._ends.values
            )
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
        made = cover(slots, block.ts, block.te, self._ends.values)
        self._expect(made[0], made[2])
        return made

    def _expect(self, slots: Ints, ends: Ints) -> None:
        ending = ends < INFINITY
        if ending.any():
            self._awaited.queue.push(ends[ending], [slots[ending]])

    def restored(self) -> None:
        """Await the ends of the elements sent out."""
        slots = self._rows.live_slots()
        self._expect(slots, self._ends.values[slots, 0])
