"""A queue of ends in which a withdrawal takes out the end of what it withdraws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.state.cancelling_loops import EMPTY, NetEnds, entries, net_in, taken_before
from penstock.state.expiry import Partition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints, Values

SLOT, DELTA = np.dtype(np.int32), np.dtype(np.int8)
"""The columns kept of a row that will end: its slot, and how its copies change then."""
_LEAST = 64
"""Room of an empty table."""
_SPACIOUS = 8
"""A table with room for so many times what is in it gives some back."""


class CancellingQueue:
    """Entries of slots and changes, of which those with one end and slot are added up at once.

    They are in one hash table by end and slot. A part of their time before they end, all entries
    of a day are taken from it and put in order. To find them, the table is looked through once a
    day: that is little where most entries are gone long before, and more than a calendar queue has
    to do where none is. What is added to the day that has come is not added up any more.

    Args:
        span: How long it is until entries end, at most, about.
        days: Into how many parts that time is divided.
    """

    def __init__(self, span: int, days: int) -> None:
        self._width = max(-(-span // max(days, 1)), 1)
        self._table = _room(_LEAST)
        # Entries of the table, and by how much they change copies in all.
        self._live = self._copies = 0
        self._today = Partition((SLOT, DELTA))
        self._reached: int | None = None

    def __len__(self) -> int:
        return self._copies + len(self._today)

    def push(self, ends: Ints, payload: Sequence[Values]) -> None:
        """Add each entry to what there is of its end and slot."""
        slots, deltas = payload
        if self._reached is not None:
            soon = ends < self._until(self._reached)
            if soon.any():
                self._today.add(ends[soon], [slots[soon].astype(SLOT), deltas[soon].astype(DELTA)])
                ends, slots, deltas = ends[~soon], slots[~soon], deltas[~soon]
        done = 0
        while True:
            done, self._live, more = net_in(done, ends, slots, deltas, self._table, self._live)
            self._copies += more
            if done == len(ends):
                return
            self._resize(2 * len(self._table.ends))

    def pop(self, clock: int) -> tuple[Ints, list[Values]]:
        """Take out all entries that end before the clock, by end."""
        today = (clock - 1) // self._width
        if self._reached is None or today > self._reached:
            self._reached = today
            found = taken_before(self._until(today), self._table, self._live)
            self._live -= len(found.ends)
            self._copies -= int(np.abs(found.deltas).sum())
            if _LEAST < len(self._table.ends) > _SPACIOUS * self._live:
                self._resize(len(self._table.ends) // 2)
            self._today.add(*_apart(found))
        return self._today.take(clock)

    def contents(self) -> tuple[Ints, list[Values]]:
        """All entries, in no order."""
        parts = [self._today.contents(), _apart(entries(self._table, self._live))]
        ends = np.concatenate([part[0] for part in parts])
        return ends, [np.concatenate([part[1][number] for part in parts]) for number in (0, 1)]

    def renumber(self, numbers: Ints, column: int = 0) -> None:
        """Write `numbers[n]` over every slot n; there are no other numbers."""
        assert column == 0
        self._today.renumber(numbers, column)
        ends, slots, deltas = entries(self._table, self._live)
        self._table = _room(len(self._table.ends))
        net_in(0, ends, numbers[slots], deltas, self._table, 0)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._today.nbytes + sum(one.nbytes for one in self._table)

    def _until(self, day: int) -> int:
        return min((day + 1) * self._width, INFINITY)

    def _resize(self, size: int) -> None:
        before = entries(self._table, self._live)
        self._table = _room(size)
        net_in(0, *before, self._table, 0)


def _room(size: int) -> NetEnds:
    return NetEnds(
        np.empty(size, np.int64), np.full(size, EMPTY, np.int32), np.empty(size, np.int32)
    )


def _apart(found: NetEnds) -> tuple[Ints, list[Values]]:
    """Entries whose changes are by one."""
    ends, slots, deltas = found
    copies = np.abs(deltas)
    if (copies > 1).any():
        ends, slots, deltas = (np.repeat(one, copies) for one in (ends, slots, deltas))
    return ends, [slots, np.sign(deltas).astype(DELTA)]
