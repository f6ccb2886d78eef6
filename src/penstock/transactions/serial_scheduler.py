"""Serial: one query after the other, and the window stands still meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transactions.isolation import Isolation
from penstock.transactions.transaction_scheduler import TransactionScheduler

if TYPE_CHECKING:
    from penstock.transactions.read_transactions import ReadTransaction


class SerialScheduler(TransactionScheduler):
    """A query reads to its end; movements that are due wait, and precede the next query.

    No read is suspended, whatever waits.
    """

    name = "serial"
    isolation = Isolation.LATEST

    def may_move(self) -> bool:
        """Only between two queries."""
        return all(one.begun is None for one in self.running)

    def ready(self) -> list[ReadTransaction]:
        """That which has begun alone, until it has ended."""
        begun = [one for one in self.running if one.begun is not None]
        return [one for one in begun or self.running if not one.is_reading]

    def state(self, transaction: ReadTransaction) -> int:
        """The latest: it does not change before the query has ended."""
        return self.latest

    def pick(self, transaction: ReadTransaction, unread: set[int]) -> int:
        """In the order of the array."""
        return min(unread, key=self.by_place)
