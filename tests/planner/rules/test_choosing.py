"""What is withdrawn early is done late where that is cheaper, and early where not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import walk
from penstock.algebra.windows import Rows
from penstock.planner.conditions import conjuncts
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.building import Choices
from penstock.planner.statistics.measuring import measured
from penstock.runtime.local_run import LocalRun
from penstock.session import Session
from penstock_bench.patterns import form_of
from penstock_bench.patterns_cases import CASES, DOWN, UP

if TYPE_CHECKING:
    from penstock.algebra.patterns import Strategy
    from penstock.algebra.plan import Plan

DECLARED = """
    CREATE STREAM a (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k INT, x INT, WATERMARK FOR ts AS ts);
    CREATE STREAM c (ts BIGINT, k INT, z INT, WATERMARK FOR ts AS ts);
"""
NEGATED = """
    SELECT a.v, c.z FROM a [RANGE 10000] a JOIN c [RANGE 10] c ON a.k = c.k
    WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 100] b WHERE b.k = a.k)"""


def bound(text: str) -> Plan:
    session = Session()
    session.execute(DECLARED)
    return session.bind(text).plan


def counts_rows(plan: Plan) -> bool:
    return any(isinstance(one, st.Window) and isinstance(one.spec, Rows) for one in walk(plan))


def lowest_join(plan: Plan) -> op.Join:
    *_, lowest = (one for one in walk(plan) if isinstance(one, op.Join))
    return lowest


@pytest.mark.parametrize(("rows", "length", "is_late"), [(1000, 100, True), (10, 100_000, False)])
@pytest.mark.parametrize("order", ["ab", "ac"])
def test_the_join_with_a_window_that_counts_is_the_last_where_that_is_cheaper(
    rows: int, length: int, *, is_late: bool, order: str
) -> None:
    counted, other = f"b [ROWS {rows}] b ON a.k = b.k", f"c [RANGE {length}] c ON a.v = c.z"
    first, second = (counted, other) if order == "ab" else (other, counted)
    text = f"SELECT a.v, b.x, c.z FROM a [RANGE 100] a JOIN {first} JOIN {second}"
    plan = plans_to_run({"q": bound(text)})["q"]
    assert counts_rows(plan)
    assert counts_rows(lowest_join(plan)) is not is_late


@pytest.mark.parametrize("third", ["a.k = c.k", "b.k = c.k", "a.k = c.k AND b.k = c.k"])
@pytest.mark.parametrize("small", ["ab", "ac", "bc"])
def test_the_order_of_joins_does_not_depend_on_which_equalities_are_written(
    third: str, small: str
) -> None:
    a, b, c = (f"{one} [RANGE {10 if one in small else 1000}] {one}" for one in "abc")
    text = f"SELECT a.v, b.x, c.z FROM {a}, {b}, {c} WHERE a.k = b.k AND {third}"
    plan = plans_to_run({"q": bound(text)}, choices=Choices(joins="tree"))["q"]
    read = {one.name for one in walk(lowest_join(plan)) if isinstance(one, st.Stream)}
    assert read == set(small)
    (outer, inner) = (one for one in walk(plan) if isinstance(one, op.Join))
    assert len(conjuncts(inner.condition)) == 1
    if small != "ab":
        assert len(conjuncts(outer.condition)) == 1


@pytest.mark.parametrize(("name", "expected"), [("q4_many", UP), ("q4_few", DOWN)])
def test_a_negation_is_pulled_up_or_pushed_down_by_what_was_measured(
    name: str, expected: str
) -> None:
    (case,) = [one for one in CASES if one.name == name]
    window = 1000
    running = LocalRun({"q": case.plan(DOWN, window)})
    running.feed(case.traffic(window).packets(4 * window, case.links).streams)
    known = measured([lane.reports() for lane in running.lanes.lanes])
    for form in (UP, DOWN):
        assert form_of(plans_to_run({"q": case.plan(form, window)}, known)["q"]) == expected


@pytest.mark.parametrize(("strategy", "expected"), [("upa", UP), ("negative", DOWN)])
def test_the_strategy_counts(strategy: Strategy, expected: str) -> None:
    """With negative rows for all ends, a join above a negation withdraws no more than others."""
    plan = bound(NEGATED)
    assert form_of(plans_to_run({"q": plan}, choices=Choices(strategy))["q"]) == expected
    labels = [one.label for one in LocalRun({"q": plan}, choices=Choices(strategy)).graph.nodes]
    joins = [one.split()[0] for one in labels if one.startswith(("Join", "AntiJoin"))]
    assert joins == (["Join", "AntiJoin"] if expected == UP else ["AntiJoin", "Join"])
