"""Where DISTINCT, EXISTS and EXCEPT stand: by cost, whichever way a query is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.algebra import operators as op
from penstock.algebra.plan import walk
from penstock.planner.cost.costs import Cost
from penstock.planner.optimizing import optimized
from penstock.planner.physical.building import Choices
from penstock.planner.physical.pricing import Pricing
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan

DECLARED = """
    CREATE STREAM a (at TIMESTAMP, k INT, v INT, f BOOLEAN, WATERMARK FOR at AS at);
    CREATE STREAM b (at TIMESTAMP, k INT, x INT, h BOOLEAN, WATERMARK FOR at AS at);
    CREATE STREAM c (at TIMESTAMP, k INT, z INT, WATERMARK FOR at AS at);
"""
RARE = "EXISTS (SELECT 1 FROM b [NOW] WHERE b.k = a.k AND b.x = 3)"
NO_RECENT = "NOT EXISTS (SELECT 1 FROM c [RANGE 1 SECOND] WHERE c.k = a.k)"


def plan_of(text: str, choices: Choices | None = None) -> Plan:
    session = Session()
    session.execute(DECLARED)
    return optimized({"q": session.bind(text).plan}, choices=choices)["q"].plan


def cost_of(plan: Plan) -> Cost:
    return Pricing(Choices()).two_by_two(plan)


def kinds_in(plan: Plan) -> list[str]:
    """What stands on what, from the top, on the left-most way down."""
    shown = (op.Distinct, op.Join, op.Product, op.SemiJoin, op.AntiJoin, op.Difference)
    found = []
    while plan.children:
        found += [type(plan).__name__] if isinstance(plan, shown) else []
        plan = plan.children[0]
    return found


def test_distinct_of_a_product_costs_what_it_would_if_written_in_subqueries() -> None:
    whole = plan_of("SELECT DISTINCT a.f, b.h FROM a [RANGE 1 HOUR] a, b [RANGE 1 HOUR] b")
    inside = plan_of("""
        SELECT a.f, b.h FROM (SELECT DISTINCT f FROM a [RANGE 1 HOUR]) AS a,
            (SELECT DISTINCT h FROM b [RANGE 1 HOUR]) AS b""")
    assert kinds_in(whole) == ["Product", "Distinct"]
    assert cost_of(whole).time == pytest.approx(cost_of(inside).time, rel=0.01)


def test_distinct_stays_above_a_join_by_columns_that_are_not_shown() -> None:
    join = "a [RANGE 1 HOUR] a JOIN b [RANGE 1 HOUR] b ON a.k = b.k"
    assert kinds_in(plan_of(f"SELECT DISTINCT a.f, b.h FROM {join}")) == [
        "Distinct",
        "Join",
        "Distinct",
    ]
    assert kinds_in(plan_of(f"SELECT DISTINCT a.k, a.f, b.k, b.h FROM {join}")) == [
        "Join",
        "Distinct",
    ]


def test_distinct_of_few_pairs_is_taken_of_these() -> None:
    join = "a [RANGE 1 HOUR] a JOIN b [NOW] b ON a.v = b.x AND a.k = b.k"
    assert kinds_in(plan_of(f"SELECT DISTINCT a.v, b.x, a.at FROM {join}")) == ["Distinct", "Join"]


@pytest.mark.parametrize("asked", [(RARE, NO_RECENT), (NO_RECENT, RARE)])
def test_what_drops_most_is_asked_first(asked: tuple[str, str]) -> None:
    plan = plan_of(f"SELECT v FROM a [RANGE 1 HOUR] WHERE {' AND '.join(asked)}")
    assert kinds_in(plan) == ["AntiJoin", "SemiJoin"]


@pytest.mark.parametrize("word", ["EXISTS", "NOT EXISTS"])
def test_few_different_rows_look_for_others_once(word: str) -> None:
    text = f"FROM a [RANGE 1 HOUR] WHERE {word} (SELECT 1 FROM b [RANGE 1 MINUTE] WHERE b.k = a.k)"
    kind = "AntiJoin" if word.startswith("NOT") else "SemiJoin"
    assert kinds_in(plan_of(f"SELECT DISTINCT k {text}")) == [kind, "Distinct"]
    assert kinds_in(plan_of(f"SELECT DISTINCT f {text}")) == ["Distinct", kind, "Distinct"]


def test_of_rows_that_are_mostly_dropped_the_rest_is_made_different() -> None:
    rows = "(SELECT DISTINCT at, k, v FROM a [RANGE 1 HOUR])"
    match = "EXISTS (SELECT 1 FROM b [NOW] WHERE b.k = a.k AND b.x = a.v AND b.h)"
    assert kinds_in(plan_of(f"SELECT v FROM {rows} AS a WHERE {match}")) == ["Distinct", "SemiJoin"]


def test_exists_is_asked_before_or_after_a_join_by_cost() -> None:
    within = "SELECT v, k FROM a [RANGE 1 HOUR] WHERE {}"
    often = within.format("v IN (SELECT x FROM b [RANGE 1 SECOND])")
    few = "SELECT s.v, c.z FROM ({}) AS s JOIN c [NOW] c ON s.k = c.k AND c.z = 3"
    assert kinds_in(plan_of(few.format(often))) == ["SemiJoin", "Join"]
    many = f"""
        SELECT a.v, c.z FROM a [RANGE 1 MINUTE] a JOIN c [RANGE 1 MINUTE] c ON a.k = c.k
        WHERE {RARE}"""
    assert kinds_in(plan_of(many)) == ["Join", "SemiJoin"]


def test_except_is_asked_after_a_join_that_leaves_few_rows() -> None:
    rows = "SELECT v, k FROM a [RANGE 1 HOUR] EXCEPT SELECT x, k FROM b [RANGE 1 MINUTE]"
    few = f"SELECT s.v, c.z FROM ({rows}) AS s JOIN c [NOW] c ON s.k = c.k AND c.z = 3"
    assert kinds_in(plan_of(few)) == ["AntiJoin", "Join", "Distinct"]
    alone = f"SELECT s.v FROM ({rows}) AS s"
    assert kinds_in(plan_of(alone)) == ["Difference", "Distinct"]


def test_a_semi_join_is_introduced_where_it_is_cheaper() -> None:
    pairs = "SELECT DISTINCT a.v FROM a [{0}] a JOIN b [{0}] b ON a.k = b.k"
    assert kinds_in(plan_of(pairs.format("NOW"))) == ["Distinct", "Join"]
    assert "SemiJoin" in kinds_in(plan_of(pairs.format("RANGE 1 MINUTE")))


def test_a_semi_join_does_not_prevent_a_cheaper_join_of_many_windows() -> None:
    text = """
        SELECT DISTINCT a.v FROM a [RANGE 1 SECOND] a JOIN b [RANGE 10 SECONDS] b ON a.k = b.k
        JOIN c [RANGE 1 SECOND] c ON b.x = c.k"""
    assert not any(isinstance(one, op.SemiJoin) for one in walk(plan_of(text)))
    assert any(isinstance(one, op.SemiJoin) for one in walk(plan_of(text, Choices(joins="tree"))))


def test_what_exists_looks_into_becomes_a_semi_join_as_well() -> None:
    plan = plan_of("""
        SELECT z FROM c [RANGE 1 MINUTE] WHERE EXISTS (
            SELECT 1 FROM b [RANGE 1 MINUTE] b JOIN a [RANGE 1 MINUTE] a ON a.k = b.k
            WHERE b.x = c.k)""")
    assert [type(one).__name__ for one in walk(plan) if isinstance(one, op.Join)] == []


def test_memory_counts() -> None:
    """Of costs that take as long, and of a tenth less time for a hundred times the state."""
    small, large = Cost(1.0, size=1e7), Cost(0.9, size=1e9)
    assert small.weighed < large.weighed
    assert Cost(1.0, size=40.0).weighed == Cost(1.0, size=4000.0).weighed
