"""Charts by what stations did: when they are made, and of what."""

from __future__ import annotations

import pytest

from penstock.algebra.time import BEGINNING
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.allotment import Allotment
from penstock.runtime.lane import Lane
from penstock.runtime.work_meter import FIRST_INTERVAL, INTERVAL, WorkMeter
from penstock.scheduling.work_rules import WorkRules
from penstock.session import Session

#  0 (enters) -> 1 -> 2 (results)
INPUTS = [(), (0,), (1,)]


def meter() -> WorkMeter:
    return WorkMeter(INPUTS, {"s": 0}, {"q": 2}, {})


def test_intervals_are_of_work_and_double() -> None:
    made = meter()
    made.add(1, 0.0, 8, 8)
    lengths: list[int] = []
    while len(lengths) < 10:
        steps = 0
        while not made.is_due:
            made.add(1, FIRST_INTERVAL, 8, 8)
            steps += 1
        made.close_interval()
        lengths.append(steps)
    assert lengths[:5] == [1, 2, 4, 8, 16]
    assert lengths[-1] == pytest.approx(INTERVAL / FIRST_INTERVAL, abs=1)


def test_the_first_call_of_a_station_is_no_sample() -> None:
    made = meter()
    made.enter(100)
    made.add(1, 3.0, 100, 50)
    made.close_interval()
    assert made.costs[1].selectivity == 1
    made.add(1, 2.0, 100, 25)
    made.close_interval()
    assert made.costs[1] == (0.02, 0.25)
    # Of a station that did nothing it stays what it was.
    made.close_interval()
    assert made.costs[1] == (0.02, 0.25)
    assert made.paths()[0].chart.points[1] == (2.0, 0.25)


def test_changes_of_relations_go_before_all_blocks_that_may_wait_for_them() -> None:
    session = Session()
    session.execute(
        "CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts); CREATE RELATION r (k INT)"
    )
    query = session.bind("SELECT s.k FROM s [RANGE 5], r WHERE s.k = r.k").plan
    graph = operator_graph(plans_to_run({"q": query}))
    lane = Lane(graph, rules=WorkRules(0.0, "chain"))
    entries = {number for _, number in (*graph.clocked.values(), *graph.relations.values())}
    above = graph.below(graph.results["q"]) - entries
    of_relation = {
        number
        for number in above
        if graph.relations["r"][1] in graph.below(number)
        and graph.streams["s"][1] not in graph.below(number)
    }
    assert of_relation
    lane.feed({}, {"s": BEGINNING + 9}, Allotment(0.0))
    working = lane.dispatcher
    assert working is not None
    charted = {one for path in working.meter.paths() for one in path.operators}
    assert charted == above - of_relation
