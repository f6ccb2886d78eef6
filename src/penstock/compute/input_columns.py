"""The rows that an expression is computed for: a block, or some of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.algebra.failures import Failures
from penstock.compute.datum import Datum

Places = np.ndarray[Any, np.dtype[np.intp]]


class InputColumns:
    """Columns of equal length."""

    def __init__(self, columns: Sequence[pa.Array], length: int) -> None:
        self._columns = columns
        self.length = length

    def column(self, place: int) -> pa.Array:
        """The column at a place of the schema."""
        return self._columns[place]

    def at(self, places: Places) -> InputColumns:
        """Some of the rows; a column is gathered when it is asked for."""
        return _SomeRows(self, places)


class _SomeRows(InputColumns):
    def __init__(self, rows: InputColumns, places: Places) -> None:
        super().__init__((), len(places))
        self._rows = rows
        self._places = pa.array(places)
        self._taken: dict[int, pa.Array] = {}

    def column(self, place: int) -> pa.Array:
        if place not in self._taken:
            self._taken[place] = self._rows.column(place).take(self._places)
        return self._taken[place]


Node = Callable[[InputColumns, Failures], Datum]
"""A compiled expression."""
