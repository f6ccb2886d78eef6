"""Progress charts: envelopes, chains and slopes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.scheduling.chart import Chart, MeasuredWork, Segment


def test_a_steep_operator_behind_a_flat_one_makes_a_chain_of_both() -> None:
    chart = Chart.of((0, 1), (2, 0.9), (6, 0.88), (7, 0.1), (12, 0))
    assert chart.segments == (Segment(0, 3, 0.128571428571), Segment(3, 4, 0.02))
    assert chart.envelope == Chart.of((0, 1), (7, 0.1), (12, 0))
    assert [one.slope for one in chart.steps] == [0.05, 0.005, 0.78, 0.02]


def test_a_join_with_a_stored_relation_is_in_the_chain_of_its_neighbours() -> None:
    chart = Chart.of((0, 1), (2, 0.8), (5, 1.6), (6, 0.1), (10, 0))
    assert [(one.first, one.end) for one in chart.segments] == [(0, 3), (3, 4)]


def test_points_on_one_line_are_chains_of_their_own_with_equal_slopes() -> None:
    chart = Chart.of((0, 1), (1, 0.9), (3, 0.7), (10, 0))
    assert [one.slope for one in chart.segments] == [0.1, 0.1, 0.1]


def test_times_are_for_what_is_left_of_a_block() -> None:
    chart = Chart.measured([MeasuredWork(1, 0.2), MeasuredWork(5, 0)])
    assert chart == Chart.of((0, 1), (1, 0.2), (2, 0))


def test_an_operator_that_lets_nothing_through_leaves_time_for_those_behind_it() -> None:
    chart = Chart.measured([MeasuredWork(0, 0), MeasuredWork(1, 1), MeasuredWork(1, 1)])
    assert chart.time > 0
    assert chart.points[-1].size == 0


def test_an_operator_that_takes_nothing_behind_a_slow_one_still_has_a_time() -> None:
    chart = Chart.measured([MeasuredWork(1e6, 1), MeasuredWork(0, 1), MeasuredWork(1e-9, 1)])
    assert all(one.slope >= 0 for one in chart.steps)


def test_chains_below_a_threshold_are_merged() -> None:
    chart = Chart.of((0, 1), (1, 0.4), (2, 0.2), (4, 0))
    assert chart.merged(0.25) == (Segment(0, 1, 0.6), Segment(1, 3, 0.133333333333))
    assert chart.merged(0) == chart.segments
    assert chart.merged(7) == (Segment(0, 3, 0.25),)


@pytest.mark.parametrize("points", [[(0, 1)], [(0, 1), (0, 0)], [(0, 1), (1, 0), (2, 0)]])
def test_a_chart_that_is_none_is_refused(points: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match=r"a chart begins|only results"):
        Chart.of(*points)


COSTS = st.lists(
    st.builds(MeasuredWork, st.floats(0.01, 10), st.floats(0.01, 2)), min_size=1, max_size=6
)


@given(COSTS)
def test_the_envelope_is_below_its_chart_and_convex(costs: list[MeasuredWork]) -> None:
    chart = Chart.measured(costs)
    slopes = [one.slope for one in chart.segments]
    assert slopes == sorted(slopes, reverse=True)
    assert slopes[-1] > 0
    for one in chart.segments:
        start = chart.points[one.first]
        for point in chart.points[one.first : one.end + 1]:
            assert point.size >= start.size - one.slope * (point.time - start.time) - 1e-9
    assert chart.envelope.segments == chart.envelope.steps
