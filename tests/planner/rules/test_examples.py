"""For each rule a query that it changes, and what it must leave alone."""

from __future__ import annotations

import random
import re

import pytest

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import Plan, different_nodes
from penstock.algebra.text import plan_text
from penstock.builder import QueryBuilder, stream
from penstock.planner.explain.explain import Explaining, described_rules
from penstock.planner.optimizing import optimized
from penstock.planner.rewriting import Rewriting, alternatives
from penstock.planner.rules.rule_list import ALWAYS, BY_COST
from penstock.reference.inputs import Inputs, RelationHistory
from penstock.session import Session
from penstock.testing.engines import OracleEngine, Question
from penstock.testing.inline import InlineEngine
from penstock_fuzz.check import compare_answers, tolerance_for

DECLARED = """
    CREATE STREAM a (ts BIGINT, k INT, v INT, w INT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k INT, x INT, y INT, WATERMARK FOR ts AS ts);
    CREATE STREAM c (ts BIGINT, k INT, z INT, WATERMARK FOR ts AS ts);
    CREATE RELATION r (k INT, name INT);
    CREATE NONRETROACTIVE RELATION n (k INT, name INT);
"""

EXAMPLES = {
    "fold-constants": "SELECT v FROM a [RANGE 5] WHERE v < 2 + 1",
    "true-filter": "SELECT v FROM a [RANGE 5] WHERE 1 < 2",
    "contradiction": "SELECT v FROM a [RANGE 5] WHERE v > 3 AND v < 2",
    "duplicate-conditions": "SELECT v FROM a [RANGE 5] WHERE v > 1 AND k > 1 AND v > 1",
    "simplify-outer-join": """
        SELECT a.v, b.x FROM a [RANGE 5] a LEFT JOIN b [RANGE 5] b ON a.k = b.k WHERE b.x > 1""",
    "intersect-conditions": "SELECT k FROM a [RANGE 5] WHERE v IN (1, 2, 3) AND v > 1",
    "outer-join-to-negation": """
        SELECT a.v FROM a [RANGE 5] a LEFT JOIN b [RANGE 5] b ON a.k = b.k WHERE b.k IS NULL""",
    "merge-filters": """
        SELECT v FROM (SELECT v, k FROM a [RANGE 5] WHERE v > 1) AS s WHERE s.k < 3""",
    "product-to-join": "SELECT a.v, b.x FROM a [RANGE 5] a, b [RANGE 5] b WHERE a.k = b.k",
    "transitive-conditions": """
        SELECT a.v, b.x FROM a [RANGE 5] a, b [RANGE 5] b WHERE a.k = b.k AND a.k = 1""",
    "filter-below-map": "SELECT d FROM (SELECT k AS d FROM a [RANGE 5]) AS s WHERE d > 1",
    "rename-is-map": "SELECT s.v FROM a [RANGE 5] AS s",
    "map-above-join": """
        SELECT s.v, c.z FROM (
            SELECT a.v, a.k AS j FROM a [RANGE 5] a JOIN b [RANGE 3] b ON a.k = b.k
        ) AS s JOIN c [RANGE 4] c ON s.j = c.k""",
    "map-into-aggregate": """
        SELECT SUM(d) AS n FROM (
            SELECT a.v AS d FROM a [RANGE 5] a JOIN b [RANGE 3] b ON a.k = b.k
        ) AS s""",
    "filter-below-union": """
        SELECT k FROM (SELECT k FROM a [RANGE 5] UNION ALL SELECT k FROM b [RANGE 3]) AS s
        WHERE k > 1""",
    "filter-below-outer-join": """
        SELECT a.v, b.x FROM a [RANGE 5] a LEFT JOIN b [RANGE 5] b ON a.k = b.k WHERE a.v > 1""",
    "filter-below-join": """
        SELECT a.v, b.x FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k WHERE a.v > 1""",
    "filter-below-exists": """
        SELECT v FROM (
            SELECT v, k FROM a [RANGE 5] WHERE EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.k = a.k)
        ) AS s WHERE v > 1""",
    "filter-below-arrival": """
        SELECT a.v, n.name FROM a [RANGE 5] a JOIN n ON a.k = n.k WHERE a.v > 1""",
    "filter-below-distinct": "SELECT k FROM (SELECT DISTINCT k FROM a [RANGE 5]) AS s WHERE k > 1",
    "filter-below-set-operation": """
        SELECT k FROM (SELECT k FROM a [RANGE 5] EXCEPT ALL SELECT k FROM b [RANGE 3]) AS s
        WHERE k > 1""",
    "filter-below-aggregate": """
        SELECT k, COUNT(*) AS n FROM a [RANGE 5] GROUP BY k HAVING k > 1 AND COUNT(*) > 1""",
    "filter-below-window": "SELECT v FROM a [RANGE 5] WHERE v > 1",
    "condition-below-join": """
        SELECT a.v, b.x FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k AND b.x > 1""",
    "empty-branch": """
        SELECT k FROM a [RANGE 5] UNION ALL SELECT v FROM a [RANGE 3] WHERE v > 3 AND v < 2""",
    "merge-maps": "SELECT d AS e FROM (SELECT k AS d, v FROM a [RANGE 5]) AS s",
    "map-below-window": "SELECT v FROM a [ROWS 3]",
    "flatten-unions": """
        SELECT k FROM a [RANGE 5] UNION ALL
        (SELECT k FROM b [RANGE 3] UNION ALL SELECT k FROM c [RANGE 2])""",
    "redundant-distinct": "SELECT DISTINCT k, COUNT(*) AS n FROM a [RANGE 5] GROUP BY k",
    "absorbed-distinct": """
        SELECT DISTINCT k FROM (
            SELECT DISTINCT k, v FROM a [RANGE 5] UNION ALL SELECT k, x FROM b [RANGE 3]
        ) AS s""",
    "distinct-below-exists": """
        SELECT v FROM a [RANGE 5]
        WHERE EXISTS (SELECT 1 FROM (SELECT DISTINCT k FROM b [RANGE 3]) AS t WHERE t.k = a.k)""",
    "distinct-below-extremes": """
        SELECT MAX(v) AS top FROM (SELECT DISTINCT v, k FROM a [RANGE 5]) AS s""",
    "distinct-aggregates": """
        SELECT k, COUNT(DISTINCT v) AS n, SUM(DISTINCT v) AS s FROM a [RANGE 5] GROUP BY k""",
    "introduce-semi-join": """
        SELECT DISTINCT a.v FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k""",
    "prune-columns": "SELECT a.v FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k",
    "common-subplans": """
        SELECT a.v FROM a [RANGE 5] a, (SELECT k FROM a [RANGE 5]) AS s WHERE a.k = s.k""",
    "join-below-union": """
        SELECT s.k, c.z FROM (SELECT k FROM a [RANGE 5] UNION ALL SELECT k FROM b [RANGE 3]) AS s
        JOIN c [RANGE 4] c ON s.k = c.k""",
    "commute-join": """
        SELECT a.v, b.x FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k UNION ALL
        SELECT p.v, q.x FROM b [RANGE 5] q JOIN a [RANGE 5] p ON q.k = p.k WHERE p.v > 1""",
    "associate-join": """
        SELECT a.v, b.x, c.z FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k
        JOIN c [RANGE 5] c ON b.k = c.k""",
    "exchange-join": """
        SELECT a.v, b.x, c.z FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k
        JOIN c [RANGE 5] c ON a.v = c.k""",
    "pull-up-negation": """
        SELECT s.v, c.z FROM (
            SELECT v, k FROM a [RANGE 5]
            WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.k = a.k)
        ) AS s JOIN c [RANGE 4] c ON s.k = c.k""",
    "push-down-negation": """
        SELECT a.v, c.z FROM a [RANGE 5] a JOIN c [RANGE 4] c ON a.k = c.k
        WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.k = a.k)""",
    "pull-up-exists": """
        SELECT s.v, c.z FROM (
            SELECT v, k FROM a [RANGE 5] WHERE k IN (SELECT k FROM b [RANGE 3])
        ) AS s JOIN c [RANGE 4] c ON s.k = c.k""",
    "push-down-exists": """
        SELECT a.v, c.z FROM a [RANGE 5] a JOIN c [RANGE 4] c ON a.k = c.k
        WHERE EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.k = a.k)""",
    "pull-up-except": """
        SELECT s.v, c.z FROM (
            SELECT v, k FROM a [RANGE 5] EXCEPT SELECT x, k FROM b [RANGE 3]
        ) AS s JOIN c [RANGE 4] c ON s.k = c.k""",
    "exchange-exists": """
        SELECT v FROM a [RANGE 5] WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.k = a.k)
        AND EXISTS (SELECT 1 FROM c [RANGE 4] WHERE c.z = a.v)""",
    "distinct-below-product": """
        SELECT DISTINCT a.v, b.x FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k""",
    "distinct-before-exists": """
        SELECT DISTINCT v FROM a [RANGE 5]
        WHERE NOT EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.x = a.v)""",
    "distinct-after-exists": """
        SELECT v FROM (SELECT DISTINCT k, v FROM a [RANGE 5]) AS s
        WHERE EXISTS (SELECT 1 FROM b [RANGE 3] WHERE b.k = s.k)""",
}
"""Queries in which the rule of that name fires."""


