"""Rule redundant-distinct: DISTINCT over rows of which there is never a second copy is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.duplicates.copies import has_no_copies


class RedundantDistinct(Rule):
    """The input has every row once."""

    name = "redundant-distinct"
    says = "DISTINCT over rows of which there is never a second copy is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The input of DISTINCT."""
        if isinstance(plan, op.Distinct) and has_no_copies(plan.child):
            return plan.child
        return None
