"""The worked examples once more, where a call on a block cannot be interrupted, as on a lane."""

from __future__ import annotations

import pytest

from penstock.scheduling.chain import Chain
from penstock.scheduling.chart import Chart
from penstock.scheduling.fifo import Fifo
from penstock.scheduling.greedy import Greedy
from penstock.scheduling.mixed import Mixed
from penstock.scheduling.round_robin import RoundRobin
from penstock_bench.chain.model import BlockArrival, Model
from scheduling.systems import paths_of, run, uninterrupted_bound
from scheduling.test_tables import (
    FALLING,
    FAST_THEN_SLOW,
    HIDDEN,
    STEEPEST,
    STORED_RELATION,
    THREE,
    TWO,
    every,
    peaks,
)

TURNING: list[tuple[float, float]] = [(0, 1), (1, 0.9), (2, 0.1), (4, 0)]
"""Two operators in a chain, and a third."""
ENDS = Chart.of((0, 1), (12, 0)), Chart.of((0, 1), (11, 0)), Chart.of((0, 1), (10, 0))
AT_ENDS = [BlockArrival(0, "0"), BlockArrival(11, "1"), BlockArrival(21, "2")]


def test_calls_of_one_unit_are_interrupted_nowhere() -> None:
    for scheduler in (Greedy(), Chain()):
        found = run(TWO, range(7), scheduler, unit=None)
        assert found.memory(range(len(STEEPEST))) == pytest.approx(STEEPEST)


def test_inside_a_chain_the_furthest_block_goes_first_all_the_same() -> None:
    found = run(TURNING, [0] * 6, Chain(), unit=None)
    assert found.memory(range(7)) == pytest.approx([6, 5.9, 5.1, 5, 4.2, 4.1, 3.3])


def test_peaks_of_chain_greedy_round_robin_and_fifo() -> None:
    assert peaks(HIDDEN, every(7, 8), None) == pytest.approx([1.7, 3.8, 4.0, 4.0])
    assert peaks(STORED_RELATION, every(7, 8), None) == pytest.approx([3.0, 4.2, 3.6, 3.6])


def test_the_longest_latencies_of_chain_round_robin_and_fifo() -> None:
    schedulers = (Chain(), RoundRobin(1.0), Fifo())
    found = [run(FALLING, every(10, 40), one, unit=None).longest_latency for one in schedulers]
    assert found == pytest.approx([165, 90, 90])


def test_mixed_is_between_chain_and_fifo() -> None:
    thresholds = (0, 0.05, 0.2, 0.6)
    found = [run(FALLING, every(4, 20), Mixed(one), unit=None).peak for one in thresholds]
    assert found == pytest.approx([5.25, 5.25, 8.0, 13.25])


def test_where_chain_leaves_each_block_a_unit_too_early_it_now_completes_them() -> None:
    found = Model(paths_of(ENDS), None).run(Chain(), AT_ENDS)
    assert found.memory([30]) == pytest.approx([1.0])


@pytest.mark.parametrize(
    ("points", "times"),
    [
        (TWO, every(1, 7)),
        (TURNING, [0] * 6),
        (THREE, every(3, 10)),
        (THREE, every(1, 10)),
        (FAST_THEN_SLOW, every(2, 31)),
        (HIDDEN, every(7, 8)),
        (FALLING, every(4, 20)),
        (FALLING, every(10, 40)),
    ],
)
def test_chain_stays_below_what_long_calls_may_cost(
    points: list[tuple[float, float]], times: range | list[int]
) -> None:
    instants = range(500)
    blocks = [BlockArrival(time, "0") for time in times]
    most = uninterrupted_bound([Chart.of(*points)], blocks, instants)
    found = run(points, times, Chain(), unit=None).memory(instants)
    assert (found <= most + 1e-9).all()


def test_chain_stays_below_it_with_several_paths() -> None:
    instants = range(60)
    found = Model(paths_of(ENDS), None).run(Chain(), AT_ENDS).memory(instants)
    assert (found <= uninterrupted_bound(ENDS, AT_ENDS, instants) + 1e-9).all()
