"""All schedulers of window transactions, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.transactions.farthest_update_scheduler import FarthestUpdateScheduler
from penstock.transactions.latest_scheduler import LatestScheduler
from penstock.transactions.serial_scheduler import SerialScheduler
from penstock.transactions.window_scheduler import WindowScheduler

if TYPE_CHECKING:
    from penstock.transactions.transaction_scheduler import TransactionScheduler

TRANSACTION_SCHEDULERS: dict[str, type[TransactionScheduler]] = {
    one.name: one
    for one in (SerialScheduler, WindowScheduler, LatestScheduler, FarthestUpdateScheduler)
}
"""Every scheduler, in the order from the one that waits to the one that never has to."""
