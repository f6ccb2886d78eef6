"""The traffic is what the demonstration says it is: a rush hour, one accident, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from penstock.demo import highway
from penstock.demo.highway import ACCIDENT, DELIVERED, STATIONS, HighwayTraffic, traffic
from penstock.demo.scenario import THRESHOLD

if TYPE_CHECKING:
    from numpy.typing import NDArray

WINDOW = 15 * 60.0
QUEUE = {8, 9, 10, 11, 12}
"""The stations that the queue of the accident reaches."""


@dataclass(frozen=True)
class Station:
    """What the detectors of one station saw, in the order in which it happened."""

    passed: NDArray[np.float64]
    speed: NDArray[np.float64]

    def averages(self) -> NDArray[np.float64]:
        """The average speed of the window at each vehicle, that one included."""
        sums = np.concatenate([[0.0], np.cumsum(self.speed)])
        last = np.arange(1, len(self.passed) + 1)
        first = np.searchsorted(self.passed, self.passed - WINDOW, side="right")
        averages: NDArray[np.float64] = (sums[last] - sums[first]) / (last - first)
        return averages

    def around(self, second: float) -> NDArray[np.float64]:
        """The speeds of ten minutes."""
        return self.speed[np.abs(self.passed - second) < 300]


def seconds(made: HighwayTraffic) -> NDArray[np.float64]:
    start = np.datetime64(highway.START.replace(tzinfo=None), "us")
    since: NDArray[np.float64] = (made.rows["passed"].to_numpy() - start) / np.timedelta64(1, "s")
    return since


def stations(made: HighwayTraffic) -> dict[int, Station]:
    passed, speed = seconds(made), made.rows["speed"].to_numpy()
    order = np.argsort(passed, kind="stable")
    at = made.rows["station"].to_numpy()[order]
    passed, speed = passed[order], speed[order]
    return {one: Station(passed[at == one], speed[at == one]) for one in np.unique(at).tolist()}


@pytest.fixture(scope="module")
def made() -> HighwayTraffic:
    return traffic(60_000, 1)


def test_a_seed_makes_the_same_traffic_again_and_another_one_does_not() -> None:
    assert traffic(2000, 3).rows.equals(traffic(2000, 3).rows)
    assert not traffic(2000, 3).rows.equals(traffic(2000, 4).rows)


@pytest.mark.parametrize("rows", [1000, 20_000, 123_457])
def test_there_are_as_many_rows_as_asked_for(rows: int) -> None:
    assert rows - STATIONS < len(traffic(rows, 1).rows) <= rows


def test_rows_are_delivered_in_order_and_not_too_late(made: HighwayTraffic) -> None:
    delay = made.delivered - seconds(made)
    assert np.all(np.diff(made.delivered) >= 0)
    assert delay.min() >= 0
    assert delay.max() <= highway.MOST_DELAY
    assert np.any(np.diff(seconds(made)) < 0), "the slack of the stream has something to do"


def test_parts_have_every_row_once(made: HighwayTraffic) -> None:
    ends = np.linspace(0, DELIVERED, 8).tolist()
    parts = [made.delivered_in(*pair) for pair in pairwise(ends)]
    assert sum(map(len, parts)) == len(made.rows)
    assert made.rows.slice(len(parts[0]), len(parts[1])).equals(parts[1])


def test_vehicles_pass_one_station_after_the_other(made: HighwayTraffic) -> None:
    table = made.rows.sort_by([("vehicle", "ascending"), ("station", "ascending")])
    vehicle, station = table["vehicle"].to_numpy(), table["station"].to_numpy()
    passed = table["passed"].to_numpy()
    together = vehicle[1:] == vehicle[:-1]
    assert np.all(np.diff(station)[together] == 1)
    assert np.all(np.diff(passed)[together] > np.timedelta64(10, "s"))
    assert set(np.unique(made.rows["lane"].to_numpy())) == {1, 2, 3, 4, 5}


def test_the_rush_hour_brings_more_and_slower_vehicles(made: HighwayTraffic) -> None:
    for number, one in stations(made).items():
        if number not in QUEUE:
            early, rush = one.around(1800), one.around(highway.RUSH)
            assert rush.mean() < early.mean() - 5
            assert len(rush) > 1.3 * len(early)


def test_vehicles_crawl_where_the_accident_says_and_nowhere_else(made: HighwayTraffic) -> None:
    assert set(ACCIDENT.jams()) == QUEUE
    for number, one in stations(made).items():
        begins, ends = ACCIDENT.jam(number) or (0.0, 0.0)
        is_jam = (one.passed >= begins) & (one.passed < ends)
        assert np.all(one.speed[is_jam] < 8)
        assert np.all(one.speed[~is_jam] > 12)


@pytest.mark.parametrize("seed", range(1, 6))
def test_only_the_queue_is_congested_by_a_wide_margin(seed: int) -> None:
    slowest = {
        number: one.averages().min() for number, one in stations(traffic(60_000, seed)).items()
    }
    assert {number for number, speed in slowest.items() if speed < THRESHOLD} == QUEUE
    assert all(abs(speed - THRESHOLD) > 1 for speed in slowest.values())