def session() -> Session:
    made = Session()
    made.execute(DECLARED)
    return made


def rows(seed: int, columns: int) -> list[tuple[int, ...]]:
    draw = random.Random(seed)
    times = sorted(draw.randrange(30) for _ in range(40))
    return [(at, *(draw.randrange(4) for _ in range(columns))) for at in times]


def inputs() -> Inputs:
    history = RelationHistory(initial=[(k, k * 2) for k in range(3)])
    return Inputs({"a": rows(1, 3), "b": rows(2, 3), "c": rows(3, 2)}, {"r": history, "n": history})


def assert_same(plan: Plan, made: Plan) -> None:
    given = inputs()
    first, second = (OracleEngine().evaluated(one, given) for one in (plan, made))
    assert compare_answers(plan, first, second, tolerance_for(plan, given)) is None


def rewritten(rule: str, plan: Plan) -> Plan:
    """The plan after the rule, alone if it is one that cost decides on."""
    by_cost = [one for one in BY_COST if one.name == rule]
    if not by_cost:
        found = optimized({"q": plan})["q"]
        assert rule in found.fired
        return found.plan
    plan = Rewriting(ALWAYS).rewritten(plan)
    return next(made for name, made in alternatives(plan, by_cost) if name == rule)


@pytest.mark.parametrize("rule", EXAMPLES)
def test_the_rule_fires_and_the_answer_stays(rule: str) -> None:
    plan = session().bind(EXAMPLES[rule]).plan
    made = rewritten(rule, plan)
    assert made.schema == plan.schema
    assert_same(plan, made)


