"""Windows that count rows: the last n of the stream, or of each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.declared_state.slot_entries import SlotLinks
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.operators.window.rows_window_loops import link_rows, rows_in_order, slide_rows
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.windows import Rows
    from penstock.state.arrays import Ints

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
        self._partitions = SlotTable((), keyed=0, derived=True)
        # Rows of a partition are numbered as they come; how many came is all one has to know.
        self._came = self._partitions.column(np.int64, None)
        self._of_partition = self._partitions.column(np.int32, None, width=PARTITION_FIELDS)
        self._rows = _WindowRows(types, self)
        self._of_row = self._rows.column(np.int32, None, width=ROW_FIELDS)
        self._rows.beside(SlotLinks(self._of_row, slice(1)))
        self._rows.beside(SlotLinks(self._of_partition, slice(3)))
        self.state = DeclaredState(rows=self._rows, partitions=self._partitions)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows that begin, negative rows for those pushed out."""
        (block,) = map(rows_by_time, inputs)
        if block is None:
            return ()
        partitions = self._enter_partitions(block.columns, len(block))
        slots = self._rows.add(block.columns, len(block))
        found, ts, te, sign, gone = slide_rows(
            slots,
            partitions,
            block.ts,
            self._came.values,
            self._of_partition.values,
            self._of_row.values,
            min(self.spec.count, MOST_ROWS),
            self.spec.slide or 1,
            len(self._rows),
            self._tell_vanished,
        )
        made = stored_blocks(self._rows, found, ts, te, sign)
        self._rows.remove(gone)
        return made

    def _enter_partitions(self, columns: Sequence[pa.Array], length: int) -> Ints:
        keys = [columns[number] for number in self._partition_by]
        partitions, new = self._partitions.find_or_add(fingerprints(keys, length))
        self._came.values[partitions[new]] = 0
        self._of_partition.values[partitions[new]] = (-1, -1, -1, 0, 0)
        return partitions

    def in_order(self) -> tuple[Ints, Ints, Ints]:
        """The rows of each partition in order, their numbers, and how many rows came there."""
        return rows_in_order(
            self._partitions.live_slots(),
            self._came.values,
            self._of_partition.values,
            self._of_row.values,
            len(self._rows),
        )

    def begun(self, slots: Ints) -> Ints:
        """A number for each row that has begun: 1, else 0."""
        return np.asarray(self._of_row.values[slots, 1], np.int64)

    def link(self, columns: Sequence[pa.Array], begun: Ints, came: Ints) -> None:
        """Have rows in the order they came; whether each has begun, how many came to each."""
        slots = self._rows.add(columns, len(begun))
        self._of_row.values[slots, 1] = begun
        partitions = self._enter_partitions(columns, len(begun))
        self._came.values[partitions] = came
        link_rows(slots, partitions, self._of_partition.values, self._of_row.values)


class _WindowRows(SlotTable):
    """The rows of all partitions; saved in order, they are linked anew."""

    def __init__(self, types: Sequence[pa.DataType], window: RowsWindow) -> None:
        super().__init__(types)
        self._window = window

    def segments(self) -> Segments:
        """The rows of each partition in order, and how many came there."""
        slots, _, came = self._window.in_order()
        columns = {str(number): one for number, one in enumerate(self.take(slots))}
        begun = self._window.begun(slots)
        return {"rows": pa.table(columns | {"_begun": pa.array(begun), "_came": pa.array(came)})}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        *columns, begun, came = arrays_of(segments["rows"])
        self._window.link(columns, begun.to_numpy(), came.to_numpy())
