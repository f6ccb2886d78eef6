"""Operator paths: the ways from inputs to queries."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.scheduling.chart import Chart, MeasuredWork
from penstock.scheduling.paths import Path, UnchartedPath, routes


def test_a_join_and_what_is_above_it_belong_to_the_paths_of_both_inputs() -> None:
    #  0 -> 2 -\
    #           4 -> 5
    #  1 -> 3 -/
    inputs = [(), (), (0,), (1,), (2, 3), (4,)]
    assert routes(inputs, {"r": 0, "s": 1}, {"q": 5}) == [
        UnchartedPath("r", "q", (0, 2, 4, 5)),
        UnchartedPath("s", "q", (1, 3, 4, 5)),
    ]


def test_queries_share_what_they_have_in_common() -> None:
    inputs = [(), (0,), (1,), (1,)]
    assert [one.operators for one in routes(inputs, {"r": 0}, {"p": 2, "q": 3, "all": 1})] == [
        (0, 1, 2),
        (0, 1, 3),
        (0, 1),
    ]


def test_a_stream_joined_with_itself_has_two_ways() -> None:
    ways = routes([(), (0,), (0,), (1, 2)], {"r": 0}, {"q": 3})
    assert [one.operators for one in ways] == [(0, 1, 3), (0, 2, 3)]


def test_a_source_that_a_query_does_not_read_has_no_way_to_it() -> None:
    assert routes([(), (), (0,)], {"r": 0, "s": 1}, {"q": 2}) == [UnchartedPath("r", "q", (0, 2))]


def test_a_query_may_be_its_source() -> None:
    assert routes([()], {"r": 0}, {"q": 0}) == [UnchartedPath("r", "q", (0,))]


def test_a_route_with_costs_is_a_path() -> None:
    route = UnchartedPath("r", "q", (0, 2))
    path = route.charted([MeasuredWork(1, 0.5), MeasuredWork(9, 9), MeasuredWork(2, 0)], latency=2)
    assert path == Path("r", "q", (0, 2), Chart.of((0, 1), (1, 0.5), (2, 0)), 2)


GRAPHS = st.lists(st.lists(st.integers(0, 30), max_size=2), min_size=2, max_size=14).map(
    lambda drawn: [
        tuple(sorted({one % at for one in read})) if at else () for at, read in enumerate(drawn)
    ]
)


@given(GRAPHS)
def test_ways_walk_along_all_edges_between_a_source_and_a_query(
    inputs: list[tuple[int, ...]],
) -> None:
    last = len(inputs) - 1
    sources = {str(at): at for at, read in enumerate(inputs) if not read}
    found = routes(inputs, sources, {"q": last})
    below, waiting = set(), [last]
    while waiting:
        one = waiting.pop()
        below.add(one)
        waiting += inputs[one]
    edges = {(one, at) for at in below for one in inputs[at]}
    walked = {edge for way in found for edge in pairwise(way.operators)}
    assert walked == edges
    assert len(found) <= max(len(edges), 1) * max(len(sources), 1)
    for way in found:
        assert way.operators[0] == sources[way.source]
        assert way.operators[-1] == last
