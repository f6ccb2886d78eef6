"""What the theory promises, on generated charts and arrivals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock.scheduling.chain import Chain
from penstock.scheduling.chart import Chart
from penstock.scheduling.fifo import Fifo
from penstock.scheduling.paths import Path
from penstock.scheduling.scheduler_list import SCHEDULERS, made_scheduler
from penstock_bench.chain.edf import EarliestDeadline
from penstock_bench.chain.exact_flush import ExactChainFlush
from penstock_bench.chain.model import BlockArrival, Model
from scheduling.clairvoyant import Trials
from scheduling.systems import arrivals, charts, least, paths_of, run, uninterrupted_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from penstock.scheduling.scheduler import Scheduler

ROUNDING = 1e-6
INSTANTS = 41


def memory(
    system: Sequence[Chart],
    times: Sequence[BlockArrival],
    scheduler: Scheduler,
    unit: float | None = 1.0,
) -> NDArray[np.float64]:
    return Model(paths_of(system), unit).run(scheduler, times).memory(range(INSTANTS))


def bound(system: Sequence[Chart], times: Sequence[BlockArrival]) -> NDArray[np.float64]:
    return least(system, times, range(INSTANTS))


def height(chart: Chart) -> float:
    """The largest heights of a chart above its segments, summed up."""
    total = 0.0
    for one in chart.segments:
        start = chart.points[one.first]
        total += max(
            chart.points[step].size - start.size
            + one.slope * (chart.points[step + 1].time - start.time)
            for step in range(one.first, one.end)
        )  # fmt: skip
    return total


def systems(selectivity: float, paths: int = 3) -> st.SearchStrategy[list[Chart]]:
    return st.lists(charts(4, 4, selectivity), min_size=paths, max_size=paths)


@given(systems(1.0), arrivals(10, 15, 3))
def test_chain_is_within_a_block_for_each_path_of_the_least(
    system: list[Chart], times: list[BlockArrival]
) -> None:
    most = bound(system, times) + len(system)
    assert (memory(system, times, Chain()) <= most + ROUNDING).all()


@given(systems(3.0), arrivals(10, 15, 3))
def test_where_operators_make_more_of_a_block_chain_is_within_the_heights_of_charts(
    system: list[Chart], times: list[BlockArrival]
) -> None:
    most = bound(system, times) + sum(height(one) for one in system)
    assert (memory(system, times, Chain()) <= most + ROUNDING).all()


@given(st.lists(charts(5, 9), min_size=1, max_size=1))
def test_the_heights_of_a_chart_are_1_at_most_where_blocks_only_shrink(
    system: list[Chart],
) -> None:
    assert height(system[0]) <= 1 + ROUNDING


@pytest.mark.parametrize("name", [one.name for one in SCHEDULERS])
@given(system=systems(2.0), times=arrivals(10, 15, 3), unit=st.sampled_from([1.0, None]))
@settings(max_examples=25)
def test_no_scheduler_needs_less_than_the_bound(
    name: str, system: list[Chart], times: list[BlockArrival], unit: float | None
) -> None:
    found = memory(system, times, made_scheduler(name), unit)
    assert (found >= bound(system, times) - ROUNDING).all()


@given(systems(1.0), arrivals(10, 15, 3))
def test_what_cannot_be_interrupted_costs_its_length_times_the_steepest_slope(
    system: list[Chart], times: list[BlockArrival]
) -> None:
    most = uninterrupted_bound(system, times, range(INSTANTS))
    assert (memory(system, times, Chain(), None) <= most + ROUNDING).all()


@given(st.lists(charts(3, 2), min_size=2, max_size=2), arrivals(5, 6, 2))
@settings(max_examples=40, deadline=None)
def test_chain_is_within_a_block_for_each_path_of_one_who_knows_what_comes(
    system: list[Chart], times: list[BlockArrival]
) -> None:
    best = np.array(Trials(system, times).least(INSTANTS))
    assert (best >= bound(system, times) - ROUNDING).all()
    chain = memory(system, times, Chain())
    assert (chain >= best - ROUNDING).all()
    assert (chain <= best + len(system) + ROUNDING).all()


@st.composite
def convex(draw: st.DrawFn) -> Chart:
    """Operators of one unit, each of which frees less than that before it."""
    falls = sorted(draw(st.lists(st.integers(1, 9), min_size=1, max_size=4)), reverse=True)
    sizes = 1 - np.cumsum([0, *falls]) / sum(falls)
    sizes[-1] = 0
    return Chart.of(*enumerate(map(float, sizes)))


@given(st.lists(convex(), min_size=2, max_size=2), arrivals(5, 6, 2))
@settings(max_examples=40, deadline=None)
def test_chain_is_the_best_where_charts_are_their_own_envelopes(
    system: list[Chart], times: list[BlockArrival]
) -> None:
    chain = memory(system, times, Chain())
    assert chain == pytest.approx(Trials(system, times).least(INSTANTS), abs=ROUNDING)
    assert chain == pytest.approx(bound(system, times), abs=ROUNDING)


@st.composite
def two_segments(draw: st.DrawFn) -> Chart:
    """Charts whose blocks only shrink, with two chains."""
    chart = draw(charts(4, 3))
    assume(len(chart.segments) == 2)
    return chart


@given(two_segments(), arrivals(5, 9, 1), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_chain_flush_is_in_time_and_within_a_block_of_the_best_that_is(
    chart: Chart, times: list[BlockArrival], spare: int
) -> None:
    shortest = Model(paths_of([chart])).run(Fifo(), times).longest_latency
    latency = int(shortest) + spare
    flush = Model(paths_of([chart], latency)).run(ExactChainFlush(), times)
    assert flush.longest_latency <= latency + ROUNDING
    best = Trials([chart], times).least_peak(latency)
    assert best is not None
    assert best - ROUNDING <= flush.peak <= best + 1 + ROUNDING


def test_chain_flush_is_not_the_best() -> None:
    chart = Chart.of((0, 1), (2, 0.7), (7, 0))
    times = [BlockArrival(one, "0") for one in (1.0, 7.0, 8.0)]
    found = run([*chart.points], (1, 7, 8), ExactChainFlush(), latency=22)
    assert found.peak == pytest.approx(2.7)
    assert Trials([chart], times).least_peak(22) == pytest.approx(2.0)


def test_one_who_knows_what_comes_cannot_be_faster_than_the_work() -> None:
    chart = Chart.of((0, 1), (2, 0.7), (7, 0))
    times = [BlockArrival(0, "0"), BlockArrival(0, "0")]
    assert Trials([chart], times).least_peak(13) is None
    assert Trials([chart], times).least_peak(14) == pytest.approx(2.0)


@given(charts(4, 4), arrivals(8, 15, 1), st.sampled_from([1.0, None]))
def test_for_one_query_the_earliest_deadline_is_that_of_the_oldest(
    chart: Chart, times: list[BlockArrival], unit: float | None
) -> None:
    model = Model(paths_of([chart], 7.0), unit)
    edf, fifo = model.run(EarliestDeadline(), times), model.run(Fifo(), times)
    assert edf.points == fifo.points
    assert edf.latencies == fifo.latencies


def test_for_several_queries_it_is_not() -> None:
    slow, fast = Chart.of((0, 1), (4, 0)), Chart.of((0, 1), (1, 0))
    patient, hasty = paths_of([slow, fast])
    model = Model([replace(patient, latency=20.0), replace(hasty, latency=2.0)])
    times = [BlockArrival(0, "0"), BlockArrival(1, "1")]
    assert model.run(EarliestDeadline(), times).latencies == [1, 5]
    assert model.run(Fifo(), times).latencies == [4, 4]


def test_what_queries_share_is_due_as_soon_as_the_hastiest_of_them_asks() -> None:
    shared, alone = Chart.of((0, 1), (1, 0.5), (2, 0)), Chart.of((0, 1), (1, 0))
    hasty = Path("r", "hasty", (0, 1), shared, 3.0)
    patient = Path("r", "patient", (0, 2), shared, 90.0)
    model = Model([hasty, patient, Path("s", "between", (3,), alone, 20.0)])
    times = [BlockArrival(0, "s"), BlockArrival(0, "r")]
    # The shared operator, the hasty query, the one between, and the patient one.
    assert model.run(EarliestDeadline(), times).latencies == [2, 3, 4]
