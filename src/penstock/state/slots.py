"""A pool of slots: numbers for rows, given out and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.moving import Moved, Occupancy
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places


class SlotPool:
    """Gives out the numbers that are free, then new ones.

    >>> pool = SlotPool()
    >>> pool.allocate(3).tolist()
    [0, 1, 2]
    >>> pool.release(np.array([1]))
    >>> pool.allocate(2).tolist(), len(pool)
    ([1, 3], 4)
    """

    def __init__(self) -> None:
        self._free: Places = np.zeros(0, np.int32)
        self._free_count = 0
        self._high = 0
        self._lately = Occupancy()

    def allocate(self, count: int) -> Ints:
        """Slots for `count` rows."""
        reused = min(count, self._free_count)
        slots = np.empty(count, np.int64)
        slots[:reused] = self._free[self._free_count - reused : self._free_count]
        slots[reused:] = np.arange(self._high, self._high + count - reused)
        self._free_count -= reused
        self._high += count - reused
        return slots

    def release(self, slots: Ints) -> None:
        """Take slots back."""
        self._lately.note(len(self))
        self._free = grown(self._free, self._free_count + len(slots))
        self._free[self._free_count : self._free_count + len(slots)] = slots
        self._free_count += len(slots)

    def give_back(self, slots: Ints) -> None:
        """Take back the last slots of an allocation, which have not been used."""
        expected = np.arange(self._high - len(slots), self._high)
        others = np.flatnonzero(slots != expected)
        stop = int(others[-1]) + 1 if len(others) else 0
        self._high -= len(slots) - stop
        self.release(slots[:stop])

    def taken(self) -> Ints:
        """The slots in use, ascending."""
        in_use = np.ones(self._high, np.bool_)
        in_use[self._free[: self._free_count]] = False
        return np.flatnonzero(in_use)

    @property
    def is_spacious(self) -> bool:
        """Most slots have been free for a while."""
        return self._lately.leaves_empty(self._high, len(self))

    def compact(self) -> Moved:
        """Give the slots in use the lowest numbers, in the order they have."""
        moved = moved_together(self.taken(), self._high)
        self._free, self._free_count, self._high = self._free[:0].copy(), 0, len(moved.kept)
        return moved

    @property
    def capacity(self) -> int:
        """All slots are below this number."""
        return self._high

    def __len__(self) -> int:
        """The number of slots in use."""
        return self._high - self._free_count

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._free.nbytes


def moved_together(kept: Ints, capacity: int) -> Moved:
    """Slots below the capacity are to be numbered as they stand among those kept."""
    numbers = np.full(capacity + 1, len(kept), np.int64)
    numbers[kept] = np.arange(len(kept))
    return Moved(kept, numbers)
