"""Read transactions: queries on their way through the sub-windows of a window."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum


class Priority(IntEnum):
    """The classes of reads; the lower goes first."""

    ONE_TIME = 0
    PERIODIC = 1


@dataclass(eq=False)
class ReadMember:
    """A query of a read, by itself or among others that share the scan.

    Args:
        name: What a history calls it.
        window: The number of sub-windows in its window.
        taken: Those that it has read, and not undone.
        restarts: How often it had to begin anew.
        lost: How many of its reads were in vain, as the window moved on meanwhile.
        answers: The movement whose state it has read, once it has committed.
    """

    name: str
    window: int
    taken: set[int] = field(default_factory=set)
    restarts: int = 0
    lost: int = 0
    answers: int | None = None

    def wanted(self, state: int) -> range:
        """The sub-windows of its window in the state that a movement has left."""
        return range(state - self.window + 1, state + 1)

    def is_without(self, number: int, state: int) -> bool:
        """The test that a sub-window is in the window in a state, and not read yet."""
        return number in self.wanted(state) and number not in self.taken

    def is_complete(self, state: int) -> bool:
        """The test that it has read that state, and nothing else."""
        return self.taken == set(self.wanted(state))


@dataclass(eq=False)
class ReadTransaction:
    """A scan of a window, for one query or for several that share it.

    Args:
        members: The queries; each has an abort test of its own.
        priority: Their class.
        begun: The last movement at the first read; None: nothing was read yet.
        undoing: Sub-windows that are to be read again because they have left the window, and the
            members that will take them out of what they have read.
        is_reading: Whether a read is under way.
        has_read: Whether it has read since the last movement.
        order: The order of places, fixed at the first read, where the scheduler fixes one.
    """

    members: list[ReadMember]
    priority: Priority = Priority.PERIODIC
    begun: int | None = None
    undoing: dict[int, list[ReadMember]] = field(default_factory=dict)
    is_reading: bool = False
    has_read: bool = False
    order: dict[int, int] = field(default_factory=dict)

    @property
    def window(self) -> int:
        """The sub-windows that the scan reads: those of the longest window."""
        return max(one.window for one in self.members)

    def unread(self, state: int) -> set[int]:
        """The sub-windows of a state that some member has not read."""
        return {
            number
            for member in self.members
            for number in member.wanted(state)
            if member.is_without(number, state)
        }

    def start_anew(self) -> None:
        """Forget the order and the state that it began with."""
        self.begun, self.has_read = None, False
        self.order.clear()


@dataclass(frozen=True)
class Scan:
    """The read of one sub-window, for some members; with `undo`, to take out what it brought."""

    transaction: ReadTransaction
    number: int
    members: tuple[ReadMember, ...]
    undo: bool = False


def single(name: str, window: int, priority: Priority = Priority.PERIODIC) -> ReadTransaction:
    """The transaction of one query that shares its scan with none."""
    return ReadTransaction([ReadMember(name, window)], priority)