CARS = stream("a", "ts BIGINT, k INT, v INT, w INT", time="ts")
OTHERS = stream("b", "ts BIGINT, k INT, x INT, y INT", time="ts").select("x", "y").range(3)
BUILT = {
    "identity-map": CARS.range(5).select("ts", "k", "v", "w"),
    "group-below-window": CARS.range(5).group_into("k", 4)[1],
    "filter-below-group": CARS.group_into("k", 4)[1].where("v > 1").range(5),
    "filter-below-cut": CARS.range(5).coalesce().where("v > 1"),
    "cut-above-map": CARS.range(5).coalesce().select("k", "v"),
    "merge-cuts": CARS.range(5).split(4).split(2),
    "drop-cuts": CARS.range(5).split(2).distinct(),
}
"""The same for what no query text says."""


@pytest.mark.parametrize("rule", BUILT)
def test_the_rule_fires_on_what_is_built(rule: str) -> None:
    plan = BUILT[rule].plan
    made = rewritten(rule, plan)
    assert made.schema == plan.schema
    assert_same(plan, made)


def test_every_rule_has_an_example() -> None:
    names = [name for name, _ in described_rules()]
    assert set(names) == {*EXAMPLES, *BUILT}
    assert len(names) == len(set(names)) >= 25


def built_as(query: QueryBuilder) -> str:
    return plan_text(optimized({"q": query.plan})["q"].plan)


