"""EXPLAIN names every rule that fired, in the order in which they first did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.text import plan_text
from penstock.planner import optimizing
from penstock.planner.optimizing import optimized
from penstock.planner.rules.joins.commute_join import CommuteJoin
from penstock.planner.rules.maps.prune_columns import PruneColumns
from penstock.planner.rules.representation.common_subplans import CommonSubplans
from penstock.planner.rules.rule_list import ALWAYS, BY_COST, TIDY
from penstock.session import Session
from penstock_fuzz.generate import generate
from planner.rules.templates import QUERIES, random_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest

    from penstock.algebra.plan import Plan

TRIALS = 100
OWN = 2
"""Of each rule's own queries."""

DECLARED = """
    CREATE STREAM a (ts BIGINT, k INT, v INT, w INT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k INT, x INT, y INT, WATERMARK FOR ts AS ts);
    CREATE STREAM c (ts BIGINT, k INT, z INT, WATERMARK FOR ts AS ts);
"""


def plans() -> Iterator[Plan]:
    yield from (generate(f"names {number}").plan for number in range(TRIALS))
    yield from (random_plan(rule, number) for rule in QUERIES for number in range(OWN))


def nothing_is_done(self: object, plans: Sequence[Plan]) -> Sequence[Plan]:
    return list(plans)


def test_rules_that_are_not_named_have_done_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for number, plan in enumerate(plans()):
        found = optimized({"q": plan})["q"]
        with monkeypatch.context() as without:
            for name, rules in (("ALWAYS", ALWAYS), ("BY_COST", BY_COST), ("TIDY", TIDY)):
                kept = tuple(one for one in rules if one.name in found.fired)
                without.setattr(optimizing, name, kept)
            for rule in (CommuteJoin, CommonSubplans, PruneColumns):
                if rule.name not in found.fired:
                    without.setattr(rule, "rewritten", nothing_is_done)
            again = optimized({"q": plan})["q"]
        assert plan_text(again.plan) == plan_text(found.plan), f"plan {number}: {found.fired}"
        assert again.fired == found.fired


def fired(*texts: str) -> list[tuple[str, ...]]:
    session = Session()
    session.execute(DECLARED)
    plans = {str(number): session.bind(text).plan for number, text in enumerate(texts)}
    return [one.fired for one in optimized(plans).values()]


def test_what_follows_a_rule_by_cost_and_pruning_is_named_in_order() -> None:
    (found,) = fired("""
        SELECT COUNT(*) AS n FROM a [RANGE 500] a JOIN b [RANGE 500] b ON a.k = b.k
        JOIN c [RANGE 1] c ON b.x = c.k WHERE c.z = 1""")
    assert "associate-join" in found
    assert found.index("associate-join") < found.index("prune-columns")


def test_queries_are_told_what_they_have_in_common_first() -> None:
    join = "FROM a [RANGE 5] a JOIN b [RANGE 5] b ON a.k = b.k"
    high, low, other = fired(
        f"SELECT a.v {join} WHERE a.w > 2", f"SELECT b.x {join} WHERE a.w < 1", "SELECT z FROM c"
    )
    assert high[0] == low[0] == "common-subplans"
    assert "common-subplans" not in other
