"""The clock by which a lane measures its work: that of this machine, or one for tests."""

from __future__ import annotations

import time
from typing import Protocol


class WorkClock(Protocol):
    """Tells the time in seconds; of what is measured by it, no result depends on anything."""

    def now(self) -> float:
        """The time of day: what waits may be older than the process."""

    def charge(self, station: int, rows: int) -> None:
        """The operator of a station was called with so many rows."""


class RealClock:
    """The clock of this machine: the time of day, of which each step asks three times."""

    now = staticmethod(time.time)

    def charge(self, station: int, rows: int) -> None:
        """The time has passed by itself."""


class VirtualClock:
    """A clock that goes on as work is done: runs by it are alike, on whatever machine.

    >>> clock = VirtualClock(per_call=0.001, per_row=0.00001)
    >>> clock.charge(0, 100)
    >>> clock.now()
    0.002
    """

    def __init__(self, per_call: float, per_row: float, now: float = 0.0) -> None:
        self.at = now
        self._per_call = per_call
        self._per_row = per_row

    def now(self) -> float:
        """The work that has been done, in seconds."""
        return self.at

    def charge(self, station: int, rows: int) -> None:
        """A call costs something, and so does each of its rows."""
        self.at += self._per_call + rows * self._per_row
