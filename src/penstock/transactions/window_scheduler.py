"""WS: queries read the state at their first read, which stays there for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transactions.isolation import Isolation
from penstock.transactions.transaction_scheduler import TransactionScheduler

if TYPE_CHECKING:
    from penstock.transactions.read_transactions import ReadTransaction


class WindowScheduler(TransactionScheduler):
    """Movements take effect at once, and nothing is aborted; answers miss what moved meanwhile."""

    name = "ws"
    isolation = Isolation.WINDOW
    keeps_state = True

    def state(self, transaction: ReadTransaction) -> int:
        """The state at the first read."""
        return self.latest if transaction.begun is None else transaction.begun

    def pick(self, transaction: ReadTransaction, unread: set[int]) -> int:
        """In the order of the array."""
        return min(unread, key=self.by_place)
