"""Numbers for keys: a hash index from fingerprints to small, dense, recycled slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state import probing
from penstock.state.moving import Occupancy
from penstock.state.row_store import grown
from penstock.state.slots import moved_together

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places, Words
    from penstock.state.moving import Moved

UNKNOWN = -1
"""The slot of a key that is not there."""
_FIRST = 16
_AT_ONCE = 256


class KeyIndex:
    """Gives each key a slot, and takes it back; at first it has room for some keys.

    >>> index = KeyIndex()
    >>> keys = np.array([[7, 0], [9, 0], [7, 0]], dtype=np.uint64)
    >>> slots, new = index.find_or_add(keys)
    >>> slots.tolist(), new.tolist(), len(index)
    ([0, 1, 0], [0, 1], 2)
    >>> index.remove(np.array([0]))
    >>> index.find(keys).tolist()
    [-1, 1, -1]
    """

    def __init__(self, room: int = 0) -> None:
        self.keys: Words = np.zeros((0, 2), np.uint64)
        self._table: Ints = np.full(_FIRST, probing.NO_ENTRY, np.int64)
        self._free: Places = np.zeros(0, np.int32)
        self._free_count = 0
        self._live = 0
        self._high = 0
        self._lately = Occupancy()
        self._reserve(room)

    def __len__(self) -> int:
        """The number of keys."""
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
        slots, new = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        marks = probing.marks_of(keys)
        done = count = 0
        while done < len(keys):
            before = count
            done, count, self._high, self._free_count = probing.find_or_add(
                self._table, self.keys, keys, marks, self._free, self._free_count,
                self._high, self._live, done, slots, new, count,
            )  # fmt: skip
            self._live += count - before
            if done < len(keys):
                # As many more as there would be if keys went on being new at the same rate.
                more = 1 + (len(keys) - done) * (count + 1) // (done + 1)
                self._reserve(min(more, 2 * self._live + _AT_ONCE))
        return slots, new[:count].copy()

    def remove(self, slots: Ints) -> None:
        """Take keys out; their slots are given to others."""
        self._lately.note(self._live)
        self._free = grown(self._free, self._free_count + len(slots))
        probing.remove(self._table, self.keys, slots)
        self._free[self._free_count : self._free_count + len(slots)] = slots
        self._free_count += len(slots)
        self._live -= len(slots)

    def live_slots(self) -> Ints:
        """The slots in use, ascending."""
        return np.sort(probing.slots_of(self._table))

    @property
    def is_spacious(self) -> bool:
        """Most slots have been free for a while."""
        return self._lately.leaves_empty(len(self.keys), self._live)

    def compact(self) -> Moved:
        """Give the slots in use the lowest numbers, in the order they have."""
        moved = moved_together(self.live_slots(), self._high)
        keys = self.keys[moved.kept]
        self.keys, self._table = self.keys[:0].copy(), self._table[:0].copy()
        self.restore(keys, np.arange(len(keys)))
        return moved

    def restore(self, keys: Words, slots: Ints) -> None:
        """Put keys back into the slots they had; the index is empty before."""
        self._high = int(slots.max()) + 1 if len(slots) else 0
        used = np.zeros(self._high, np.bool_)
        used[slots] = True
        self._free = np.flatnonzero(~used).astype(np.int32)
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
        """Room for `more` new keys, the table at most nine sixteenths full."""
        self.keys = grown(self.keys, self._high + max(more - self._free_count, 0))
        wanted = probing.room_for(self._live + more)
        if wanted > len(self._table):
            wanted = max(wanted, len(self._table) + len(self._table) // 4)
            old, self._table = self._table, np.full(wanted, probing.NO_ENTRY, np.int64)
            probing.move(old, self._table)
