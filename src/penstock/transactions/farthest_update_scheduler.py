"""TTU: queries read the sub-window first whose update is farthest away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transactions.latest_scheduler import LatestScheduler

if TYPE_CHECKING:
    from penstock.transactions.read_transactions import ReadTransaction


class FarthestUpdateScheduler(LatestScheduler):
    """As LWS, in the order by the time to update: what leaves first is read last.

    No order of reads leads to fewer aborts of an attempt. A query that reads once between any two
    movements has none at all; so those that have begun and have not read since the last movement
    go first, whatever their class.
    """

    name = "ttu"

    def turn(self, transaction: ReadTransaction) -> tuple[int, ...]:
        """Those that the next movement might overtake, then by class."""
        is_safe = transaction.has_read or transaction.begun is None
        return (is_safe, transaction.priority)

    def pick(self, transaction: ReadTransaction, unread: set[int]) -> int:
        """The youngest: sub-windows are updated in the order in which they were written."""
        return max(unread)
