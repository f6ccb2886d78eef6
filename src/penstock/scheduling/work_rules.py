"""Rules of work: how long a lane works in a micro-batch, and who says what it does first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.scheduling.fifo import Fifo

if TYPE_CHECKING:
    from penstock.scheduling.scheduler import Scheduler


SCHEDULERS = ("fifo",)
BLOCK_ROWS = 16_384
"""A call costs little beside the work for so many rows, and a budget is kept well enough."""


@dataclass(frozen=True)
class WorkRules:
    """The rules that lanes work by.

    Args:
        budget: The seconds that a lane works in a micro-batch, or feed; None: until all is done.
        scheduler: The name of the scheduler.
        block_rows: About how many rows of all sources are a block, where there is a budget.
    """

    budget: float | None = None
    scheduler: str = "fifo"
    block_rows: int = BLOCK_ROWS

    def scheduler_made(self) -> Scheduler:
        """A new scheduler for a lane."""
        return Fifo()
