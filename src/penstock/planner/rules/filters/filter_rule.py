"""Filters on their way down, through operators with one input and through set operations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.expressions import renamed
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan, Unary


class FilterRule(Rule):
    """A rule for a filter over something else."""

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The plan that a filter becomes."""
        return self.filtered(plan, place) if isinstance(plan, op.Filter) else None

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The plan that the filter becomes; None where the rule has no use."""
        raise NotImplementedError


def swapped(plan: op.Filter, over: Unary) -> Plan:
    """The filter below the operator that it stood on, whose columns are those of its input."""
    return replace(over, child=op.Filter(over.child, plan.predicate))


def filtered_input(plan: op.Filter, over: Plan, child: Plan) -> Plan:
    """The filter over an input whose columns have the same places as those of what is over it."""
    return op.Filter(child, renamed(plan.predicate, over.schema, child.schema))
