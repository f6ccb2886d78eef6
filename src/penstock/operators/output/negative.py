"""The strategy of negative tuples: every end is announced by a negative row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.state.expiry import ExpiryQueue, expiry_queue
from penstock.state.rows import RowStore
from penstock.state.slots import SlotPool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.patterns import Pattern
    from penstock.operators.division import Division
    from penstock.state.arrays import Ints


class AnnouncedEnds(Operator):
    """Rows are sent for ever, and withdrawn when they end."""

    meets = False

    def __init__(
        self, types: Sequence[pa.DataType], pattern: Pattern, span: int, partitions: int
    ) -> None:
        self._rows = RowStore(types)
        self._pool = SlotPool()
        self._queue: ExpiryQueue = expiry_queue(pattern, (np.dtype(np.int64),), span, partitions)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of the step, and negative rows for those that end in it."""
        made: list[Block] = []
        (block,) = map(rows_by_time, inputs)
        if block is not None:
            made.append(self._sent(block))
        ends, (slots,) = self._queue.pop(clock)
        if len(ends):
            forever = np.full(len(ends), INFINITY, np.int64)
            withdrawn = np.full(len(ends), -1, np.int8)
            made += stored_blocks(self._rows, slots, ends, forever, withdrawn)
            self._rows.forget(slots)
            self._pool.release(slots)
        return made

    def _sent(self, block: Block) -> Block:
        self._keep(block.take(block.te < INFINITY))
        forever = np.full(len(block), INFINITY, np.int64)
        return Block(block.columns, block.ts, forever, np.ones(len(block), np.int8))

    def _keep(self, block: Block) -> None:
        slots: Ints = self._pool.allocate(len(block))
        self._rows.put(slots, block.columns)
        self._queue.push(block.te, [slots])

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if self._pool.is_spacious:
            moved = self._pool.compact()
            self._rows.move(moved.kept)
            self._queue.renumber(moved.numbers)

    @property
    def state_rows(self) -> int:
        """Rows that will end."""
        return len(self._pool)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        return self._rows.nbytes + self._pool.nbytes + self._queue.nbytes

    def segments(self) -> Segments:
        """The rows that will end."""
        ends, (slots,) = self._queue.contents()
        columns = {str(number): one for number, one in enumerate(self._rows.take(slots))}
        return {"rows": pa.table(columns | {"_end": pa.array(ends)})}

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Each row on its own."""
        return division.rows(parts, {"rows": division.inputs[0]})

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        *columns, end = arrays_of(segments["rows"])
        ends = end.to_numpy()
        self._keep(Block(tuple(columns), ends, ends))
