"""Rule distinct-below-exists.

DISTINCT of what EXISTS, IN or their negation look into is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class DistinctBelowExists(Rule):
    """EXISTS asks whether there is a row, not how many."""

    name = "distinct-below-exists"
    says = "DISTINCT of what EXISTS, IN or their negation look into is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The semi- or anti-join with all right rows."""
        if isinstance(plan, op.SemiJoin | op.AntiJoin) and isinstance(plan.right, op.Distinct):
            return replace(plan, right=plan.right.child)
        return None
