"""Different rows, each in a slot of its own: a row store with an index over whole rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.row_store import RowStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints
    from penstock.state.moving import Moved


class KeyedRows:
    """Gives each different row a slot, and finds it again; NULL is like NULL.

    >>> rows = KeyedRows([pa.int64()])
    >>> slots, new = rows.enter([pa.array([7, None, 7])], 3)
    >>> slots.tolist(), new.tolist(), len(rows)
    ([0, 1, 0], [0, 1], 2)
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._rows = RowStore(types)
        self._index = KeyIndex()

    def enter(self, columns: Sequence[pa.Array], length: int) -> tuple[Ints, Ints]:
        """The slots of rows; and which rows came for the first time, now kept."""
        slots, new = self._index.find_or_add(fingerprints(columns, length))
        if len(new):
            chosen = pa.array(new)
            self._rows.put(slots[new], [column.take(chosen) for column in columns])
        return slots, new

    def find(self, columns: Sequence[pa.Array], length: int) -> Ints:
        """The slots of rows, `UNKNOWN` where there is none."""
        return self._index.find(fingerprints(columns, length))

    def take(self, slots: Ints) -> tuple[pa.Array, ...]:
        """The rows of slots, in their order; a slot may come several times."""
        return self._rows.take(slots)

    def weights(self, slots: Ints) -> list[Ints]:
        """The lengths of long strings in slots, see `RowStore`."""
        return self._rows.weights(slots)

    def remove(self, slots: Ints) -> None:
        """Forget rows; their slots are given to others."""
        self._index.remove(slots)
        self._rows.forget(slots)

    @property
    def is_spacious(self) -> bool:
        """Most slots have been free for a while."""
        return self._index.is_spacious

    def compact(self) -> Moved:
        """Give the slots in use the lowest numbers, in the order they have."""
        moved = self._index.compact()
        self._rows.move(moved.kept)
        self._rows.reserve(len(moved.kept) + 1)
        return moved

    def live_slots(self) -> Ints:
        """The slots in use, ascending."""
        return self._index.live_slots()

    @property
    def capacity(self) -> int:
        """All slots are below this number."""
        return self._index.capacity

    def __len__(self) -> int:
        """The number of different rows."""
        return len(self._index)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._rows.nbytes + self._index.nbytes

    def columns(self, slots: Ints) -> dict[str, pa.Array]:
        """The rows of slots as named columns, for saving."""
        return {str(number): column for number, column in enumerate(self.take(slots))}

    def restore(self, columns: Sequence[pa.Array], slots: Ints) -> None:
        """Put rows back into the slots they had; there are none yet."""
        self._index.restore(fingerprints(columns, len(slots)), slots)
        self._rows.put(np.asarray(slots), columns)
