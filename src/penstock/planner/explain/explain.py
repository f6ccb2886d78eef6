"""EXPLAIN: what queries mean, how they run, and by which rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.operators import Aggregate, AntiJoin, Distinct, Filter, Join, SemiJoin
from penstock.algebra.patterns import Pattern
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import RelationToStream, Source
from penstock.algebra.text import Drawn, pattern_note, plan_json, plan_text
from penstock.errors import count
from penstock.operators.spec import row_width
from penstock.planner.conditions import conjuncts
from penstock.planner.explain.annotate import Annotations
from penstock.planner.explain.expected_charts import expected_charts
from penstock.planner.explain.explain_joins import described_joins, joins_json
from penstock.planner.explain.shown import all_shown, shown, tree_text
from penstock.planner.optimizing import optimized
from penstock.planner.partition.fragments import choices_in_fragments
from penstock.planner.partition.partitioning import common_partitioning
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock.planner.physical.physical_plan import Fragment, PhysicalPlan
from penstock.planner.planning import expected, lowered
from penstock.planner.rules.rule_list import ALWAYS, BY_COST, TOGETHER
from penstock.planner.statistics.statistics import ExpectedRate, Statistics
from penstock.planner.statistics.tracing import existence, made_of, predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.planner.explain.expected_charts import ExpectedCharts
    from penstock.planner.explain.shown import ShownOperator
    from penstock.planner.partition.partitioning import Partitioning
    from penstock.planner.rules.rule import Described

QUERY = "query"
NOTHING_EXPECTED: Mapping[str, ExpectedRate] = {}


class Explaining:
    """Queries that run together, and what is said of each.

    Args:
        plans: The queries, by name.
        choices: How they run, where their meaning leaves a choice.
        statistics: Of queries that run, what was measured, if anything was; for the estimates.
        chosen_by: By what the plans that run were chosen; None: by what is assumed.
        rates: What is expected of streams that were not measured; for the estimates.
        gone: Those that are planned with the others, but that nobody asks for any more.
        routes: Which partitionings lanes can have, if a query that is alone is cut into fragments;
            None: plans run as a whole.
        physical: What runs, if something does; None: what would.
    """

    def __init__(
        self,
        plans: Mapping[str, Plan],
        choices: Choices | None = None,
        statistics: Statistics | None = None,
        chosen_by: Statistics | None = None,
        gone: Collection[str] = (),
        routes: Callable[[Partitioning], bool] | None = None,
        physical: PhysicalPlan | None = None,
        rates: Mapping[str, ExpectedRate] = NOTHING_EXPECTED,
    ) -> None:
        self._given = plans
        self._choices = choices or Choices()
        self._statistics = statistics
        self._found = optimized(plans, chosen_by, self._choices)
        running = {name: one.plan for name, one in self._found.items()}
        self._ways = MultiwayChoices(running.values(), self._choices, chosen_by)
        if routes is not None and len(running) == 1:
            (alone,) = running.values()
            self._ways = choices_in_fragments(alone, self._choices, routes, chosen_by)
        found = physical or self._physical(running, routes, chosen_by)
        self._known = (statistics or Statistics()).expecting(rates)
        self._tops = shown(expected(found, self._choices, self._known))
        self._shared = _shared(self._tops, gone)
        self._lanes = common_partitioning(list(running.values()))

    def _physical(
        self,
        running: Mapping[str, Plan],
        routes: Callable[[Partitioning], bool] | None,
        chosen_by: Statistics | None,
    ) -> PhysicalPlan:
        """The plans that the queries run by."""
        if routes is not None:
            return lowered(running, self._choices, routes, 1, chosen_by)
        graph = operator_graph(running, self._choices, statistics=chosen_by)
        partitioning = common_partitioning(list(running.values()))
        return PhysicalPlan((Fragment(graph, partitioning, True, 0),), {})

    def text(self, name: str) -> str:
        """A query as a tree, the tree that it runs by with what is expected of it, its lanes."""
        plan, notes = self._found[name].plan, self._notes(name)
        lines = [
            plan_text(self._given[name], pattern_note),
            f"Runs as ({self._rules(name)}):",
            tree_text(self._tops[name], notes.note),
            *described_joins(self._ways.all_of(plan), self._choices, notes),
            f"Strategy: {self._choices.strategy}",
            f"Expected: {notes.summary()}",
            f"Lanes: {self._lanes}",
        ]
        if self._statistics is not None:
            lines.insert(-1, f"Statistics: {described_statistics(self._statistics, plan)}")
        return "\n".join(lines)

    def json(self, name: str) -> dict[str, Any]:
        """The same for programs."""
        found, notes = self._found[name], self._notes(name)
        return {
            "plan": plan_json(self._given[name]),
            "rules": list(found.fired),
            "strategy": self._choices.strategy,
            "runs": notes.json(self._tops[name]),
            "joins": joins_json(self._ways.all_of(found.plan), self._choices),
            "expected": notes.totals(),
            "lanes": self._lanes.to_json(),
        }

    def drawn(self, name: str, title: str | None = None) -> Drawn:
        """The plan that it runs by, for a graph, and what is said of all of it."""
        notes = self._notes(name)
        below = [
            f"Rules: {self._rules(name)}",
            f"Strategy: {self._choices.strategy}",
            f"Expected: {notes.summary()}",
            f"Lanes: {self._lanes}",
        ]
        return Drawn(self._tops[name], notes.note, title, below)

    def memory(self, name: str) -> float:
        """The bytes of a query's state, and of an answer that only grows, after `endless_span`."""
        top = self._tops[name].node
        assert top.estimate is not None
        is_sent = isinstance(self._given[name], RelationToStream)
        grows = top.pattern is Pattern.MON and not is_sent
        answer = top.estimate.live * row_width(top.types) if grows else 0.0
        return float(self._notes(name).totals()["state_bytes"]) + answer

    def charts(self, name: str) -> ExpectedCharts:
        """The progress charts of a query: by what a lane with a budget decides what runs next."""
        return expected_charts(name, self._tops[name])

    def _notes(self, name: str) -> Annotations:
        unit, shared = self._given[name].unit, self._shared[name]
        return Annotations(self._tops[name], unit, shared, self._known)

    def _rules(self, name: str) -> str:
        return ", ".join(self._found[name].fired) or "no rule fired"


