"""The traffic of a highway: five lanes, twenty stations, a rush hour, and an accident.

The scenario is that of "Temporal" (Kraemer and Seeger): a detector in each lane of a station says
which vehicle passed, how fast, and how long it is. A kilometre lies between two stations. Times
are seconds from `START` on, speeds are metres per second.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STATIONS = 20
LANES = 5
GAP = 1000.0
"""Metres between two stations."""
START = datetime(1993, 11, 3, 6, tzinfo=UTC)
SECONDS = 4 * 3600.0
"""The length of the scenario."""
RUSH = 2 * 3600.0
"""The time at which the rush hour is at its height."""
RUSH_WIDTH = 2400.0
FREE_SPEED = 30.0
RUSH_SPEED = 21.0
"""The mean speed when the rush hour is at its height."""
JAM_SPEED = 5.0
MOST_DELAY = 5.0
"""A row is delivered at most so long after the vehicle passed."""
DELIVERED = SECONDS + MOST_DELAY
"""By then all rows have been delivered."""
_ENTRY = -1200.0
"""The first vehicles enter so long before the start that the highway is not empty then."""


@dataclass(frozen=True)
class Accident:
    """Vehicles crawl past a station, and a queue grows from there against the traffic.

    Attributes:
        station: Where it happened.
        begins: When.
        ends: When the road is clear again; the queue then dissolves from its head.
        growth: Seconds until the tail of the queue has reached the next station upstream.
        recovery: Seconds until the head of the queue has.
    """

    station: int = 12
    begins: float = 5400.0
    ends: float = 7800.0
    growth: float = 660.0
    recovery: float = 180.0

    def jam(self, station: int) -> tuple[float, float] | None:
        """The time in which vehicles crawl at a station; None if they never do."""
        upstream = self.station - station
        begins = self.begins + upstream * self.growth
        ends = self.ends + upstream * self.recovery
        return (begins, ends) if upstream >= 0 and begins < ends else None

    def jams(self) -> dict[int, tuple[float, float]]:
        """The stations where vehicles crawl, and when."""
        found = {station: self.jam(station) for station in range(1, STATIONS + 1)}
        return {station: jam for station, jam in found.items() if jam is not None}


ACCIDENT = Accident()


def mean_speed(station: int, at: Floats) -> Floats:
    """The speed of the traffic at a station: the truth that queries have to find out."""
    speed = FREE_SPEED - (FREE_SPEED - RUSH_SPEED) * _rush(at)
    jam = ACCIDENT.jam(station)
    return speed if jam is None else np.where((at >= jam[0]) & (at < jam[1]), JAM_SPEED, speed)


@dataclass(frozen=True)
class HighwayTraffic:
    """Rows of the stream `vehicles` in the order of their delivery.

    A row may be delivered after one that passed later, but never by more than `MOST_DELAY`.
    """

    rows: pa.Table
    delivered: Floats

    def delivered_in(self, begins: float, ends: float) -> pa.Table:
        """The rows that are delivered from one second to before another."""
        first, last = np.searchsorted(self.delivered, (begins, ends)).tolist()
        return self.rows.slice(first, last - first)


def traffic(rows: int, seed: int) -> HighwayTraffic:
    """Traffic with so many rows, or fewer by less than what one vehicle makes."""
    random = np.random.default_rng(seed)
    vehicles = _vehicles(random, rows * 3 // (2 * STATIONS) + 2)
    drive = _drive(random, vehicles)
    is_within = (drive.passed >= 0) & (drive.passed < SECONDS)
    # Vehicles are in no order, so that the first of them are as good as any others.
    is_within &= (np.cumsum(is_within.sum(axis=1)) <= rows)[:, np.newaxis]
    delay = random.uniform(0, MOST_DELAY, drive.passed.shape)[is_within]
    passed = np.round(drive.passed[is_within], 3)
    order = np.argsort(passed + delay, kind="stable")
    number, station = np.nonzero(is_within)
    columns = {
        "passed": _instants(passed),
        "station": (station + 1).astype(np.int32),
        "lane": drive.lane[is_within].astype(np.int32),
        "vehicle": (number + 1).astype(np.int32),
        "speed": np.round(drive.speed[is_within], 2),
        "length": np.round(vehicles.length[number], 2),
    }
    return HighwayTraffic(
        pa.table({name: one[order] for name, one in columns.items()}), (passed + delay)[order]
    )


@dataclass(frozen=True)
class _Vehicles:
    """One entry per vehicle; `temper` is how fast it goes compared with others."""

    entered: Floats
    is_truck: NDArray[np.bool_]
    length: Floats
    temper: Floats


@dataclass(frozen=True)
class _Drive:
    """The detectors' view: a row per vehicle, a column per station."""

    passed: Floats
    lane: NDArray[np.int64]
    speed: Floats


def _vehicles(random: np.random.Generator, count: int) -> _Vehicles:
    is_truck = random.random(count) < 0.15
    length = np.where(is_truck, random.normal(13, 2, count), random.normal(4.6, 0.4, count))
    temper = np.where(is_truck, 0.9, 1.02) * random.normal(1, 0.05, count).clip(0.9, 1.1)
    grid = np.linspace(_ENTRY, SECONDS, 1000)
    share = np.cumsum(1 + 1.5 * _rush(grid))
    share = (share - share[0]) / (share[-1] - share[0])
    entered = np.interp(random.random(count), share, grid)
    return _Vehicles(entered, is_truck, length.clip(3, 19), temper)


def _drive(random: np.random.Generator, vehicles: _Vehicles) -> _Drive:
    """Let all vehicles drive from station to station, as fast as the traffic is where they are."""
    shape = (len(vehicles.entered), STATIONS)
    drive = _Drive(np.empty(shape), np.empty(shape, np.int64), np.empty(shape))
    widest = np.where(vehicles.is_truck, 2, LANES)
    at = vehicles.entered
    for column in range(STATIONS):
        lane = random.integers(1, widest + 1)
        # Left lanes are faster, and nobody keeps exactly the same speed.
        manner = vehicles.temper * (0.94 + 0.03 * lane) * random.normal(1, 0.03, shape[0])
        speed = mean_speed(column + 1, at) * manner
        drive.passed[:, column], drive.lane[:, column], drive.speed[:, column] = at, lane, speed
        at = at + GAP / speed
    return drive


def _rush(at: Floats) -> Floats:
    """The strength of the rush hour, at most one."""
    return np.exp(-0.5 * ((at - RUSH) / RUSH_WIDTH) ** 2)


def _instants(seconds: Floats) -> NDArray[np.datetime64]:
    start = np.datetime64(START.replace(tzinfo=None), "us")
    return start + np.round(seconds * 1e6).astype("timedelta64[us]")
