"""A pool of slots: numbers for rows, given out and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.rows import grown

if TYPE_CHECKING:
    from penstock.state.arrays import Ints


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
        self._free: Ints = np.zeros(0, np.int64)
        self._free_count = 0
        self._high = 0

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
        self._free = grown(self._free, self._free_count + len(slots))
        self._free[self._free_count : self._free_count + len(slots)] = slots
        self._free_count += len(slots)

    def taken(self) -> Ints:
        """The slots in use, ascending."""
        in_use = np.ones(self._high, np.bool_)
        in_use[self._free[: self._free_count]] = False
        return np.flatnonzero(in_use)

    @property
    def capacity(self) -> int:
        """All slots are below this number."""
        return self._high

    def __len__(self) -> int:
        """How many slots are in use."""
        return self._high - self._free_count

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._free.nbytes
