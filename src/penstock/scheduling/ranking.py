"""A ranking: members with a key, of which the one with the least is asked for."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=tuple[float, ...])

SLACK = 16
"""Entries beyond twice the members that may be out of date before they are thrown away."""


class Ranking(Generic[Key]):
    """A heap in which an entry that is out of date stays until it comes first.

    >>> ranking = Ranking()
    >>> ranking.put(7, (2.0,))
    >>> ranking.put(8, (1.0,))
    >>> ranking.put(8, (3.0,))
    >>> ranking.first()
    7
    >>> ranking.remove(7)
    >>> ranking.first(), ranking.key(8)
    (8, (3.0,))
    """

    def __init__(self) -> None:
        self._keys: dict[int, Key] = {}
        self._heap: list[tuple[Key, int]] = []

    def put(self, member: int, key: Key) -> None:
        """Add a member, or change its key."""
        if self._keys.get(member) == key:
            return
        self._keys[member] = key
        heappush(self._heap, (key, member))
        if len(self._heap) > 2 * len(self._keys) + SLACK:
            self._heap = [(one, member) for member, one in self._keys.items()]
            heapify(self._heap)

    def remove(self, member: int) -> None:
        """Take a member out, if it is there."""
        self._keys.pop(member, None)

    def first(self) -> int | None:
        """The member with the least key; None: there is none."""
        heap = self._heap
        while heap and self._keys.get(heap[0][1]) != heap[0][0]:
            heappop(heap)
        return heap[0][1] if heap else None

    def __contains__(self, member: int) -> bool:
        """True if it is a member."""
        return member in self._keys

    def members(self) -> list[int]:
        """All, in no order."""
        return [*self._keys]

    def key(self, member: int) -> Key:
        """The key of a member that is there."""
        return self._keys[member]

    def clear(self) -> None:
        """Take all out."""
        self._keys.clear()
        self._heap.clear()
