"""Clocks of a lane under bursts: they go on while it works, and stand still until the next tick."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class CallCost(NamedTuple):
    """The time of an operator, in seconds.

    Args:
        call: For each call.
        row: For each row that it takes.
    """

    call: float
    row: float


COSTS = {
    "Map": CallCost(12e-6, 4.6e-9),
    "Window": CallCost(13e-6, 5.1e-9),
    "Filter": CallCost(11e-6, 18e-9),
    "Relation": CallCost(45e-6, 0.0),
    "Join": CallCost(51e-6, 53e-9),
    "Aggregate": CallCost(60e-6, 1200e-9),
}
"""By the first word of a label: lines through the processor's times of 421 calls of each."""


class TickClock:
    """The time of ticks: work for one begins when it is due, or when that for the last is done."""

    def __init__(self) -> None:
        self._base = 0.0
        self._is_working = False

    def begin(self, instant: float) -> None:
        """Work for a tick begins: when it is due, or later."""
        self._base = max(self._base, instant)
        self._is_working = True

    def end(self) -> None:
        """Nothing is done until the next tick."""
        self._base, self._is_working = self.now(), False

    def now(self) -> float:
        """The instant, in seconds from the first tick."""
        return self._base + (self.worked() if self._is_working else 0.0)

    def worked(self) -> float:
        """The seconds of work since the tick began."""
        raise NotImplementedError

    def charge(self, station: int, rows: int) -> None:
        """An operator was called."""
        raise NotImplementedError


class ProcessorClock(TickClock):
    """The processor's time for this thread, so that what else runs changes little."""

    def begin(self, instant: float) -> None:
        """Look at the processor's time."""
        super().begin(instant)
        self._mark = time.thread_time()

    def worked(self) -> float:
        """The processor's seconds."""
        return time.thread_time() - self._mark

    def charge(self, station: int, rows: int) -> None:
        """The time has passed by itself."""


class CostClock(TickClock):
    """The costs of operators by a table: runs are the same on any machine, however busy.

    Args:
        labels: Of the operators of the lane; those that the table does not have cost nothing.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self._costs = [COSTS.get(one.split()[0], CallCost(0.0, 0.0)) for one in labels]
        self._spent = self._before = 0.0

    def begin(self, instant: float) -> None:
        """Count from here."""
        super().begin(instant)
        self._before = self._spent

    def worked(self) -> float:
        """The cost of all calls."""
        return self._spent - self._before

    def charge(self, station: int, rows: int) -> None:
        """A call costs something, and so does each of its rows."""
        call, row = self._costs[station]
        self._spent += call + rows * row
