"""Every logical operator prints, has a pattern, can be built, and has a meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from penstock.algebra import operators as op
from penstock.algebra import patterns
from penstock.algebra import streams as st
from penstock.algebra.emptiness import EMPTY, NEEDS, empties, holds_at_ends
from penstock.algebra.expressions import Column
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.algebra.plan import Binary, Plan, Unary, walk
from penstock.algebra.text import Drawn, plan_json, plan_text, plans_dot
from penstock.algebra.types import INT
from penstock.builder import relation, stream
from penstock.connection.questions.one_step import in_one_step
from penstock.errors import InternalError
from penstock.operators.spec import Spec
from penstock.pipeline.state_horizon import memory_of
from penstock.planner.cost import flow_rules, prices
from penstock.planner.operator_facts import FACTS, facts_of
from penstock.planner.partition import partition_rules
from penstock.planner.partition.partition_search import Search
from penstock.planner.physical import lower_plans
from penstock.planner.physical.building import Building
from penstock.planner.physical.lower_plans import Lowering
from penstock.planner.reach import needs
from penstock.planner.statistics.origins import ORIGINS, original, rows_of
from penstock.planner.statistics.tracing import TRACES, traced
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True)
class Unheard(Unary):
    """A new operator, of which nobody has said anything."""


PLANNED = {op.Combine, st.Exchanged}
"""Only what runs has these: its meaning is that of the plan which it was made of."""
ABSTRACT = {
    Plan,
    Unary,
    Binary,
    op.BagOperation,
    op._Existential,
    st.RelationToStream,
    st._AtSlides,
    st.Source,
}
FLOWS = flow_rules.RULES
LOWERED = lower_plans.RULES
PATTERNS = patterns.RULES
PRICES = prices.RULES
ROUTES = partition_rules.RULES

S = stream("s", "ts BIGINT, a INT", time="ts")
W = S.range(5)
T = stream("t", "ts BIGINT, b INT", time="ts").range(5)
R = relation("r", "c INT")
N = relation("n", "d INT", retroactive=False)


def bound(text: str) -> Plan:
    session = Session()
    session.execute("CREATE STREAM s (ts BIGINT, a INT, WATERMARK FOR ts AS ts)")
    return session.bind(text).plan


PLANS = [
    S.where("a > 1").select(x="a").alias("s").distinct().plan,
    S.alias("s").cross(R).plan,
    W.alias("s").join(T.alias("t"), "s.a = t.b").plan,
    W.semi_join(R, "a = c").plan,
    W.anti_join(R, "a = c").plan,
    W.join(N, "a = d").plan,
    W.union_all(T).plan,
    W.difference(T).plan,
    W.intersection(T).plan,
    W.max_union(T).plan,
    W.strict_difference(T).plan,
    W.aggregate(by=["a"], n="COUNT(*)").plan,
    W.group_into("a % 2", 2)[1].plan,
    W.coalesce().split(2).plan,
    W.final().plan,
    W.istream().plan,
    W.dstream().plan,
    bound("RSTREAM(SELECT a FROM s [RANGE 4 SLIDE 2] ORDER BY a LIMIT 1)"),
    bound("SELECT a FROM s [RANGE 4 INTERNAL]"),
    bound("SELECT a, window_end FROM s [TUMBLE 4]"),
    bound("SELECT a FROM s [RANGE 4] QUALIFY ROW_NUMBER() OVER (PARTITION BY ts ORDER BY a) = 1"),
    bound("SELECT a FROM s [RANGE 4] WHERE a > (SELECT AVG(a) FROM s [RANGE 8])"),
    bound("SELECT a FROM s [NOW] WHERE a > (SELECT AVG(x.a) FROM s [ROWS 8] x WHERE x.a = s.a)"),
]


def concrete(kind: type[Plan]) -> Iterator[type[Plan]]:
    for below in kind.__subclasses__():
        yield from concrete(below)
    # This file may have been imported under another name, too: its operator is then there twice.
    if kind not in ABSTRACT | PLANNED and kind.__module__.startswith("penstock."):
        yield kind


def test_the_sample_plans_use_every_operator() -> None:
    used = {type(node) for plan in PLANS for node in walk(plan)}
    assert used == set(concrete(Plan))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.label())
def test_a_plan_prints_in_every_format(plan: Plan) -> None:
    nodes = list(walk(plan))
    assert len(plan_text(plan).splitlines()) == len(nodes)
    assert plans_dot([Drawn(plan)]).count("label=") == 2 * len(nodes) - 1
    assert plan_json(plan)["operator"] == type(plan).__name__


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.label())
def test_a_plan_has_patterns_and_can_be_rebuilt(plan: Plan) -> None:
    assert all(pattern_of(node) in Pattern for node in walk(plan))
    assert all(node.rebuild(node.children) == node for node in walk(plan))


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.label())
def test_a_plan_has_a_meaning(plan: Plan) -> None:
    inputs = Inputs({"s": [(1, 1), (2, 2)], "t": [(1, 1), (3, 2)]})
    timeline = Oracle(inputs).timeline(plan)
    assert all(len(row) == len(plan.schema) for bag in timeline.bags for row in bag)


@pytest.mark.parametrize("table", [FACTS, LOWERED, ORIGINS, PATTERNS, TRACES])
def test_the_planner_knows_every_operator(table: Mapping[type[Plan], object]) -> None:
    assert {*table} == {*concrete(Plan)} | PLANNED


def test_of_every_operator_it_is_known_how_lanes_divide_it() -> None:
    divided_already = op.Combine
    assert {*ROUTES} == {*concrete(Plan)} | PLANNED - {divided_already}


def test_of_every_operator_it_is_known_without_what_it_is_empty() -> None:
    assert {*NEEDS} | {*EMPTY} == {*concrete(Plan)} | PLANNED
    assert not {*NEEDS} & {*EMPTY}


NUMBER = Column("a", INT)
QUESTIONS: dict[str, Callable[[Plan], object]] = {
    "facts": facts_of,
    "pattern": pattern_of,
    "lowering": Lowering(Building()).lower,
    "origin of a column": lambda plan: original(NUMBER, plan),
    "origin of rows": rows_of,
    "trace": lambda plan: traced(NUMBER, plan),
    "routes": lambda plan: Search(frozenset()).routes(plan, None, ()),
    "emptiness": empties,
    "ends of windows": holds_at_ends,
    "reach into streams": lambda plan: list(needs(plan, 0)),
    "horizon of state": memory_of,
    "answer in one step": lambda plan: in_one_step(plan, 0),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_of_an_unknown_operator_nothing_is_guessed(question: str) -> None:
    with pytest.raises(InternalError, match="Unheard"):
        QUESTIONS[question](Unheard(W.plan))


@pytest.mark.parametrize("table", [FLOWS, PRICES])
def test_of_every_operator_that_runs_its_rows_and_its_price_are_known(
    table: Mapping[type[Spec], object],
) -> None:
    assert {*table} == {*Spec.__subclasses__()}
