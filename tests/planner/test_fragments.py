"""Where plans without a common key are cut, and what then runs on how many lanes.

That the parts together compute what the plan does is what random queries on pipelines are for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.lane_host.deliveries import Deliveries, deliveries_for
from penstock.pipeline.bound import bound
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.lane_host.hosted_plan import HostedFragment

DECLARED = (
    "CREATE STREAM s (ts BIGINT, k INT, j INT, v BIGINT, WATERMARK FOR ts AS ts)",
    "CREATE STREAM t (ts BIGINT, k INT, j INT, d DOUBLE, WATERMARK FOR ts AS ts)",
    "CREATE RELATION r (k INT, name STRING)",
)
JOIN = "s [RANGE 10] JOIN t [RANGE 10] ON s.k = t.k"
LANES = 4


def plan_of(*queries: str) -> PipelinePlan:
    statements = [f"CREATE QUERY q{n} AS {text}" for n, text in enumerate(queries)]
    session = Session()
    for one in (*DECLARED, *statements):
        session.execute(one)
    plans = {f"q{n}": session.catalog.find(f"q{n}", "query").plan for n in range(len(queries))}  # type: ignore[attr-defined]
    groups = groups_for(plans, 0, LANES)
    return PipelinePlan((*DECLARED, *statements), tuple(groups), session=session)


def fragments(query: str) -> list[HostedFragment]:
    return list(bound(plan_of(query)).fragments.values())


def shape(query: str) -> list[tuple[int, int]]:
    """Stage and lanes of each fragment."""
    return [(one.stage, one.lanes) for one in fragments(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # A key for all of it: nothing is cut.
        (f"SELECT s.k, COUNT(*) FROM {JOIN} GROUP BY s.k", [(0, 4)]),
        # Joined by one column, grouped by another.
        (f"SELECT s.j, SUM(d) FROM {JOIN} GROUP BY s.j", [(0, 4), (1, 4)]),
        # Grouped by what only Python computes as we do.
        ("SELECT v % 7, MEDIAN(v) FROM s [RANGE 10] GROUP BY 1", [(0, 4), (1, 4)]),
        # One stream under two keys.
        ("SELECT a.v FROM s [NOW] a JOIN s [RANGE 9] b ON a.k = b.j", [(0, 4), (0, 4), (1, 4)]),
        # All rows compared in the end, but not before.
        (f"SELECT s.k, d FROM {JOIN} EMIT FINAL", [(0, 4), (1, 1)]),
        # A global aggregate, in two phases; one that needs every value has none.
        ("SELECT COUNT(*), AVG(v) FROM s [RANGE 10]", [(0, 4), (1, 1)]),
        ("SELECT AVG(d), BOOL_OR(d > 1), COUNT_IF(d > 2) FROM t [RANGE 10]", [(0, 4), (1, 1)]),
        ("SELECT SUM(d), MEDIAN(d) FROM t [RANGE 10]", [(0, 1)]),
        ("SELECT COUNT(DISTINCT d) FROM t [RANGE 10]", [(0, 4), (1, 1)]),
        (f"SELECT SUM(d) FROM {JOIN}", [(0, 4), (1, 1)]),
        # Rows that are counted are needed whole, where they come from.
        ("SELECT k, v FROM s [ROWS 5]", [(0, 1)]),
        ("SELECT s.v FROM s [ROWS 5], t [RANGE 10] WHERE s.k = t.k", [(0, 1), (0, 4), (1, 4)]),
        # Relations tell nobody of time.
        ("SELECT COUNT(*) FROM r", [(0, 1)]),
        ("SELECT DISTINCT name FROM r", [(0, 1)]),
    ],
)  # fmt: skip
def test_where_plans_are_cut(query: str, expected: list[tuple[int, int]]) -> None:
    assert shape(query) == expected


def test_what_is_sent_is_routed_by_what_the_reader_needs() -> None:
    first, second = fragments(f"SELECT s.j, SUM(d) FROM {JOIN} GROUP BY s.j")
    (name,) = second.senders
    assert second.senders[name] == first.name
    assert first.sends == name
    assert [str(key) for key in second.partitioning.routes[name].keys or ()] == ["s.j"]


def test_a_relation_waits_for_the_streams_of_other_fragments() -> None:
    query = "SELECT name, s.v FROM t [RANGE 5], r, s [RANGE 5] WHERE t.k = r.k AND s.v > t.j"
    ours = [one for one in fragments(query) if one.graph.relations]
    assert ours
    for one in ours:
        assert one.graph.beside | set(one.graph.streams) | set(one.senders) >= {"s"}


def deliveries(*queries: str, tasks: int = 2) -> Deliveries:
    return deliveries_for(bound(plan_of(*queries)), tasks)


def test_groups_with_the_same_key_share_rows() -> None:
    by_k = "SELECT k, COUNT(*) FROM s [RANGE {}] GROUP BY k"
    by_j = "SELECT j, COUNT(*) FROM s [RANGE 5] GROUP BY j"
    # Started one after the other, as groups of their own.
    plan = plan_of(by_k.format(1), by_j, by_k.format(2))
    assert [one.queries for one in plan.groups] == [("q0", "q2"), ("q1",)]
    alone = [
        replace(group.only([query]), number=int(query[1:]))
        for group in plan.groups
        for query in group.queries
    ]
    made = deliveries_for(bound(replace(plan, groups=tuple(alone))), 2)
    assert len(made.of_stream["s"]) == 2
    assert made.codes["0.0.3"] == made.codes["2.0.3"] != made.codes["1.0.3"]
    assert made.counting() == {"s": [0, 1, 2, 3]}
    assert not made.are_plain


def test_a_code_says_the_task() -> None:
    plan = bound(plan_of(f"SELECT s.v FROM {JOIN}", "SELECT k FROM s [ROWS 3]"))
    made = deliveries_for(plan, 3)
    for lane, codes in made.codes.items():
        task = next(task for task in range(3) if lane in plan.lanes_of(0, task, 3))
        assert {code % 3 for code in codes.values()} == {task}


def test_as_many_tasks_as_lanes_need_no_codes() -> None:
    assert deliveries(f"SELECT s.v FROM {JOIN}", tasks=LANES).are_plain
    assert not deliveries(f"SELECT s.v FROM {JOIN}", tasks=2).are_plain
