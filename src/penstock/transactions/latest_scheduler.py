"""LWS: queries read the latest state, and begin anew if a movement overtakes them."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from penstock.transactions.histories import Act, Operation
from penstock.transactions.isolation import Isolation
from penstock.transactions.read_transactions import ReadTransaction
from penstock.transactions.transaction_scheduler import TransactionScheduler, ignored

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.transactions.read_transactions import ReadMember

MOST_RESTARTS = 100


class OnConflict(Enum):
    """The fate of a read whose window has lost what it has read already."""

    ABORT = "abort"
    """It begins anew."""
    UNDO = "undo"
    """It reads that sub-window again, to take out what it brought; old ones are kept for that."""


class LatestScheduler(TransactionScheduler):
    """Movements take effect at once; who has read what leaves by one has a conflict.

    Sub-windows are read in the order of the array, which is fixed at the first read; one that
    comes has the turn of the one that left.

    Args:
        length: The number of sub-windows in the window.
        latest: The last movement so far.
        record: Is told of each operation.
        on_conflict: What follows from a conflict.
        most_restarts: A query that would begin anew more often, or read in vain, is among `failed`.
    """

    name = "lws"
    isolation = Isolation.LATEST

    def __init__(
        self,
        length: int,
        latest: int,
        record: Callable[[Operation], None] = ignored,
        on_conflict: OnConflict = OnConflict.ABORT,
        most_restarts: int = MOST_RESTARTS,
    ) -> None:
        super().__init__(length, latest, record)
        self.on_conflict = on_conflict
        self.most_restarts = most_restarts

    def move(self) -> int:
        """The window moves, and each query is tested by its own window."""
        number = super().move()
        for transaction in list(self.running):
            for member in list(transaction.members):
                if number - member.window in member.taken:
                    self._conflict(transaction, member, number - member.window)
        return number

    def _conflict(self, transaction: ReadTransaction, member: ReadMember, gone: int) -> None:
        if self.on_conflict is OnConflict.UNDO:
            member.taken.remove(gone)
            transaction.undoing.setdefault(gone, []).append(member)
            return
        self.record(Operation(Act.ABORT, member.name))
        member.taken.clear()
        member.restarts += 1
        if member.restarts > self.most_restarts:
            self._give_up(transaction, member)
        elif len(transaction.members) > 1:
            self.dismiss(transaction, member)
            self.begin(ReadTransaction([member], transaction.priority))
        else:
            transaction.start_anew()
            self.running.remove(transaction)
            self.running.append(transaction)

    def lost(self, transaction: ReadTransaction, member: ReadMember) -> None:
        """A read was in vain; who has lost as many as there may be restarts is given up."""
        member.lost += 1
        if member.lost > self.most_restarts:
            self._give_up(transaction, member)

    def _give_up(self, transaction: ReadTransaction, member: ReadMember) -> None:
        self.failed.append(member)
        self.dismiss(transaction, member)

    def state(self, transaction: ReadTransaction) -> int:
        """The latest, whatever it was at the first read."""
        return self.latest

    def pick(self, transaction: ReadTransaction, unread: set[int]) -> int:
        """In the order of the array, as it was at the first read."""
        order = transaction.order
        if not order:
            first = range(self.latest - transaction.window + 1, self.latest + 1)
            for turn, number in enumerate(sorted(first, key=self.by_place)):
                order[number % transaction.window] = turn
        return min(unread, key=lambda number: (order[number % len(order)], number))
