"""Columns of rows that lie apart, gathered when they are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    import pyarrow as pa

ColumnsAt = tuple[int, "Callable[[int], pa.Array]"]
"""The number of columns of an input, and what gathers one of them."""


class Gathered(Sequence["pa.Array"]):
    """The columns of some inputs side by side. A condition reads few of them.

    >>> columns = Gathered([(2, lambda number: f"a{number}"), (1, lambda number: f"b{number}")])
    >>> len(columns), columns[1], columns[1:]
    (3, 'a1', ('a1', 'b0'))
    """

    def __init__(self, inputs: Sequence[ColumnsAt]) -> None:
        self._sources = [(gather, one) for width, gather in inputs for one in range(width)]
        self._found: dict[int, pa.Array] = {}

    def __len__(self) -> int:
        """The number of columns."""
        return len(self._sources)

    @overload
    def __getitem__(self, place: int) -> pa.Array: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[pa.Array, ...]: ...

    def __getitem__(self, place: int | slice) -> pa.Array | tuple[pa.Array, ...]:
        """A column, or some."""
        if isinstance(place, slice):
            return tuple(self[one] for one in range(*place.indices(len(self))))
        if place not in self._found:
            gather, number = self._sources[place]
            self._found[place] = gather(number)
        return self._found[place]
