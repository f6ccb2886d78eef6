"""Numbers that tell elements apart, when lanes that gave them on their own come together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.errors import InternalError
from penstock.operators.saved_tables import one_array
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Flags, Ints

NUMBERS = 1 << 48
"""How many numbers an operator may give: which of them gave a number is seen by the number."""
NOWHERE = -1


class Numbers:
    """All numbers in the state of some lanes, and what they become.

    State is gone through twice: first to note the numbers, and in which new lane the rows are
    whose keys say so; then, after `assign`, to write the new numbers, and to find the lane of rows
    that have a number and no key. Rows with a number whose lane nobody says come together in one.
    """

    def __init__(self) -> None:
        self._noted: list[tuple[Ints, Ints, Ints]] = []
        self._is_assigned = False
        nothing = np.zeros(0, np.int64)
        # Numbers in order, the old lanes that gave them, what they become, and their new lanes.
        self._values, self._places, self._new, self._targets = (nothing,) * 4

    def note(
        self, place: int, table: pa.Table, columns: Sequence[int], targets: Ints | None
    ) -> None:
        """Numbers in a table of an old lane, and the new lanes of its rows, where keys say."""
        if self._is_assigned:
            return
        for column in columns:
            values, valid = _column(table, column)
            goes = np.full(len(values), NOWHERE) if targets is None else targets
            kept = np.flatnonzero(valid)
            self._noted.append((values[kept], np.full(len(kept), place), goes[kept]))

    def assign(self) -> None:
        """All numbers have been noted."""
        self._is_assigned = True
        if not self._noted:
            return
        values, places, targets = map(np.concatenate, zip(*self._noted, strict=True))
        self._noted = []
        # Of one number, what is known comes last.
        order = np.lexsort((targets, places, values))
        values, places, targets = values[order], places[order], targets[order]
        same = (np.diff(values) == 0) & (np.diff(places) == 0)
        if (same & (targets[:-1] != targets[1:]) & (targets[:-1] != NOWHERE)).any():
            msg = "rows with the same number go to different lanes"
            raise InternalError(msg)
        last = np.flatnonzero(np.append(~same, True)[: len(values)])
        self._values, self._places, self._targets = values[last], places[last], targets[last]
        givers = self._values // NUMBERS
        firsts = np.searchsorted(givers, givers, side="left")
        self._new = givers * NUMBERS + np.arange(len(givers)) - firsts

    def next(self, first: int) -> int:
        """The next number of an operator whose first one was `first`."""
        return first + int((self._values // NUMBERS == first // NUMBERS).sum())

    def renumbered(self, place: int, table: pa.Table, columns: Sequence[int]) -> pa.Table:
        """A table of an old lane with the new numbers."""
        if not self._is_assigned:
            return table
        for column in columns:
            values, valid = _column(table, column)
            new = np.zeros(len(values), np.int64)
            new[valid] = self._new[self._find(place, values[valid])]
            array = pa.array(new, mask=~valid)
            table = table.set_column(column, table.column_names[column], array)
        return table

    def lanes(self, place: int, table: pa.Table, columns: Sequence[int], lanes: int) -> Ints:
        """The new lanes of rows of an old lane, by the first of their numbers that says."""
        if not self._is_assigned:
            # Nobody will go there: state is gone through once more.
            return np.zeros(len(table), np.int64)
        found = np.full(len(table), NOWHERE)
        own = np.full(len(table), NOWHERE)
        for column in columns:
            values, valid = _column(table, column)
            rows = np.flatnonzero(valid)
            numbers = self._find(place, values[rows])
            found[rows] = np.where(found[rows] == NOWHERE, self._targets[numbers], found[rows])
            own[rows] = np.where(own[rows] == NOWHERE, self._new[numbers], own[rows])
        return np.where(found == NOWHERE, lanes_of([pa.array(own)], len(own), lanes), found)

    def _find(self, place: int, values: Ints) -> Ints:
        """The places of numbers of an old lane among all."""
        start = np.searchsorted(self._values, values, side="left")
        stop = np.searchsorted(self._values, values, side="right")
        for _ in range(int((stop - start).max(initial=0))):
            start = np.where(self._places[start] < place, start + 1, start)
        return start


def _column(table: pa.Table, column: int) -> tuple[Ints, Flags]:
    array = one_array(table.column(column))
    valid = np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
    return np.asarray(array.fill_null(0).to_numpy()), valid
