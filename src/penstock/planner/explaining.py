"""What EXPLAIN says about a query: what it means, how it runs, and by which rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.algebra.text import pattern_note, plan_dot, plan_json, plan_text
from penstock.planner.annotating import Annotations
from penstock.planner.building import Choices
from penstock.planner.optimizing import ALWAYS, BY_COST, TOGETHER, optimized
from penstock.planner.partitioning import partitioning_of

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import Described

QUERY = "query"


def explained(plan: Plan, choices: Choices | None = None) -> str:
    """A query as a tree, the tree that it runs by with what is expected of it, and its lanes."""
    choices = choices or Choices()
    found = optimized({QUERY: plan})[QUERY]
    notes = Annotations(found.plan, choices)
    lines = [
        plan_text(plan, pattern_note),
        f"Runs as ({', '.join(found.fired) or 'no rule fired'}):",
        plan_text(found.plan, notes.note),
        f"Expected: {notes.summary()}",
        f"Lanes: {partitioning_of(found.plan)}",
    ]
    return "\n".join(lines)


def explained_json(plan: Plan, choices: Choices | None = None) -> dict[str, Any]:
    """The same for programs."""
    choices = choices or Choices()
    found = optimized({QUERY: plan})[QUERY]
    return {
        "plan": plan_json(plan),
        "rules": list(found.fired),
        "strategy": choices.strategy,
        "runs": plan_json(found.plan, Annotations(found.plan, choices).facts),
        "lanes": partitioning_of(found.plan).to_json(),
    }


def explained_dot(plan: Plan, choices: Choices | None = None) -> str:
    """The plan that a query runs by, for Graphviz."""
    choices = choices or Choices()
    made = optimized({QUERY: plan})[QUERY].plan
    return plan_dot(made, Annotations(made, choices).note)


def described_rules() -> list[tuple[str, str]]:
    """The rewrite rules: the name of each, and what it does."""
    rules: list[Described] = [*ALWAYS, *BY_COST, *TOGETHER]
    return [(rule.name, rule.says) for rule in rules]
