"""Windows that count rows: the last n of the stream, or of each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block, stored_blocks
from penstock.operators.buffered import Buffered
from penstock.operators.rows_window_loops import link_rows, rows_in_order, slide_rows
from penstock.operators.tables import arrays_of
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.rows import RowStore, grown
from penstock.state.slots import SlotPool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.windows import Rows
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints

PARTITION_FIELDS = 4
"""Of each partition: its oldest row, its newest, the oldest not begun, and how many came."""
ROW_FIELDS = 3
"""Of each row: the next of its partition, its number there, and whether it has begun."""


class RowsWindow(Buffered):
    """Row i of its partition is valid from row up(i) to row up(i + n), `up` the next slide.

    What begins and ends in one step has its interval; other rows are sent for ever, and withdrawn
    by a negative row when they are pushed out. A row that ends where it begins is never valid;
    with `tell_vanished` it is sent all the same, with an empty interval.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        spec: Rows,
        partition_by: Sequence[int],
        *,
        tell_vanished: bool = False,
    ) -> None:
        super().__init__()
        self._tell_vanished = tell_vanished
        self.spec = spec
        self._partition_by = tuple(partition_by)
        self._partitions = KeyIndex()
        self._rows = RowStore(types)
        self._pool = SlotPool()
        self._of_partition: Ints = np.zeros((0, PARTITION_FIELDS), np.int64)
        self._of_row: Ints = np.zeros((0, ROW_FIELDS), np.int64)

    def step(self, inputs: Sequence[Block | None], clock: int) -> Sequence[Block]:
        """Elements for rows that begin, negative rows for those pushed out."""
        (block,) = inputs
        if block is None:
            return ()
        partitions = self._enter_partitions(block)
        slots = self._pool.allocate(len(block))
        self._rows.put(slots, block.columns)
        self._of_row = grown(self._of_row, self._pool.capacity)
        found, ts, te, sign, gone = slide_rows(
            slots,
            partitions,
            block.ts,
            self._of_partition,
            self._of_row,
            self.spec.count,
            self.spec.slide or 1,
            len(self._pool),
            self._tell_vanished,
        )
        made = stored_blocks(self._rows, found, ts, te, sign)
        self._rows.forget(gone)
        self._pool.release(gone)
        return made

    def _enter_partitions(self, block: Block) -> Ints:
        keys = [block.columns[number] for number in self._partition_by]
        partitions, new = self._partitions.find_or_add(fingerprints(keys, len(block)))
        self._of_partition = grown(self._of_partition, self._partitions.capacity)
        self._of_partition[partitions[new]] = (-1, -1, -1, 0)
        return partitions

    @property
    def state_rows(self) -> int:
        """Rows in the window, and those waiting for their slide."""
        return len(self._pool)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        of_rows = self._rows.nbytes + self._of_row.nbytes + self._pool.nbytes
        return of_rows + self._partitions.nbytes + self._of_partition.nbytes

    def segments(self) -> Segments:
        """The rows of each partition in order, with their numbers."""
        partitions = self._partitions.live_slots()
        slots, came = rows_in_order(partitions, self._of_partition, self._of_row, len(self._pool))
        columns = {str(number): one for number, one in enumerate(self._rows.take(slots))}
        fields = self._of_row[slots]
        columns |= {"_number": pa.array(fields[:, 1]), "_begun": pa.array(fields[:, 2])}
        return {"rows": pa.table(columns | {"_came": pa.array(came)})}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the rows, and link those of each partition again."""
        *columns, number, begun, came = arrays_of(segments["rows"])
        slots = self._pool.allocate(len(number))
        self._rows.put(slots, columns)
        self._of_row = grown(self._of_row, self._pool.capacity)
        self._of_row[slots, 1] = number.to_numpy()
        self._of_row[slots, 2] = begun.to_numpy()
        nothing = np.zeros(len(slots), np.int64)
        partitions = self._enter_partitions(Block(tuple(columns), nothing, nothing))
        link_rows(slots, partitions, came.to_numpy(), self._of_partition, self._of_row)
