"""Systems of paths, and runs of the model on them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from penstock.scheduling.chart import Chart
from penstock.scheduling.paths import Path
from penstock_bench.chain.least_memory import least_memory
from penstock_bench.chain.model import BlockArrival, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from penstock.scheduling.scheduler import Scheduler
    from penstock_bench.chain.trace import Trace

Points = list[tuple[float, float]]


def paths_of(charts: Iterable[Chart], latency: float | None = None) -> list[Path]:
    """A path for each chart, with an input, a query and operators of its own."""
    made: list[Path] = []
    start = 0
    for number, chart in enumerate(charts):
        end = start + len(chart.steps)
        operators = tuple(range(start, end))
        made.append(Path(str(number), f"q{number}", operators, chart, latency))
        start = end
    return made


def run(
    points: Points,
    times: Iterable[float],
    scheduler: Scheduler,
    *,
    unit: float | None = 1.0,
    latency: float | None = None,
) -> Trace:
    """One path, and blocks that come at some instants."""
    model = Model(paths_of([Chart.of(*points)], latency), unit)
    return model.run(scheduler, [BlockArrival(time, "0") for time in times])


def least(
    system: Sequence[Chart], times: Sequence[BlockArrival], instants: Sequence[float]
) -> NDArray[np.float64]:
    """The bound from below for a path of its own for each chart."""
    return least_memory(paths_of(system), times, instants)


def uninterrupted_bound(
    system: Sequence[Chart], times: Sequence[BlockArrival], instants: Sequence[float]
) -> NDArray[np.float64]:
    """The most that Chain may need where blocks only shrink and calls are not interrupted.

    To a block for each path comes what the steepest chain would free in the longest call.
    """
    calls = [b.time - a.time for one in system for a, b in pairwise(one.points)]
    steepest = max(segment.slope for one in system for segment in one.segments)
    return least(system, times, instants) + len(system) + (max(calls) - 1) * steepest


def _chart(times: Sequence[int], shares: Sequence[float]) -> Chart:
    """Operators by their times in the chart and their selectivities; the last lets nothing stay."""
    points, at, size = [(0.0, 1.0)], 0.0, 1.0
    for time, share in zip(times, shares, strict=True):
        at, size = at + time, size * share
        points.append((at, size))
    return Chart.of(*points[:-1], (at, 0.0))


def charts(operators: int, longest: int, selectivity: float = 1.0) -> st.SearchStrategy[Chart]:
    """Charts of a few operators that take whole units of time."""
    return st.integers(1, operators).flatmap(
        lambda count: st.builds(
            _chart,
            st.lists(st.integers(1, longest), min_size=count, max_size=count),
            st.lists(st.floats(0.05, selectivity), min_size=count, max_size=count),
        )
    )


def arrivals(count: int, until: int, inputs: int) -> st.SearchStrategy[list[BlockArrival]]:
    """Blocks that come at whole instants, on some inputs."""
    one = st.builds(
        BlockArrival,
        st.integers(0, until).map(float),
        st.integers(0, inputs - 1).map(str),
        st.just(1.0),
    )
    return st.lists(one, min_size=1, max_size=count).map(sorted)
