"""What EXPLAIN says about a query: what it means, how it runs, and by which rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.operators import Aggregate, AntiJoin, Distinct, Filter, Join, SemiJoin
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Source
from penstock.algebra.text import pattern_note, plan_json, plan_text, plans_dot
from penstock.errors import count
from penstock.planner.annotating import Annotations
from penstock.planner.building import Choices
from penstock.planner.conditions import conjuncts
from penstock.planner.explaining_joins import described_joins, joins_json
from penstock.planner.fragments import ways_in_fragments
from penstock.planner.optimizing import ALWAYS, BY_COST, TOGETHER, optimized
from penstock.planner.partitioning import partitioning_of
from penstock.planner.tracing import existence, made_of, predicate_key
from penstock.planner.ways import Ways

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.planner.partitioning import Partitioning
    from penstock.planner.rules.rule import Described
    from penstock.planner.statistics import Statistics

QUERY = "query"


def explained(
    plan: Plan,
    choices: Choices | None = None,
    statistics: Statistics | None = None,
    chosen_by: Statistics | None = None,
    routes: Callable[[Partitioning], bool] | None = None,
) -> str:
    """A query as a tree, the tree that it runs by with what is expected of it, and its lanes.

    Args:
        plan: The query.
        choices: How it runs, where its meaning leaves a choice.
        statistics: Of a query that runs, what was measured, if anything was; for the estimates.
        chosen_by: By what the plan that runs was chosen; None: by what is assumed.
        routes: Which partitionings lanes can have, if the plan is cut into fragments; None: it
            runs as a whole.
    """
    choices = choices or Choices()
    found = optimized({QUERY: plan}, chosen_by)[QUERY]
    ways = Ways([found.plan], choices, chosen_by)
    if routes is not None:
        ways = ways_in_fragments(found.plan, choices, routes, chosen_by)
    runs = ways.shown(found.plan)
    notes = Annotations(runs, choices, statistics)
    lines = [
        plan_text(plan, pattern_note),
        f"Runs as ({', '.join(found.fired) or 'no rule fired'}):",
        plan_text(runs, notes.note),
        *described_joins(ways.all_of(found.plan), choices, notes),
        f"Expected: {notes.summary()}",
        f"Lanes: {partitioning_of(found.plan)}",
    ]
    if statistics is not None:
        lines.insert(-1, f"Statistics: {described_statistics(statistics, found.plan)}")
    return "\n".join(lines)


def described_statistics(statistics: Statistics, plan: Plan) -> str:
    """What estimates of a plan rely on that is measured, in a few words; the rest is assumed."""
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
    return f"measured ({'; '.join(known)})" if known else "assumed, nothing is measured yet"


def _is_known(condition: Expression, over: Plan, statistics: Statistics) -> bool:
    """Whether the selectivity of a condition was measured, or that of a part of it."""
    keys = [predicate_key(part, over) for part in (condition, *conjuncts(condition))]
    return any(key in statistics.selectivities for key in (existence(over), *keys))


def explained_json(plan: Plan, choices: Choices | None = None) -> dict[str, Any]:
    """The same for programs."""
    choices = choices or Choices()
    found = optimized({QUERY: plan})[QUERY]
    ways = Ways([found.plan], choices)
    runs = ways.shown(found.plan)
    return {
        "plan": plan_json(plan),
        "rules": list(found.fired),
        "strategy": choices.strategy,
        "runs": plan_json(runs, Annotations(runs, choices).facts),
        "joins": joins_json(ways.all_of(found.plan), choices),
        "lanes": partitioning_of(found.plan).to_json(),
    }


def explained_dot(queries: Sequence[tuple[str | None, Plan, Choices]]) -> str:
    """The plans that queries run by, for Graphviz: in one graph, each with its name, if it has one.

    A query that is alone needs no name.
    """
    drawn = []
    for name, plan, choices in queries:
        found = optimized({QUERY: plan})[QUERY].plan
        made = Ways([found], choices).shown(found)
        drawn.append((name if len(queries) > 1 else None, made, Annotations(made, choices).note))
    return plans_dot(drawn)


def described_rules() -> list[tuple[str, str]]:
    """The rewrite rules: the name of each, and what it does."""
    rules: list[Described] = [*ALWAYS, *BY_COST, *TOGETHER]
    return [(rule.name, rule.says) for rule in rules]