def test_a_cut_is_dropped_below_a_join_wherever_it_stood() -> None:
    cut = CARS.range(5).coalesce().where("v > 1").alias("a").select("a.k", "a.v")
    assert "Coalesce" not in built_as(cut.join(OTHERS, "k = x"))
    assert "Coalesce" in built_as(cut)


def test_a_split_by_the_shorter_length_is_enough_if_it_divides_the_longer() -> None:
    assert built_as(CARS.range(9).split(2).split(6)).count("Split 2") == 1
    assert "Split 6" not in built_as(CARS.range(9).split(2).split(6))
    assert built_as(CARS.range(9).split(4).split(6)).count("Split") == 2


def runs_as(query: str) -> str:
    return plan_text(optimized({"q": session().bind(query).plan})["q"].plan)


@pytest.mark.parametrize(
    "condition",
    [
        "v = 5 AND v <> 5",
        "v IN (1, 2) AND v = 3",
        "v IN (1, 2, 9) AND v > 2 AND v < 9",
        "v > 5 AND v < 3",
        "v > 5 AND v < 6",
        "v NOT IN (1, 2) AND (v = 1 OR v = 2)",
        "v IS NULL AND v = 1",
        "v IS NULL AND v IN (1, 2)",
        "NOT (v <= 3) AND v BETWEEN 1 AND 3",
        "v NOT IN (1, NULL)",
        "v = NULL",
    ],
)
def test_what_cannot_be_lets_nothing_pass(condition: str) -> None:
    assert "Filter FALSE" in runs_as(f"SELECT k FROM a [RANGE 5] WHERE {condition}")


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("v IN (1, 2, 3) AND v > 1", "v IN (2, 3)"),
        ("v IN (1, 2) AND v IN (2, 3)", "v = 2"),
        ("v > 3 AND v > 5 AND v <> 4", "v > 5"),
        ("v >= 3 AND v <= 3", "v = 3"),
        ("v <> 5 AND v IN (4, 5)", "v = 4"),
        ("NOT (v > 3) AND v <= 7", "NOT (v > 3)"),
    ],
)
def test_conditions_on_one_value_are_one_condition(condition: str, left: str) -> None:
    assert f"Filter {left}\n" in runs_as(f"SELECT k FROM a [RANGE 5] WHERE {condition}")


@pytest.mark.parametrize(
    ("text", "joins"),
    [
        ("a LEFT JOIN b [RANGE 5] b ON a.k = b.k WHERE b.k IS NULL", "AntiJoin a.k = b.k"),
        ("a RIGHT JOIN b [RANGE 5] b ON a.k = b.k WHERE a.k IS NULL", "AntiJoin a.k = b.k"),
        ("a LEFT JOIN b [RANGE 5] b ON a.k = b.k WHERE b.ts IS NULL AND a.v > 1", "AntiJoin"),
        ("a LEFT JOIN b [RANGE 5] b ON a.k = b.k AND b.x > 2 WHERE b.x IS NULL", "AntiJoin"),
        ("a LEFT JOIN (SELECT k, 1 AS x FROM b [RANGE 5]) b ON a.k = b.k WHERE b.x IS NULL", "Ant"),
        ("a FULL JOIN b [RANGE 5] b ON a.k = b.k WHERE a.k IS NULL OR b.k IS NULL", "AntiJoin"),
    ],
)
def test_pairs_that_no_row_passes_with_are_not_made(text: str, joins: str) -> None:
    found = runs_as(f"SELECT a.v, b.x FROM a [RANGE 5] {text}")
    assert joins in found
    assert " Join " not in found


