"""The strategy of negative tuples: every end is announced by a negative row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.declared_state.slot_entries import SlotQueue
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.state.expiry import expiry_queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.algebra.patterns import Pattern


class AnnouncedEnds(Operator):
    """Rows are sent for ever, and withdrawn when they end."""

    meets = False

    def __init__(
        self, types: Sequence[pa.DataType], pattern: Pattern, span: int, partitions: int
    ) -> None:
        self._rows = SlotTable(types)
        queue = expiry_queue(pattern, (np.dtype(np.int64),), span, partitions)
        self._ends = self._rows.beside(SlotQueue(queue, "ends"))
        self.state = DeclaredState(rows=self._rows)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of the step, and negative rows for those that end in it."""
        made: list[Block] = []
        (block,) = map(rows_by_time, inputs)
        if block is not None:
            made.append(self._sent(block))
        ends, (slots,) = self._ends.queue.pop(clock)
        if len(ends):
            forever = np.full(len(ends), INFINITY, np.int64)
            withdrawn = np.full(len(ends), -1, np.int8)
            made += stored_blocks(self._rows, slots, ends, forever, withdrawn)
            self._rows.remove(slots)
        return made

    def _sent(self, block: Block) -> Block:
        ending = block.take(block.te < INFINITY)
        self._ends.queue.push(ending.te, [self._rows.add(ending.columns, len(ending))])
        forever = np.full(len(block), INFINITY, np.int64)
        return Block(block.columns, block.ts, forever, np.ones(len(block), np.int8))
