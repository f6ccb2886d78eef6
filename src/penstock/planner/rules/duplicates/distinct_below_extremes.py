"""Rule distinct-below-extremes.

DISTINCT below MIN, MAX and other aggregates that ignore copies is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.aggregates import facts_of
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class DistinctBelowExtremes(Rule):
    """The least of a set is the least of the bag."""

    name = "distinct-below-extremes"
    says = "DISTINCT below MIN, MAX and other aggregates that ignore copies is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The aggregate over all rows."""
        if not isinstance(plan, op.Aggregate) or not isinstance(plan.child, op.Distinct):
            return None
        ignored = all(
            call.distinct or facts_of(call.function).ignores_copies for _, call in plan.aggregates
        )
        return replace(plan, child=plan.child.child) if ignored else None
