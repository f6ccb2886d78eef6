"""Worked examples of the theory, on the model: memory at instants, peaks and latencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.scheduling.by_slope import BySlope
from penstock.scheduling.chain import Chain
from penstock.scheduling.chart import Chart
from penstock.scheduling.fifo import Fifo
from penstock.scheduling.greedy import Greedy
from penstock.scheduling.mixed import Mixed
from penstock.scheduling.paths import Path
from penstock.scheduling.round_robin import RoundRobin
from penstock_bench.chain.exact_flush import ExactChainFlush
from penstock_bench.chain.model import BlockArrival, Model
from scheduling.systems import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from penstock.scheduling.by_rank import Rank
    from penstock.scheduling.chart import Segment
    from penstock.scheduling.scheduler import Head, Scheduler
    from scheduling.systems import Points

TWO: Points = [(0, 1), (1, 0.2), (2, 0)]
THREE: Points = [(0, 1), (1, 0.4), (2, 0.2), (4, 0)]
FAST_THEN_SLOW: Points = [(0, 1), (1, 0.2), (6, 0)]
HIDDEN: Points = [(0, 1), (2, 0.9), (6, 0.88), (7, 0.1), (12, 0)]
STORED_RELATION: Points = [(0, 1), (2, 0.8), (5, 1.6), (6, 0.1), (10, 0)]
FALLING: Points = [(0, 1), (1, 0.5), (3, 0.25), (7, 0.1), (12, 0)]


def every(gap: int, blocks: int) -> range:
    return range(0, gap * blocks, gap)


STEEPEST = [1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 1.4, 1.2, 1.0, 0.8, 0.6, 0.4, 0.2, 0]
OLDEST = [1, 1.2, 2.0, 2.2, 3.0, 3.2, 4.0, 3.2, 3.0, 2.2, 2.0, 1.2, 1.0, 0.2, 0]
SHORT_STEEPEST = [1, 1.2, 1.4, 1.6, 1.8, 1.0, 0.8, 0.6, 0.4, 0.2, 0]
SHORT_OLDEST = [1, 1.2, 2.0, 2.2, 3.0, 2.2, 2.0, 1.2, 1.0, 0.2, 0]


@pytest.mark.parametrize(
    ("blocks", "scheduler", "expected"),
    [
        (7, Greedy(), STEEPEST),
        (7, Chain(), STEEPEST),
        (7, Fifo(), OLDEST),
        (5, Greedy(), SHORT_STEEPEST),
        (5, Chain(), SHORT_STEEPEST),
        (5, Fifo(), SHORT_OLDEST),
    ],
)
def test_two_operators_and_a_burst(
    blocks: int, scheduler: Scheduler, expected: list[float]
) -> None:
    found = run(TWO, range(blocks), scheduler)
    assert found.memory(range(len(expected))) == pytest.approx(expected)


class UpstreamFirst(Chain):
    """The mistake that Chain must not make."""

    def rank(self, operator: int, head: Head) -> Rank:
        return (-self.slopes[operator], operator)


def test_inside_a_chain_the_furthest_block_goes_first() -> None:
    points = [(0.0, 1.0), (1, 0.9), (2, 0.1), (4, 0)]
    assert run(points, [0] * 6, Chain()).memory([6]) == pytest.approx([3.3])
    assert run(points, [0] * 6, UpstreamFirst()).memory([6]) == pytest.approx([5.4])


@pytest.mark.parametrize(
    ("gap", "unit", "make", "latency", "expected"),
    [
        (3, 1.0, Chain, None, (2.0, 13.5, 18)),
        (3, 1.0, lambda: Mixed(0.25), None, (2.2, 10.3, 13)),
        (3, 1.0, Fifo, None, (3.2, 8.5, 13)),
        (3, 1.0, ExactChainFlush, 13, (2.2, 11.8, 13)),
        (3, 1.0, ExactChainFlush, 15, (2.0, 12.9, 15)),
        (3, None, Chain, None, (2.0, 12.5, 17)),
        (3, None, lambda: Mixed(0.25), None, (2.2, 10.0, 13)),
        (3, None, Fifo, None, (3.2, 8.5, 13)),
        (3, None, ExactChainFlush, 13, (2.2, 11.2, 13)),
        (3, None, ExactChainFlush, 15, (2.0, 12.1, 15)),
        (1, 1.0, Chain, None, (4.6, 26.5, 31)),
        (1, 1.0, lambda: Mixed(0.25), None, (4.6, 22.0, 31)),
        (1, 1.0, Fifo, None, (7.4, 17.5, 31)),
    ],
)
def test_peak_and_latencies_with_and_without_interruption(
    gap: int,
    unit: float | None,
    make: Callable[[], Scheduler],
    latency: float | None,
    expected: tuple[float, float, float],
) -> None:
    found = run(THREE, every(gap, 10), make(), unit=unit, latency=latency)
    assert (found.peak, found.mean_latency, found.longest_latency) == pytest.approx(expected)


def peaks(points: Points, times: Iterable[float], unit: float | None = 1.0) -> list[float]:
    schedulers: list[Scheduler] = [Chain(), Greedy(), RoundRobin(1.0), Fifo()]
    return [run(points, [*times], one, unit=unit).peak for one in schedulers]


def test_a_fast_selective_operator_before_a_slow_one() -> None:
    assert peaks(FAST_THEN_SLOW, every(2, 31)) == pytest.approx([5.8, 5.8, 5.8, 21.0])
    # What cannot be interrupted costs more, and a quantum of less than a block makes it FIFO.
    assert peaks(FAST_THEN_SLOW, every(2, 31), None) == pytest.approx([7.0, 7.0, 21.0, 21.0])


def test_greedy_loses_where_a_flat_operator_hides_a_steep_one() -> None:
    assert peaks(HIDDEN, every(7, 8)) == pytest.approx([1.7, 3.8, 3.9, 4.0])


def test_a_join_with_a_stored_relation_hides_the_filter_above_it() -> None:
    assert Chart.of(*STORED_RELATION).segments[0].end == 3
    chain, *others = peaks(STORED_RELATION, every(7, 8))
    assert chain == pytest.approx(2.2)
    assert min(others) > 1.5 * chain


def test_chain_makes_results_wait_longest() -> None:
    times = every(10, 40)
    schedulers: list[Scheduler] = [Chain(), RoundRobin(1.0), Fifo()]
    found = [run(FALLING, times, one).longest_latency for one in schedulers]
    assert found == pytest.approx([170, 131, 90])


@pytest.mark.parametrize(
    ("threshold", "peak"),
    [
        (0, 5.15),
        (0.0375, 5.15),
        (0.05, 5.25),
        (0.125, 5.25),
        (0.2, 7.75),
        (0.5, 7.75),
        (0.6, 13.25),
    ],
)
def test_mixed_is_between_chain_and_fifo(threshold: float, peak: float) -> None:
    assert run(FALLING, every(4, 20), Mixed(threshold)).peak == pytest.approx(peak)


def test_mixed_at_its_ends_is_chain_and_fifo() -> None:
    chain, fifo = (run(FALLING, every(4, 20), one) for one in (Chain(), Fifo()))
    assert run(FALLING, every(4, 20), Mixed(0)).points == chain.points
    assert run(FALLING, every(4, 20), Mixed(9)).points == fifo.points


def test_chain_flush_with_time_to_spare_is_chain() -> None:
    chain = run(FALLING, every(4, 20), Chain())
    flush = run(FALLING, every(4, 20), ExactChainFlush(), latency=chain.longest_latency)
    assert flush.points == chain.points


class ShortestFirst(BySlope):
    """Of one-operator paths the shortest, whatever has begun: Chain's order, reversed."""

    def segments(self, chart: Chart) -> tuple[Segment, ...]:
        return chart.steps

    def rank(self, operator: int, head: Head) -> Rank:
        return (self.slopes[operator],)


def test_three_blocks_of_three_paths_show_that_the_bound_is_tight() -> None:
    paths = [
        Path(name, name, (number,), Chart.of((0, 1), (time, 0)))
        for number, (name, time) in enumerate({"a": 12, "b": 11, "c": 10}.items())
    ]
    times = [BlockArrival(0, "a"), BlockArrival(11, "b"), BlockArrival(21, "c")]
    # Each is left for a steeper one a unit before it is done.
    assert Model(paths).run(Chain(), times).memory([30]) == pytest.approx([3.0])
    assert Model(paths).run(ShortestFirst(), times).memory([30]) == pytest.approx([1.0])
