"""Predicates are told by what they ask of rows of a source, wherever they stand."""

from __future__ import annotations

from penstock.algebra import operators as op
from penstock.algebra.plan import Plan, different_nodes
from penstock.planner.lowering import operator_graph
from penstock.planner.optimizing import optimized
from penstock.planner.tracing import predicate_key
from penstock.session import Session

DECLARED = """
    CREATE STREAM a (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k INT, x INT, WATERMARK FOR ts AS ts);
    CREATE RELATION r (k INT, name INT);
"""


def bound(text: str) -> Plan:
    session = Session()
    for statement in DECLARED.strip().split(";")[:-1]:
        session.execute(statement)
    return session.bind(text).plan


def keys(plan: Plan) -> list[str | None]:
    """Of all filters, those below first."""
    filters = [one for one in different_nodes(plan) if isinstance(one, op.Filter)]
    return [predicate_key(one.predicate, one.child) for one in filters]


def run(text: str) -> Plan:
    return optimized({"q": bound(text)})["q"].plan


def test_a_filter_has_the_same_key_before_and_after_it_was_moved() -> None:
    plan = bound("SELECT s.d FROM (SELECT k + 1 AS d, v FROM a [RANGE 5] AS z) AS s WHERE s.d > 3")
    assert keys(plan) == ["((a.k + 1) > 3)"]
    moved = optimized({"q": plan})["q"].plan
    assert keys(moved) == keys(plan)


def test_the_parts_of_a_filter_have_their_own_keys_when_it_is_split() -> None:
    text = """SELECT a.v FROM a [RANGE 5], b [RANGE 5]
              WHERE a.k = b.k AND b.x < 3 AND a.v > 1 AND 7 = a.v + 1"""
    assert keys(bound(text)) == [None]
    assert sorted(map(str, keys(run(text)))) == ["(7 = (a.v + 1)) AND (a.v > 1)", "(b.x < 3)"]


def test_the_order_of_parts_and_of_equal_sides_does_not_matter() -> None:
    one = bound("SELECT v FROM a [NOW] WHERE v > 1 AND k = 3")
    other = bound("SELECT z.v FROM a [NOW] AS z WHERE 3 = z.k AND z.v > 1")
    assert keys(one) == keys(other) == ["(3 = a.k) AND (a.v > 1)"]


def test_columns_of_relations_are_told_too() -> None:
    assert keys(bound("SELECT name FROM r WHERE name > 3")) == ["(r.name > 3)"]


def test_a_predicate_over_aggregates_or_two_sources_has_no_key() -> None:
    assert keys(bound("SELECT k FROM a [RANGE 5] GROUP BY k HAVING COUNT(*) > 3")) == [None]
    assert keys(run("SELECT a.v FROM a [RANGE 5], b [RANGE 5] WHERE a.v + b.x > 3")) == []
    assert keys(bound("SELECT a.v FROM a [RANGE 5], b [RANGE 5] WHERE a.v + b.x > 3")) == [None]
    # A stream twice: which of its rows is meant would not be told.
    text = "SELECT s.v FROM a [RANGE 5] AS s, a [RANGE 5] AS t WHERE s.v > t.v"
    assert keys(bound(text)) == [None]


def test_nodes_of_filters_carry_key_and_parts() -> None:
    plan = run("SELECT k FROM a [RANGE 5] WHERE v > 1 AND k = 3")
    graph = operator_graph({"q": plan})
    (node,) = [one for one in graph.nodes if one.label.startswith("Filter")]
    assert node.predicate is not None
    assert node.predicate.key == "(3 = a.k) AND (a.v > 1)"
    assert {key for key, _ in node.predicate.parts} == {"(3 = a.k)", "(a.v > 1)"}