def test_pairs_whose_columns_may_be_null_are_made() -> None:
    text = "a [RANGE 5] a LEFT JOIN b [RANGE 5] b ON a.k = b.k WHERE b.x IS NULL"
    assert " Join " in runs_as(f"SELECT a.v, b.x FROM {text}")


def test_filters_stay_above_windows_that_count() -> None:
    assert runs_as("SELECT v FROM a [ROWS 3] WHERE v > 1").splitlines() == [
        "Map v = a.v",
        "  Filter a.v > 1",
        "    Window [ROWS 3]",
        "      Map a.v = v",
        "        Stream a (ts BIGINT, k INT, v INT, w INT)",
    ]


def test_filters_stay_above_windows_whose_instants_matter() -> None:
    text = runs_as("RSTREAM(SELECT v FROM a [RANGE 3] WHERE v > 1)")
    assert text.index("Filter") < text.index("Window")
    text = runs_as("ISTREAM(SELECT v FROM a [RANGE 3] WHERE v > 1)")
    assert text.index("Filter") > text.index("Window")


def test_conditions_that_may_fail_stay_where_they_are_asked() -> None:
    text = runs_as("SELECT v FROM (SELECT v, k FROM a [RANGE 3] WHERE v <> 0) AS s WHERE 8 / v > 2")
    assert text.count("Filter") == 2


@pytest.mark.parametrize(
    "over",
    [
        "SELECT k FROM a [RANGE 3] UNION ALL {}",
        "SELECT k FROM a [RANGE 3] EXCEPT {}",
        "SELECT k FROM a [RANGE 3] EXCEPT ALL {}",
        "SELECT k FROM a [RANGE 3] WHERE NOT EXISTS (SELECT 1 FROM ({}) AS s WHERE s.k = a.k)",
    ],
)
def test_a_branch_that_nothing_else_reads_stays_for_its_clock(over: str) -> None:
    for stream_read, stays in (("a", False), ("b", True)):
        empty = f"SELECT k FROM {stream_read} [RANGE 7] WHERE k > 3 AND k < 2"
        assert ("[RANGE 7]" in runs_as(over.format(empty))) is stays


def test_cuts_below_internal_windows_let_nothing_in_twice() -> None:
    """The oracle, to which cuts are nothing, and a lane, which has let in every piece."""
    cut = CARS.range(4).split(2)
    for query in (cut, cut.select("k"), CARS.range(4).select("k").coalesce()):
        plan, given = query.internal().plan, inputs()
        expected = OracleEngine().evaluated(plan, given)
        found = InlineEngine().answer(Question(plan, given, (), ""))
        assert compare_answers(plan, expected, found, tolerance_for(plan, given)) is None


def test_what_queries_share_stays_one() -> None:
    join = "FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k"
    texts = {
        "high": f"SELECT a.v {join} WHERE a.w > 2",
        "low": f"SELECT b.x {join} WHERE a.w < 1",
    }
    plans = {name: session().bind(text).plan for name, text in texts.items()}
    made = optimized(plans)
    joins = [
        node
        for one in made.values()
        for node in different_nodes(one.plan)
        if isinstance(node, op.Join)
    ]
    assert len(joins) == 2
    assert joins[0] is joins[1]
    assert joins[0].schema.names == ("a.k", "a.v", "a.w", "b.k", "b.x")
    for name, one in made.items():
        assert_same(plans[name], one.plan)


def joins_in(plan: Plan) -> set[int]:
    """The joins of a plan, as objects."""
    return {id(node) for node in different_nodes(plan) if isinstance(node, op.Join)}


