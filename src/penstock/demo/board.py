"""Results of the queries so far: put together for the display, and for the picture."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING

from penstock.demo.highway import SECONDS, START, STATIONS
from penstock.demo.scenario import CELL_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    import pyarrow as pa

_LATEST_TRIPS = 50
"""The average duration of trips is that of so many."""


@dataclass(frozen=True)
class Event:
    """A station that has become congested, or is so no more."""

    at: datetime
    station: int
    is_congested: bool

    def __str__(self) -> str:
        """The line that is shown of it.

        >>> from datetime import datetime
        >>> str(Event(datetime(1993, 11, 3, 7, 37, 15), 12, True))
        '07:37:15  station 12 is congested'
        """
        what = "is congested" if self.is_congested else "flows again"
        return f"{self.at:%H:%M:%S}  station {self.station} {what}"


@dataclass
class Board:
    """The results of the queries, taken in as they come from several threads.

    Attributes:
        speeds: The latest average speed of each station.
        cells: All average speeds, by station and the second at which the window ends.
        crawling: The detectors, as (station, lane), that saw a vehicle crawl lately.
        congested: The stations that are congested, and since which second.
        congestions: Station, first and last second of all congestions that are over.
        events: How stations became congested and flowed again.
        trips: How many were counted.
        trip_seconds: How long the latest trips took.
    """

    speeds: dict[int, float] = field(default_factory=dict)
    cells: dict[tuple[int, float], float] = field(default_factory=dict)
    crawling: set[tuple[int, int]] = field(default_factory=set)
    congested: dict[int, float] = field(default_factory=dict)
    congestions: list[tuple[int, float, float]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    trips: int = 0
    trip_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_LATEST_TRIPS))
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def takers(self) -> dict[str, Callable[[pa.Table], None]]:
        """The takers of the results of each query."""
        return {
            "congested": self._take_congested,
            "speeds": self._take_speeds,
            "crawling": self._take_crawling,
            "trips": self._take_trips,
        }

    def all_congestions(self) -> list[tuple[int, float, float]]:
        """Station, first and last second of each congestion, up to the end of the scenario."""
        with self.lock:
            return [*self.congestions, *((*one, SECONDS) for one in self.congested.items())]

    def _take_congested(self, changes: pa.Table) -> None:
        with self.lock:
            for row in changes.to_pylist():
                self._turn(Event(row["_at"], row["station"], row["_sign"] == "+"))

    def _turn(self, event: Event) -> None:
        second = seconds_of(event.at)
        if second >= SECONDS:
            return  # The windows run empty: nothing happens on the road any more.
        self.events.append(event)
        if event.is_congested:
            self.congested[event.station] = second
        else:
            self.congestions.append((event.station, self.congested.pop(event.station), second))

    def _take_speeds(self, changes: pa.Table) -> None:
        with self.lock:
            for row in changes.to_pylist():
                second = seconds_of(row["_at"])
                if row["_sign"] == "+" and second <= SECONDS:
                    self.speeds[row["station"]] = row["speed"]
                    self.cells[row["station"], second] = row["speed"]

    def _take_crawling(self, changes: pa.Table) -> None:
        with self.lock:
            for row in changes.to_pylist():
                detector = (row["station"], row["lane"])
                (self.crawling.add if row["_sign"] == "+" else self.crawling.discard)(detector)

    def _take_trips(self, rows: pa.Table) -> None:
        with self.lock:
            self.trips += len(rows)
            self.trip_seconds.extend(rows["seconds"].to_pylist())

    def grid(self) -> list[list[float]]:
        """Average speeds: a row per station, a column per window; not a number where unknown."""
        times = [CELL_SECONDS * number for number in range(1, int(SECONDS / CELL_SECONDS) + 1)]
        with self.lock:
            return [
                [self.cells.get(cell, float("nan")) for cell in zip(repeat(one), times)]
                for one in range(1, STATIONS + 1)
            ]


def seconds_of(at: datetime) -> float:
    """Seconds since the scenario began."""
    return (at.replace(tzinfo=None) - START.replace(tzinfo=None)).total_seconds()
