"""Windows that count rows: the last n of the stream, or of each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.operators.window.rows_window_loops import link_rows, rows_in_order, slide_rows
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.rows import RowStore, grown
from penstock.state.slots import SlotPool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.windows import Rows
    from penstock.operators.division import Division
    from penstock.state.arrays import Ints, Places

PARTITION_FIELDS = 5
"""Of each partition: its oldest row, its newest, the oldest not begun, how many rows there are,
and how many have not begun."""
MOST_ROWS = 2**62
"""More rows than there are: a number of a row plus this is still a number of 64 bits."""
ROW_FIELDS = 2
"""Of each row: the next of its partition, and whether it has begun."""


class RowsWindow(Operator):
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
        self._tell_vanished = tell_vanished
        self.spec = spec
        self._partition_by = tuple(partition_by)
        self._partitions = KeyIndex()
        self._rows = RowStore(types)
        self._pool = SlotPool()
        # Rows of a partition are numbered as they come; how many came is all one has to know.
        self._came: Ints = np.zeros(0, np.int64)
        self._of_partition: Places = np.zeros((0, PARTITION_FIELDS), np.int32)
        self._of_row: Places = np.zeros((0, ROW_FIELDS), np.int32)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows that begin, negative rows for those pushed out."""
        (block,) = map(rows_by_time, inputs)
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
            self._came,
            self._of_partition,
            self._of_row,
            min(self.spec.count, MOST_ROWS),
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
        self._came = grown(self._came, self._partitions.capacity)
        self._of_partition = grown(self._of_partition, self._partitions.capacity)
        self._came[partitions[new]] = 0
        self._of_partition[partitions[new]] = (-1, -1, -1, 0, 0)
        return partitions

    def shrink(self) -> None:
        """Give back the room of rows that has been empty for a while; partitions stay."""
        if self._pool.is_spacious:
            moved = self._pool.compact()
            self._rows.move(moved.kept)
            self._of_row = moved.rows(self._of_row)
            moved.links(self._of_row[:, 0])
            moved.links(self._of_partition[:, :3])

    @property
    def state_rows(self) -> int:
        """Rows in the window, and those waiting for their slide."""
        return len(self._pool)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        of_rows = self._rows.nbytes + self._of_row.nbytes + self._pool.nbytes
        of_partitions = self._partitions.nbytes + self._of_partition.nbytes + self._came.nbytes
        return of_rows + of_partitions

    def segments(self) -> Segments:
        """The rows of each partition in order, with their numbers."""
        partitions = self._partitions.live_slots()
        slots, numbers, came = rows_in_order(
            partitions, self._came, self._of_partition, self._of_row, len(self._pool)
        )
        columns = {str(number): one for number, one in enumerate(self._rows.take(slots))}
        begun = self._of_row[slots, 1].astype(np.int64)
        columns |= {"_number": pa.array(numbers), "_begun": pa.array(begun)}
        return {"rows": pa.table(columns | {"_came": pa.array(came)})}

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Partitions, each whole."""
        return division.rows(parts, {"rows": division.inputs[0]})

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the rows, and link those of each partition again."""
        *columns, _, begun, came = arrays_of(segments["rows"])
        slots = self._pool.allocate(len(begun))
        self._rows.put(slots, columns)
        self._of_row = grown(self._of_row, self._pool.capacity)
        self._of_row[slots, 1] = begun.to_numpy()
        nothing = np.zeros(len(slots), np.int64)
        partitions = self._enter_partitions(Block(tuple(columns), nothing, nothing))
        self._came[partitions] = came.to_numpy()
        link_rows(slots, partitions, self._of_partition, self._of_row)
