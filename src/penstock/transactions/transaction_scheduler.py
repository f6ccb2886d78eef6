"""The common part of all schedulers of window transactions; each is a file of its own.

A scheduler decides and reads nothing: whoever drives it performs what it says. It is not for
several threads at once, and needs no clock.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.transactions.histories import Act, Operation
from penstock.transactions.read_transactions import ReadTransaction, Scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.transactions.isolation import Isolation
    from penstock.transactions.read_transactions import ReadMember


def ignored(_: Operation) -> None:
    """Nobody records the history."""


class TransactionScheduler(ABC):
    """Decides when the window moves, and who reads which sub-window next.

    The driver calls `move` as soon as a movement is due and `may_move` says so, before all else;
    `choose` when it can read, and `finish` when that has been read.

    Args:
        length: The number of sub-windows in the window.
        latest: The last movement so far.
        record: Is told of each operation, in the order in which they take effect.

    Attributes:
        name: In the list of schedulers.
        isolation: What holds for all that commit.
        keeps_state: Whether a read is of the state at its first read, which has to be kept.
    """

    name: str
    isolation: Isolation
    keeps_state = False

    def __init__(
        self, length: int, latest: int, record: Callable[[Operation], None] = ignored
    ) -> None:
        self.length = length
        self.latest = latest
        self.record = record
        self.running: list[ReadTransaction] = []
        self.failed: list[ReadMember] = []

    def may_move(self) -> bool:
        """The test that a movement that is due takes effect now."""
        return True

    def move(self) -> int:
        """The window moves; the number of the sub-window that is written."""
        self.latest += 1
        self.record(Operation(Act.MOVE, number=self.latest))
        for one in self.running:
            one.has_read = False
        return self.latest

    def begin(self, transaction: ReadTransaction) -> None:
        """A read is wanted; it waits for its turn behind others of its class.

        Raises:
            InternalError: It is longer than the array, or has no members.
        """
        if not transaction.members or not 1 <= transaction.window <= self.length:
            msg = f"a read of 1 to {self.length} sub-windows was expected"
            raise InternalError(msg)
        self.running.append(transaction)

    def choose(self) -> Scan | None:
        """The read that comes next; None: there is nothing to do, or all is under way."""
        ready = self.ready()
        if not ready:
            return None
        transaction = min(ready, key=self.turn)
        if transaction.begun is None:
            transaction.begun = self.latest
        # Round robin inside a class: who has had a turn goes behind the others.
        self.running.remove(transaction)
        self.running.append(transaction)
        transaction.is_reading = True
        if transaction.undoing:
            return self._undo(transaction)
        state = self.state(transaction)
        number = self.pick(transaction, transaction.unread(state))
        takers = [one for one in transaction.members if one.is_without(number, state)]
        return Scan(transaction, number, tuple(takers))

    def _undo(self, transaction: ReadTransaction) -> Scan:
        number = min(transaction.undoing)
        return Scan(transaction, number, tuple(transaction.undoing[number]), undo=True)

    def finish(self, scan: Scan) -> list[ReadMember]:
        """The read that was chosen has been done; the queries that commit by that.

        It takes effect now: what has left a window while it was read is not taken in.
        """
        transaction = scan.transaction
        transaction.is_reading = False
        transaction.has_read = True
        if scan.undo:
            for member in transaction.undoing.pop(scan.number):
                self.record(Operation(Act.UNDO, member.name, scan.number))
        else:
            self._take_in(scan)
        if transaction.undoing:
            return []
        state = self.state(transaction)
        committed = [one for one in transaction.members if one.is_complete(state)]
        for member in committed:
            member.answers = state
            self.record(Operation(Act.COMMIT, member.name))
            self.dismiss(transaction, member)
        return committed

    def _take_in(self, scan: Scan) -> None:
        state = self.state(scan.transaction)
        for member in scan.members:
            if member not in scan.transaction.members:
                continue
            if member.is_without(scan.number, state):
                member.taken.add(scan.number)
                self.record(Operation(Act.READ, member.name, scan.number))
            else:
                self.lost(scan.transaction, member)

    def lost(self, transaction: ReadTransaction, member: ReadMember) -> None:  # noqa: B027
        """A read was in vain, as the window moved on meanwhile."""

    def dismiss(self, transaction: ReadTransaction, member: ReadMember) -> None:
        """A member does not read on; without members, a transaction is done."""
        transaction.members.remove(member)
        if not transaction.members and transaction in self.running:
            self.running.remove(transaction)

    def ready(self) -> list[ReadTransaction]:
        """Those that may read now, who has waited longest first; one does one read at a time."""
        return [one for one in self.running if not one.is_reading]

    def turn(self, transaction: ReadTransaction) -> tuple[int, ...]:
        """The least is chosen, and of equal ones that which has waited longest."""
        return (transaction.priority,)

    @abstractmethod
    def state(self, transaction: ReadTransaction) -> int:
        """The movement whose state a transaction reads, as things stand."""

    @abstractmethod
    def pick(self, transaction: ReadTransaction, unread: set[int]) -> int:
        """The sub-window that a transaction reads next."""

    def by_place(self, number: int) -> int:
        """The place of a sub-window in the array, the order of plain scans."""
        return number % self.length
