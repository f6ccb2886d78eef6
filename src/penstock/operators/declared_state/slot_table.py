"""Rows in slots, and beside them columns by slot and queues that name slots.

What is kept of a row moves with it: when room is given back, when state is saved, where a slot is
the place of its row in the table, and when rows go to other lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from penstock.operators.declared_state.slot_entries import SlotColumn, SlotEntries
from penstock.operators.declared_state.state_part import StatePart
from penstock.operators.division import Moves
from penstock.operators.saved_tables import arrays_of
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.row_store import RowStore
from penstock.state.slots import SlotPool, moved_together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division, Shares
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints, Words
    from penstock.state.moving import Moved

_ROWS = "rows"

Entries = TypeVar("Entries", bound=SlotEntries)


class SlotTable(StatePart):
    """Rows, each in a slot.

    Args:
        types: Their columns.
        port: The input that they are rows of, so that they go where its rows do; None: results.
        keyed: So many columns, the first ones, tell rows apart: rows alike in these have one slot.
            None: every row has a slot of its own.
        columns: Which columns of the input they have; None: all.
        derived: Whether they follow from other parts: they are not saved, and do not count.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        *,
        port: int | None = 0,
        keyed: int | None = None,
        columns: Sequence[int] | None = None,
        derived: bool = False,
    ) -> None:
        self.rows = RowStore(types)
        self._derived = derived
        self._types = types
        self._port = port
        self._keyed = keyed
        self._chosen = columns
        self._slots = SlotPool() if keyed is None else KeyIndex()
        self._columns: list[SlotColumn] = []
        self._entries: list[SlotEntries] = []

    def column(
        self,
        dtype: type[np.generic],
        name: str | None,
        *,
        width: int | None = None,
        fill: int = 0,
        there: int | None = None,
        merge: np.ufunc = np.add,
    ) -> SlotColumn:
        """A column beside the rows, which is reserved, moved, saved and divided with them."""
        shape = (0,) if width is None else (0, width)
        made = SlotColumn(np.zeros(shape, dtype), name, fill=fill, there=there, merge=merge)
        self._columns.append(made)
        return made

    def beside(self, entries: Entries) -> Entries:
        """Entries that name slots of the rows."""
        self._entries.append(entries)
        return entries

    @property
    def index(self) -> KeyIndex:
        """The index of rows that are told apart by columns."""
        assert isinstance(self._slots, KeyIndex)
        return self._slots

    def add(self, columns: Sequence[pa.Array], length: int) -> Ints:
        """Keep rows, each in a slot of its own."""
        assert isinstance(self._slots, SlotPool)
        slots = self._slots.allocate(length)
        self.reserve()
        self.rows.put(slots, columns)
        return slots

    def find_or_add(self, words: Words) -> tuple[Ints, Ints]:
        """The slots of keys, given by their fingerprints; and which of them are new."""
        slots, new = self.index.find_or_add(words)
        self.reserve()
        return slots, new

    def enter(self, columns: Sequence[pa.Array], length: int) -> tuple[Ints, Ints]:
        """The slots of rows; and which rows came for the first time, now kept."""
        slots, new = self.find_or_add(fingerprints(columns, length))
        if len(new):
            chosen = pa.array(new)
            self.rows.put(slots[new], [column.take(chosen) for column in columns])
        return slots, new

    def find(self, columns: Sequence[pa.Array], length: int) -> Ints:
        """The slots of rows, `UNKNOWN` where there is none."""
        return self.index.find(fingerprints(columns, length))

    def reserve(self) -> None:
        """Room beside the rows for all slots, and for one behind them."""
        capacity = self._slots.capacity + 1
        self.rows.reserve(capacity)
        for column in self._columns:
            column.reserve(capacity)

    def remove(self, slots: Ints) -> None:
        """Forget rows; their slots are given to others."""
        if isinstance(self._slots, KeyIndex):
            self._slots.remove(slots)
        else:
            self._slots.release(slots)
        self.rows.forget(slots)

    def take(self, slots: Ints) -> tuple[pa.Array, ...]:
        """The rows of slots, in their order; a slot may come several times."""
        return self.rows.take(slots)

    def weights(self, slots: Ints) -> list[Ints]:
        """The lengths of long strings in slots, see `RowStore`."""
        return self.rows.weights(slots)

    def live_slots(self) -> Ints:
        """The slots in use, ascending."""
        slots = self._slots
        return slots.live_slots() if isinstance(slots, KeyIndex) else slots.taken()

    @property
    def capacity(self) -> int:
        """All slots are below this number."""
        return self._slots.capacity

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        for entries in self._entries:
            entries.shrink()
        if self._slots.is_spacious:
            self.compact()

    def compact(self) -> Moved:
        """Give the slots in use the lowest numbers, in the order they have."""
        moved = self._slots.compact()
        self.rows.move(moved.kept)
        self.rows.reserve(len(moved.kept) + 1)
        for column in self._columns:
            column.move(moved)
        for entries in self._entries:
            entries.move(moved)
        return moved

    def __len__(self) -> int:
        """The number of rows; and of entries, where they count."""
        return 0 if self._derived else self.count + sum(map(len, self._entries))

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        columns = sum(one.values.nbytes for one in self._columns)
        entries = sum(one.nbytes for one in self._entries)
        return self.rows.nbytes + self._slots.nbytes + columns + entries

    def segments(self) -> Segments:
        """The rows with the columns beside them, and the entries of queues."""
        return {} if self._derived else self.saved(self.live_slots())

    def saved(self, slots: Ints) -> Segments:
        """All rows, in an order of their slots."""
        columns = {str(number): one for number, one in enumerate(self.rows.take(slots))}
        for column in self._columns:
            columns |= column.saved(slots)
        # A table without any column has no rows.
        made = {_ROWS: pa.table(columns or {"_": pa.nulls(len(slots))})}
        numbers = moved_together(slots, self.capacity).numbers
        for entries in self._entries:
            made |= entries.segments(numbers)
        return made

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back; a row has the slot of its place in the table."""
        arrays = arrays_of(segments[_ROWS])
        length, width = len(segments[_ROWS]), len(self._types)
        slots = np.arange(length)
        if isinstance(self._slots, KeyIndex):
            keys = arrays[: self._keyed]
            self._slots.restore(fingerprints(keys, length), slots)
        else:
            self._slots.allocate(length)
        self.reserve()
        self.rows.put(slots, arrays[:width])
        for column in self._columns:
            count = len(column.names)
            column.restore(arrays[width : width + count], length)
            width += count
        for entries in self._entries:
            entries.restore(segments)

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Rows where those of the input are, with what is beside them."""
        parts = [part for part in parts if part]
        if division.spread(self._port).is_whole:
            return [dict(parts[0]) for _ in range(division.lanes)]
        shares = self._shares([part[_ROWS] for part in parts], division)
        lanes = [self._merged(shares.of(lane)) for lane in range(division.lanes)]
        moves = Moves(shares, [slots for _, slots in lanes])
        made: list[Segments] = [{_ROWS: rows} for rows, _ in lanes]
        for entries in self._entries:
            for segments, own in zip(made, entries.divided(parts, moves), strict=True):
                segments |= own
        return made

    def _shares(self, tables: Sequence[pa.Table], division: Division) -> Shares:
        spread = division.spread(self._port)
        if self._chosen is None:
            return division.shares(tables, spread)
        if not self._chosen and any(map(len, tables)):
            raise division.refused()
        shares = division.shares([self._padded(one, spread.width) for one in tables], spread)
        shares.tables = tables
        return shares

    def _padded(self, table: pa.Table, width: int) -> pa.Table:
        """Rows of chosen columns as rows of the input: where they go does not depend on others."""
        assert self._chosen is not None
        columns = [pa.nulls(len(table), pa.int64())] * width
        for place, number in enumerate(self._chosen):
            columns[number] = table.column(place)
        return pa.table(columns, names=[str(number) for number in range(width)])

    def _merged(self, rows: pa.Table) -> tuple[pa.Table, Ints]:
        """The rows of a lane, those alike in one; and the new slot of each."""
        if self._keyed is None:
            return rows, np.arange(len(rows))
        keys = arrays_of(rows.select(range(self._keyed)))
        slots, new = KeyIndex().find_or_add(fingerprints(keys, len(rows)))
        if len(new) == len(rows):
            return rows, slots
        made = rows.take(pa.array(new))
        for column in self._columns:
            for name, values in column.merged(rows, slots, len(new)).items():
                made = made.set_column(made.column_names.index(name), name, values)
        return made, slots
