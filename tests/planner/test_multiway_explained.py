"""EXPLAIN names the joins that run: on one lane, and in fragments."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from penstock.operators.join.join_specs import JoinSpec
from penstock.planner.explain.annotate import Annotations
from penstock.planner.explain.explain import explained
from penstock.planner.explain.explain_joins import described_joins, joins_json
from penstock.planner.explain.shown import shown as tops_of
from penstock.planner.optimizing import optimized
from penstock.planner.partition.fragments import choices_in_fragments, fragments_of
from penstock.planner.physical.building import Choices
from penstock.planner.physical.multi_join_spec import MultiJoinSpec
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.physical.physical_plan import PhysicalPlan
from penstock.planner.planning import physical_plan
from penstock.planner.statistics.statistics import Statistics
from penstock.session import Session
from planner.many_windows import declared

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.partition.partitioning import Partitioning

NAMES = "abcdef"


def is_divided(partitioning: Partitioning) -> bool:
    return partitioning.is_partitioned


def bound(query: str, known: Statistics | None = None) -> Plan:
    session = Session()
    session.execute(declared(NAMES))
    return optimized({"q": session.bind(query).plan}, known)["q"].plan


def some_query(draw: random.Random) -> str:
    """A join of three to six windows along a chain of keys, some of which change."""
    names = NAMES[: draw.randint(3, 6)]
    windows = ", ".join(f"{name} [RANGE {draw.choice([5, 50, 500])}]" for name in names)
    columns = draw.choices(["k", "k", "v"], k=len(names) - 1)
    asked = [
        f"{one}.{col} = {two}.{col}"
        for (one, two), col in zip(pairwise(names), columns, strict=True)
    ]
    asked += [f"{names[0]}.v < {names[-1]}.v"] if draw.random() < 0.3 else []
    asked += [f"{names[1]}.v + {names[2]}.v < 9"] if draw.random() < 0.3 else []
    shown = draw.choice(["a.v, b.k AS bk, c.s", "COUNT(*)", "a.k, SUM(b.v) AS total"])
    grouped = " GROUP BY a.k" if shown.startswith("a.k") else ""
    return f"SELECT {shown} FROM {windows} WHERE {' AND '.join(asked)}{grouped}"


def some_statistics(draw: random.Random) -> Statistics:
    rates = {name: 10.0 ** draw.randint(-1, 3) for name in NAMES}
    values = {(name, col): 10.0 ** draw.randint(0, 5) for name in NAMES for col in "kvs"}
    return Statistics(rates=rates, values=values)


def many_in(plan: PhysicalPlan) -> list[str]:
    """The joins of many inputs that run."""
    nodes = [node for one in plan.fragments for node in one.graph.nodes]
    return sorted(one.label for one in nodes if isinstance(one.spec, MultiJoinSpec))


def said(ways: MultiwayChoices, plan: Plan) -> list[str]:
    """Those that EXPLAIN has a line for."""
    return sorted(one.many.label() for one in ways.all_of(plan) if one.is_chosen)


@pytest.fixture(scope="module")
def planned() -> list[tuple[Plan, Statistics]]:
    """Plans of random queries, and what they were chosen by."""
    draw = random.Random(8)
    known = [some_statistics(draw) for _ in range(80)]
    return [(bound(some_query(draw), one), one) for one in known]


@pytest.mark.parametrize("joins", ["auto", "multiway", "tree"])
def test_the_joins_that_are_shown_are_those_that_run(
    joins: str, planned: list[tuple[Plan, Statistics]]
) -> None:
    choices = Choices(joins=joins)  # type: ignore[arg-type]  # one of three
    for plan, known in planned:
        whole = physical_plan({"q": plan}, choices, lambda _: True, 1, known)
        shown = [] if joins == "tree" else said(MultiwayChoices([plan], choices, known), plan)
        assert shown == many_in(whole)
        parts = PhysicalPlan(tuple(fragments_of("q", plan, choices, is_divided, known)), {})
        cut = choices_in_fragments(plan, choices, is_divided, known)
        assert ([] if joins == "tree" else said(cut, plan)) == many_in(parts)


def test_every_join_in_one_operator_has_a_line(planned: list[tuple[Plan, Statistics]]) -> None:
    mixed = kept = 0
    for plan, known in planned:
        ways = MultiwayChoices([plan], Choices(), known)
        found = ways.all_of(plan)
        whole = physical_plan({"q": plan}, Choices(), lambda _: True, 1, known)
        notes = Annotations(tops_of(whole)["q"], plan.unit)
        lines = described_joins(found, Choices(), notes)
        several = many_in(whole)
        assert said(ways, plan) == several
        assert sum("in one operator (" in one for one in lines) == len(several)
        kept += any(one.kept is not None for one in found)
        if any("in parts, as" in one for one in lines):
            mixed += 1
            for top, part in pairwise(joins_json(found, Choices())):
                if top["runs"] == "parts":
                    assert part["runs"] == "multiway"
                    assert len(part["inputs"]) < len(top["inputs"])
    assert mixed
    assert kept


def test_what_a_tree_is_said_to_cost_is_what_its_joins_cost(
    planned: list[tuple[Plan, Statistics]],
) -> None:
    for plan, known in planned:
        (way, *_) = MultiwayChoices([plan], Choices(), known).all_of(plan)
        (whole,) = physical_plan({"q": plan}, Choices(), lambda _: True, 1, known).fragments
        joins = [one for one in whole.graph.nodes if isinstance(one.spec, MultiJoinSpec | JoinSpec)]
        total = sum(one.estimate.time for one in joins if one.estimate is not None)
        cost = way.cost if way.is_chosen else way.of_tree
        # Projections between joins are part of the tree.
        assert cost.time == pytest.approx(total, rel=0.2)


def test_explain_of_a_plan_in_fragments_shows_the_joins_of_each() -> None:
    windows = ", ".join(f"{name} [RANGE 9]" for name in "abcd")
    query = f"SELECT a.v FROM {windows} WHERE a.k = b.k AND b.k = c.k AND c.v = d.v"
    choices = Choices(joins="multiway")
    whole = explained(bound(query), choices)
    assert "Join of 4" in whole
    cut = explained(bound(query), choices, routes=is_divided)
    assert "Join of 3 a.k = b.k = c.k" in cut
    assert "Join c.v = d.v" in cut
    assert "Joins: a, b and c in one operator" in cut
    assert "Join of 4" not in cut