FIRST = "SELECT a.v, b.x FROM a [RANGE 5] a JOIN b [RANGE 9] b ON a.k = b.k AND a.v < b.x"


@pytest.mark.parametrize(
    "second",
    [
        "SELECT a.v, b.x FROM b [RANGE 9] b JOIN a [RANGE 5] a ON b.x > a.v AND b.k = a.k",
        """SELECT p.w, q.x FROM b [RANGE 9] q JOIN a [RANGE 5] p ON q.k = p.k AND p.v < q.x
           WHERE p.v = 2""",
        "SELECT p.w FROM b [RANGE 9] q, a [RANGE 5] p WHERE q.k = p.k AND p.v < q.x AND p.w > 1",
        """SELECT p.k, COUNT(*) AS n FROM a [RANGE 5] p JOIN b [RANGE 9] q ON p.k = q.k
           AND p.v < q.x GROUP BY p.k""",
        """SELECT p.v, c.z FROM b [RANGE 9] q JOIN a [RANGE 5] p ON q.k = p.k AND p.v < q.x
           JOIN c [RANGE 3] c ON c.k = p.w""",
    ],
)
def test_a_join_the_other_way_round_is_the_same_join(second: str) -> None:
    texts = {"one": FIRST, "two": second}
    if "FROM b [RANGE 9] q, a" in second:
        # Of products, equalities become the join's; the rest is a filter above.
        texts["one"] = FIRST.partition(" AND")[0]
    plans = {name: session().bind(text).plan for name, text in texts.items()}
    for order in (plans, dict(reversed(plans.items()))):
        assert "shared with two" in Explaining(order).text("one")
        made = optimized(order)
        first, second_joins = (joins_in(made[name].plan) for name in texts)
        assert len(first) == 1
        assert first <= second_joins
        for name, one in made.items():
            assert_same(plans[name], one.plan)


@pytest.mark.parametrize(
    "second",
    [
        "SELECT a.v, b.x FROM b [RANGE 9] b JOIN a [RANGE 5] a ON b.k = a.v AND a.v < b.x",
        "SELECT a.v, b.x FROM b [RANGE 9] b JOIN a [RANGE 5] a ON b.k = a.k AND a.v > b.x",
        "SELECT a.v, b.x FROM b [RANGE 5] b JOIN a [RANGE 9] a ON b.k = a.k AND a.v < b.x",
    ],
)
def test_joins_that_ask_for_something_else_stay_apart(second: str) -> None:
    plans = {name: session().bind(text).plan for name, text in (("one", FIRST), ("two", second))}
    made = optimized(plans)
    assert not re.search(r"Join .* shared with two", Explaining(plans).text("one"))
    assert all("commute-join" not in one.fired for one in made.values())


def test_a_join_with_itself_is_one_whichever_side_is_named_first() -> None:
    texts = {
        "one": "SELECT p.w, q.w AS u FROM a [RANGE 5] p JOIN a [RANGE 5] q ON p.k = q.v",
        "two": "SELECT p.w, q.w AS u FROM a [RANGE 5] p JOIN a [RANGE 5] q ON p.v = q.k",
    }
    plans = {name: session().bind(text).plan for name, text in texts.items()}
    assert re.search(r"Join .* shared with two", Explaining(plans).text("one"))
    for name, one in optimized(plans).items():
        assert_same(plans[name], one.plan)


def test_outer_joins_stay_in_one_piece() -> None:
    query = """
        SELECT a.v, b.x FROM a [RANGE 5] a FULL JOIN b [RANGE 5] b ON a.k = b.k
        WHERE a.v > 1 OR b.x > 1"""
    plan = optimized({"q": session().bind(query).plan})["q"].plan
    unions = [node for node in different_nodes(plan) if isinstance(node, op.UnionAll)]
    assert len(unions) == 1
    windows = [node for node in different_nodes(plan) if isinstance(node, st.Window)]
    assert len(windows) == 2
