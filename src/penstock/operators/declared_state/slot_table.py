"""Rows in slots, and beside them columns by slot and queues that name slots.

What is kept of a row moves with it: when room is given back, when state is saved, where a slot is
the place of its row in the table, and when rows go to other lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from penstock.operators.declared_state.state_part import StatePart
from penstock.operators.division import Moves, netted
from penstock.operators.saved_tables import arrays_of, one_array
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.rows import RowStore, grown
from penstock.state.slots import SlotPool, moved_together

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division, Shares
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints, Values, Words
    from penstock.state.expiry import ExpiryQueue
    from penstock.state.moving import Moved

WIDE = 2**30
"""A number from which on 32 bits might not do."""
_ROWS = "rows"
_SLOT, _CHANGE = "payload0", "payload1"

Entries = TypeVar("Entries", bound="SlotEntries")


class SlotColumn:
    """One value, or a few, for each slot.

    Args:
        values: An empty array of the type and shape.
        name: As which it is saved; None: it follows from the rest, or is room for loops.
        fill: What slots have that were never used.
        there: What rows have that were taken back, if it is not saved.
        merge: Of rows that are alike in several lanes, how values are put together.
    """

    def __init__(
        self,
        values: Values,
        name: str | None,
        *,
        fill: int = 0,
        there: int | None = None,
        merge: np.ufunc = np.add,
    ) -> None:
        self.values = values
        self.name = name
        self.fill = fill
        self.there = there
        self.merge = merge

    def reserve(self, capacity: int) -> None:
        """Room for slots below the capacity."""
        before = len(self.values)
        self.values = grown(self.values, capacity)
        if self.fill:
            self.values[before:] = self.fill

    def move(self, moved: Moved) -> None:
        """Rows have been given other slots."""
        self.values = self.values[moved.kept]
        self.reserve(len(moved.kept) + 1)

    @property
    def names(self) -> list[str]:
        """The columns as which it is saved."""
        if self.name is None:
            return []
        if self.values.ndim == 1:
            return [self.name]
        return [f"{self.name}{number}" for number in range(self.values.shape[1])]

    def saved(self, slots: Ints) -> dict[str, pa.Array]:
        """The values of slots as columns of a table; none if they are not saved."""
        if self.name is None:
            return {}
        values = self.values[slots]
        if values.dtype != np.bool_:
            values = values.astype(np.int64, copy=False)
        columns = [values] if values.ndim == 1 else list(values.T)
        return {name: pa.array(one) for name, one in zip(self.names, columns, strict=True)}

    def restore(self, columns: Sequence[pa.Array], length: int) -> None:
        """The values of the first slots, for which there is room."""
        if not columns:
            if self.there is not None:
                self.values[:length] = self.there
            return
        arrays = [one.to_numpy(zero_copy_only=False) for one in columns]
        values = arrays[0] if self.values.ndim == 1 else np.stack(arrays, axis=1)
        if values.dtype != np.bool_ and np.abs(values).max(initial=0) > WIDE:
            self.values = self.values.astype(np.int64, copy=False)
        self.values[: len(values)] = values

    def merged(self, table: pa.Table, slots: Ints, count: int) -> dict[str, pa.Array]:
        """The columns of a table in which several rows have the same slot, put together."""
        order = np.argsort(slots, kind="stable")
        starts = np.searchsorted(slots[order], np.arange(count))
        values = {
            name: one_array(table[name]).to_numpy(zero_copy_only=False) for name in self.names
        }
        return {
            name: pa.array(self.merge.reduceat(one[order], starts)) for name, one in values.items()
        }


class SlotEntries:
    """Entries that name slots of a table, beside it: saved, moved and divided with its rows.

    By default they follow from the rest, and are not saved.
    """

    def segments(self, numbers: Ints) -> Segments:
        """The entries as tables by name; slot n is saved as `numbers[n]`."""
        del numbers
        return {}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take back the entries; there are none yet."""
        del segments

    def divided(self, parts: Sequence[Segments], moves: Moves) -> list[Segments]:
        """The entries of old lanes where their rows go."""
        del parts
        return [{} for _ in range(moves.lanes)]

    def move(self, moved: Moved) -> None:
        """Rows have been given other slots."""
        raise NotImplementedError

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""

    def __len__(self) -> int:
        """How many entries count as rows that are remembered."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return 0


class SlotLinks(SlotEntries):
    """Slots in a column, of the table itself or of another one; negative numbers are none.

    Args:
        column: The column; it is not saved.
        which: Its parts that name slots, where it has several.
    """

    def __init__(self, column: SlotColumn, which: slice = slice(None)) -> None:
        self._column = column
        self._which = which

    def move(self, moved: Moved) -> None:
        """Name other slots."""
        values = self._column.values
        moved.links(values if values.ndim == 1 else values[:, self._which])


class SlotQueue(SlotEntries):
    """A queue of ends, each of the row in a slot: the first of what is kept of it.

    Args:
        queue: The queue; its owner may put another in its place.
        name: As which it is saved; None: it follows from the rest.
        types: As which the slot and what is kept besides are saved.
        is_net: Whether the second is a change: ends of one row that make up for each other may be
            left behind in slots without rows.
        counts: Whether its entries count as rows that are remembered.
    """

    def __init__(
        self,
        queue: ExpiryQueue,
        name: str | None,
        types: Sequence[np.dtype[np.generic]] = (np.dtype(np.int64),),
        *,
        is_net: bool = False,
        counts: bool = False,
    ) -> None:
        self.queue = queue
        self._name = name
        self._types = types
        self._is_net = is_net
        self._counts = counts

    def segments(self, numbers: Ints) -> Segments:
        """Ends and what is kept of each."""
        if self._name is None:
            return {}
        ends, (slots, *others) = self.queue.contents()
        columns = {"end": pa.array(ends)}
        for number, values in enumerate((numbers[slots], *others)):
            columns[f"payload{number}"] = pa.array(values.astype(self._types[number], copy=False))
        return {self._name: pa.table(columns)}

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Await the ends."""
        if self._name is not None:
            arrays = arrays_of(segments[self._name])
            ends, *payload = (one.to_numpy(zero_copy_only=False) for one in arrays)
            self.queue.push(ends, payload)

    def divided(self, parts: Sequence[Segments], moves: Moves) -> list[Segments]:
        """The ends where their rows are."""
        name = self._name
        if name is None:
            return super().divided(parts, moves)
        tables = [part[name] for part in parts]
        if self._is_net:
            moved = moves.moved([netted(one, _CHANGE) for one in tables], _SLOT, _CHANGE)
        else:
            moved = moves.moved(tables, _SLOT)
        return [{name: one} for one in moved]

    def move(self, moved: Moved) -> None:
        """Name other slots."""
        self.queue.renumber(moved.numbers)

    def __len__(self) -> int:
        return len(self.queue) if self._counts else 0

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.queue.nbytes


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
        """Where rows are found that are told apart by columns."""
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
        """How many rows; and how many entries, where they count."""
        return 0 if self._derived else self.count + sum(map(len, self._entries))

    @property
    def count(self) -> int:
        """How many rows."""
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
        columns = [pa.nulls(len(table))] * width
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