def _shared(
    tops: Mapping[str, ShownOperator], gone: Collection[str]
) -> dict[str, dict[str, list[str]]]:
    """For each query, the names of others that have its operators, too, by their identity."""
    below = {name: {one.identity for one in all_shown(top)} for name, top in tops.items()}
    return {
        name: {
            one: [other for other in below if other not in (name, *gone) and one in below[other]]
            for one in own
        }
        for name, own in below.items()
    }


def explained(
    plan: Plan,
    choices: Choices | None = None,
    statistics: Statistics | None = None,
    chosen_by: Statistics | None = None,
    routes: Callable[[Partitioning], bool] | None = None,
    rates: Mapping[str, ExpectedRate] = NOTHING_EXPECTED,
) -> str:
    """The explanation of a query that runs alone."""
    found = Explaining({QUERY: plan}, choices, statistics, chosen_by, routes=routes, rates=rates)
    return found.text(QUERY)


def described_statistics(statistics: Statistics, plan: Plan) -> str:
    """The measured statistics that a plan's estimates rely on, in short; the rest is assumed."""
    nodes = different_nodes(plan)
    sources = sorted({one.name for one in nodes if isinstance(one, Source)})
    rates = [name for name in sources if name in statistics.rates]
    columns = [source for source, _ in statistics.values if source in sources]
    filters = [(one.predicate, one.child) for one in nodes if isinstance(one, Filter)]
    joins = [(one.condition, one) for one in nodes if isinstance(one, Join | SemiJoin | AntiJoin)]
    asked = {
        what: sum(_is_known(condition, over, statistics) for condition, over in found)
        for what, found in (("filter", filters), ("join", joins))
    }
    conditions = [count(number, what) for what, number in asked.items() if number]
    known = [f"rates of {', '.join(rates)}"] if rates else []
    known += [f"values of {count(len(columns), 'column')}"] if columns else []
    known += [f"selectivities of {' and '.join(conditions)}"] if conditions else []
    made = [one for one in nodes if isinstance(one, Aggregate | Distinct)]
    outputs = sum(made_of(one) in statistics.outputs for one in made)
    known += [f"outputs of {count(outputs, 'operator')}"] if outputs else []
    return f"measured ({'; '.join(known)})" if known else "nothing is measured yet"


def _is_known(condition: Expression, over: Plan, statistics: Statistics) -> bool:
    """The selectivity of a condition was measured, or that of a part of it."""
    keys = [predicate_key(part, over) for part in (condition, *conjuncts(condition))]
    return any(key in statistics.selectivities for key in (existence(over), *keys))


def described_rules() -> list[tuple[str, str]]:
    """The rewrite rules: the name of each, and what it does."""
    rules: list[Described] = [*ALWAYS, *BY_COST, *TOGETHER]
    return [(rule.name, rule.says) for rule in rules]
