"""Numbers for keys: a hash index from fingerprints to small, dense, recycled slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state import probing
from penstock.state.rows import grown

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Words

UNKNOWN = -1
"""The slot of a key that is not there."""


class KeyIndex:
    """Gives each key a slot, and takes it back.

    >>> index = KeyIndex()
    >>> keys = np.array([[7, 0], [9, 0], [7, 0]], dtype=np.uint64)
    >>> slots, new = index.find_or_add(keys)
    >>> slots.tolist(), new.tolist(), len(index)
    ([0, 1, 0], [0, 1], 2)
    >>> index.remove(np.array([0]))
    >>> index.find(keys).tolist()
    [-1, 1, -1]
    """

    def __init__(self) -> None:
        self.keys: Words = np.zeros((0, 2), np.uint64)
        self._table: Ints = np.full(16, probing.NO_ENTRY, np.int64)
        self._free: Ints = np.zeros(0, np.int64)
        self._free_count = 0
        self._live = 0
        self._high = 0

    def __len__(self) -> int:
        """How many keys there are."""
        return self._live

    @property
    def capacity(self) -> int:
        """All slots are below this number."""
        return self._high

    def find(self, keys: Words) -> Ints:
        """The slots of keys, `UNKNOWN` where there is none."""
        return probing.find(self._table, self.keys, keys)

    def find_or_add(self, keys: Words) -> tuple[Ints, Ints]:
        """The slots of keys; and the rows at which a key came for the first time, now added."""
        self._reserve(len(keys))
        slots, new, self._high, self._free_count = probing.find_or_add(
            self._table, self.keys, keys, self._free, self._free_count, self._high
        )
        self._live += len(new)
        return slots, new

    def remove(self, slots: Ints) -> None:
        """Take keys out; their slots are given to others."""
        self._free = grown(self._free, self._free_count + len(slots))
        probing.remove(self._table, self.keys, slots)
        self._free[self._free_count : self._free_count + len(slots)] = slots
        self._free_count += len(slots)
        self._live -= len(slots)

    def live_slots(self) -> Ints:
        """The slots in use, ascending."""
        return np.sort(probing.slots_of(self._table))

    def restore(self, keys: Words, slots: Ints) -> None:
        """Put keys back into the slots they had; the index is empty before."""
        self._high = int(slots.max()) + 1 if len(slots) else 0
        used = np.zeros(self._high, np.bool_)
        used[slots] = True
        self._free = np.flatnonzero(~used)
        self._free_count = len(self._free)
        self._live = len(slots)
        self.keys = grown(self.keys, self._high)
        self.keys[slots] = keys
        self._reserve(0)
        probing.place(self._table, self.keys, slots)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.keys.nbytes + self._table.nbytes + self._free.nbytes

    def _reserve(self, more: int) -> None:
        """Room for `more` new keys, the table at most three quarters full."""
        self.keys = grown(self.keys, self._high + more)
        wanted = 1 << ((4 * (self._live + more)) // 3).bit_length()
        if wanted > len(self._table):
            old, self._table = self._table, np.full(wanted, probing.NO_ENTRY, np.int64)
            probing.move(old, self._table)
