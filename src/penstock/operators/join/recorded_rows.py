"""Rows of a join's input in a store, with a record of each: its end, its key, its neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from penstock.operators.join.join_loops import KEY, TE

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.state.arrays import Ints, Values
    from penstock.state.row_store import RowStore


class RecordedRows(ABC):
    """Access to rows at their places, whatever decides where these are."""

    def __init__(self, store: RowStore, records: Ints) -> None:
        self._store = store
        self._records = records

    @abstractmethod
    def _held(self) -> Ints:
        """The places of all rows that are here; between two steps."""

    def renumber_keys(self, numbers: Ints) -> None:
        """Key k has become key `numbers[k]`; between two steps."""
        places = self._held()
        self._records[places, KEY] = numbers[self._records[places, KEY]]

    def take(self, places: Ints, width: int | None = None) -> tuple[pa.Array, ...]:
        """The rows at places."""
        return self._store.take(places, width)

    def column(self, number: int, places: Ints) -> pa.Array:
        """A column of the rows at places."""
        return self._store.columns[number].take(places)

    def values(self, number: int) -> Values:
        """The values of columns of one width at all places."""
        return self._store.values(number)

    def weights(self, places: Ints) -> list[Ints]:
        """The lengths of long strings at places, see `RowStore`."""
        return self._store.weights(places)

    def contents(self) -> tuple[tuple[pa.Array, ...], Ints]:
        """All rows and their ends; where rows leave in the order they came, oldest first."""
        places = self._held()
        return self._store.take(places), self._records[places, TE]
