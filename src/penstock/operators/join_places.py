"""Places for rows: small numbers that are given out, taken back and given out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.rows import grown

if TYPE_CHECKING:
    from penstock.state.arrays import Ints


class Places:
    """Which places are taken.

    >>> places = Places()
    >>> places.allocate(3).tolist()
    [0, 1, 2]
    >>> places.release(np.array([1]))
    >>> places.allocate(2).tolist(), len(places)
    ([1, 3], 4)
    """

    def __init__(self) -> None:
        self.capacity = 0
        self._free: Ints = np.zeros(0, np.int64)
        self._free_count = 0

    def __len__(self) -> int:
        """How many places are taken."""
        return self.capacity - self._free_count

    def allocate(self, count: int) -> Ints:
        """Places that nobody has, free ones before new ones."""
        recycled = min(count, self._free_count)
        self._free_count -= recycled
        again = self._free[self._free_count : self._free_count + recycled]
        fresh = np.arange(self.capacity, self.capacity + count - recycled)
        self.capacity += len(fresh)
        return np.concatenate([again, fresh])

    def release(self, places: Ints) -> None:
        """Take places back."""
        stop = self._free_count + len(places)
        self._free = grown(self._free, stop)
        self._free[self._free_count : stop] = places
        self._free_count = stop

    def taken(self) -> Ints:
        """The places in use, ascending."""
        flags = np.ones(self.capacity, np.bool_)
        flags[self._free[: self._free_count]] = False
        return np.flatnonzero(flags)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._free.nbytes
