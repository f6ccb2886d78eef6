"""State beside rows in slots: columns by slot, links, and queues that name slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.division import Moves, netted
from penstock.operators.saved_tables import arrays_of, one_array
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.operator import Segments
    from penstock.state.arrays import Ints, Values
    from penstock.state.expiry import ExpiryQueue
    from penstock.state.moving import Moved

WIDE = 2**30
"""A number from which on 32 bits might not do."""
_SLOT, _CHANGE = "payload0", "payload1"


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
        """The number of entries that count as rows that are remembered."""
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
