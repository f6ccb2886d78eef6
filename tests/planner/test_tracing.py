"""Predicates are told by what they ask of rows of sources, wherever they stand."""

from __future__ import annotations

from penstock.algebra import operators as op
from penstock.algebra.plan import Plan, different_nodes
from penstock.lane_host.routable_keys import is_routable
from penstock.planner.conditions import join_condition
from penstock.planner.optimizing import optimized
from penstock.planner.partition.fragments import fragments_of
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.statistics.tracing import predicate_key, residual_over
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
    (whole,) = keys(bound(text))
    assert whole is not None
    assert whole.split(" AND ")[1] == "(a [RANGE 5].k = b [RANGE 5].k)"
    assert sorted(map(str, keys(run(text)))) == ["(7 = (a.v + 1)) AND (a.v > 1)", "(b.x < 3)"]


def test_the_order_of_parts_and_of_equal_sides_does_not_matter() -> None:
    one = bound("SELECT v FROM a [NOW] WHERE v > 1 AND k = 3")
    other = bound("SELECT z.v FROM a [NOW] AS z WHERE 3 = z.k AND z.v > 1")
    assert keys(one) == keys(other) == ["(3 = a.k) AND (a.v > 1)"]


def test_columns_of_relations_are_told_too() -> None:
    assert keys(bound("SELECT name FROM r WHERE name > 3")) == ["(r.name > 3)"]


def joins(plan: Plan) -> list[str | None]:
    """What joins and their like ask for beyond equal keys."""
    found = [one for one in different_nodes(plan) if isinstance(one, op.Join | op.SemiJoin)]
    asked = [(join_condition(condition_of(one), len(one.left.schema)), one) for one in found]
    rest = [(residual_over(condition, one), one) for condition, one in asked]
    return [predicate_key(one, over) for one, over in rest if one is not None]


def test_a_condition_on_two_sources_tells_their_windows() -> None:
    text = "SELECT a.v FROM a [RANGE 5], b [NOW] WHERE a.k = b.k AND a.v + b.x > 3"
    key = "((a [RANGE 5].v + b [NOW].x) > 3)"
    assert keys(bound(text))[0] == f"{key} AND (a [RANGE 5].k = b [NOW].k)"
    assert joins(run(text)) == [key]
    exists = """SELECT z.v FROM a [RANGE 5] AS z
                WHERE EXISTS (SELECT * FROM b [NOW] WHERE b.k = z.k AND z.v + b.x > 3)"""
    assert joins(run(exists)) == [key]
    # A stream twice: windows tell which is meant, if they differ.
    twice = "SELECT s.v FROM a [RANGE 5] AS s, a [RANGE 9] AS t WHERE s.v > t.v"
    assert joins(run(twice)) == ["(a [RANGE 5].v > a [RANGE 9].v)"]


def test_a_condition_on_an_aggregate_tells_its_rows() -> None:
    text = "SELECT k FROM a [RANGE 5] WHERE v > 1 GROUP BY k HAVING SUM(v) > 3"
    rows = "a [RANGE 5] WHERE (a.v > 1) GROUP BY a.k"
    key = f"((SELECT SUM(a.v) FROM {rows}) > 3)"
    assert key in keys(bound(text))
    assert key in keys(run(text))
    longer = text.replace("RANGE 5", "RANGE 6")
    assert not set(filter(None, keys(bound(longer)))) & {key}


def test_the_order_of_joins_below_an_aggregate_does_not_matter() -> None:
    one, other = (
        f"""SELECT COUNT(*) AS n FROM {tables} WHERE a.k = b.k AND b.x < r.name AND a.v > 1
            GROUP BY a.k HAVING COUNT(*) > 3"""
        for tables in ("a [NOW], b [RANGE 7], r", "r, b [RANGE 7], a [NOW]")
    )
    found = [[key for key in keys(run(text)) if "SELECT" in str(key)] for text in (one, other)]
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_a_condition_above_subqueries_and_unions_tells_what_they_read() -> None:
    scalar = "SELECT v FROM a [NOW] WHERE v > (SELECT MAX(x) FROM b [NOW])"
    key = "(a [NOW].v > (SELECT MAX(b [NOW].x) FROM b [NOW]))"
    assert keys(run(scalar)) == [key.replace("b [NOW].x", "b.x")]
    beside = "SELECT v FROM a [NOW] WHERE v > (SELECT MAX(x) FROM b [NOW] WHERE b.k = a.k)"
    assert keys(run(beside)) == [f"{key[:-2]} ON (a [NOW].k = b [NOW].k)))"]
    outer = """SELECT v FROM a [NOW] LEFT JOIN b [NOW] ON a.k = b.k
               WHERE b.x IS NULL OR b.x > a.v"""
    padded = "(NULL UNION b [NOW].x)"
    assert keys(run(outer)) == [f"(({padded} IS NULL) OR ({padded} > a [NOW].v))"]


def test_cutting_a_plan_into_fragments_changes_no_key() -> None:
    text = "SELECT COUNT(*) AS n FROM a [RANGE 5] HAVING COUNT(*) > 3"
    parts = fragments_of("q", run(text), Choices(), is_routable)
    assert len(parts) == 2
    found = [one.predicate.key for part in parts for one in part.graph.nodes if one.predicate]
    assert found == ["((SELECT COUNT(*) FROM a [RANGE 5]) > 3)"]


def test_nodes_of_filters_carry_key_and_parts() -> None:
    plan = run("SELECT k FROM a [RANGE 5] WHERE v > 1 AND k = 3")
    graph = operator_graph({"q": plan})
    (node,) = [one for one in graph.nodes if one.label.startswith("Filter")]
    assert node.predicate is not None
    assert node.predicate.key == "(3 = a.k) AND (a.v > 1)"
    assert {key for key, _ in node.predicate.parts} == {"(3 = a.k)", "(a.v > 1)"}
