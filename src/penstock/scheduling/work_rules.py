"""Rules of work: how long a lane works in a micro-batch, and who says what it does first."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.scheduling.scheduler_list import SCHEDULERS, made_scheduler

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.scheduling.scheduler import Scheduler

BLOCK_ROWS = 16_384
"""A call costs little beside the work for so many rows, and a budget is kept well enough."""


@dataclass(frozen=True)
class WorkRules:
    """The rules that lanes work by.

    Args:
        budget: The seconds that a lane works in a micro-batch, or feed; None: until all is done.
        scheduler: The name of the scheduler.
        block_rows: About how many rows of all sources are a block, where there is a budget.
        options: The numbers that schedulers take, by name; others than its own do not count.
        latency: By query, the seconds from the arrival of a block to its results; any, if none.
    """

    budget: float | None = None
    scheduler: str = "fifo"
    block_rows: int = BLOCK_ROWS
    options: Mapping[str, float] = field(default_factory=dict)
    latency: Mapping[str, float] = field(default_factory=dict)

    def scheduler_made(self) -> Scheduler:
        """A new scheduler for a lane."""
        (listed,) = [one for one in SCHEDULERS if one.name == self.scheduler]
        known = {one.name for one in listed.options}
        own = {name: value for name, value in self.options.items() if name in known}
        return made_scheduler(self.scheduler, **own)

    def to_json(self) -> dict[str, Any]:
        """As a task is told."""
        return asdict(self)
