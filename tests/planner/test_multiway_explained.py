"""EXPLAIN names the joins that run: on one lane, and in fragments."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from penstock.algebra import operators as op
from penstock.algebra.plan import walk
from penstock.planner.annotating import Annotations
from penstock.planner.building import Choices
from penstock.planner.costs import Cost, Costs
from penstock.planner.explaining_joins import described_joins
from penstock.planner.fragments import fragments_of, ways_in_fragments
from penstock.planner.lowering import operator_graph
from penstock.planner.multiway import Multiway
from penstock.planner.optimizing import optimized
from penstock.planner.statistics import Statistics
from penstock.planner.ways import Ways
from penstock.session import Session
from planner.many_windows import declared

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.partitioning import Partitioning

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


def named(plan: Plan) -> list[str]:
    """The joins that a plan shows."""
    return sorted(
        one.label() for one in walk(plan) if isinstance(one, Multiway | op.Join | op.Product)
    )


def running(labels: list[str]) -> list[str]:
    return sorted(one for one in labels if one.startswith(("Join", "Product")))


@pytest.mark.parametrize("joins", ["auto", "multiway", "tree"])
def test_the_joins_that_are_shown_are_those_that_run(joins: str) -> None:
    draw = random.Random(5)
    choices = Choices(joins=joins)  # type: ignore[arg-type]  # one of three
    for _ in range(60):
        known = some_statistics(draw)
        query = some_query(draw)
        plan = bound(query, known)
        graph = operator_graph({"q": plan}, choices, statistics=known)
        shown = Ways([plan], choices, known).shown(plan)
        assert named(shown) == running([node.label for node in graph.nodes]), query
        parts = fragments_of("q", plan, choices, is_divided, known)
        cut = ways_in_fragments(plan, choices, is_divided, known).shown(plan)
        labels = [node.label for one in parts for node in one.graph.nodes]
        assert named(cut) == running(labels), query


def test_every_operator_for_several_inputs_has_a_line() -> None:
    draw = random.Random(8)
    mixed = kept = 0
    for _ in range(150):
        known = some_statistics(draw)
        plan = bound(some_query(draw), known)
        ways = Ways([plan], Choices(), known)
        found = ways.all_of(plan)
        shown = ways.shown(plan)
        lines = described_joins(found, Choices(), Annotations(shown, Choices(), known))
        several = [one for one in walk(shown) if isinstance(one, Multiway)]
        assert sum("in one operator (" in one for one in lines) == len(several)
        assert sorted(one.many.label() for one in found if one.is_chosen) == sorted(
            one.label() for one in several
        )
        mixed += any("in parts, as" in one for one in lines)
        kept += any(one.kept is not None for one in found)
    assert mixed
    assert kept


def test_what_a_tree_costs_is_what_runs() -> None:
    draw = random.Random(8)
    for _ in range(150):
        known = some_statistics(draw)
        plan = bound(some_query(draw), known)
        ways = Ways([plan], Choices(), known)
        shown = ways.shown(plan)
        costs = Costs(shown, Choices(), known)
        found = ways.all_of(plan)
        if not found or found[0].is_chosen:
            continue
        joins = [one for one in walk(shown) if isinstance(one, Multiway | op.Join | op.Product)]
        total = sum(map(costs.of, joins), Cost(0.0))
        assert found[0].of_tree.time == pytest.approx(total.time, rel=0.2)
