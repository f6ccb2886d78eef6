"""Rule distinct-after-exists.

DISTINCT of what EXISTS, IN or their negation get is DISTINCT of what they let pass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class DistinctAfterExists(Rule):
    """If most rows are dropped, there are few of which copies have to be found."""

    name = "distinct-after-exists"
    says = "DISTINCT of what EXISTS, IN or their negation get is DISTINCT of what they let pass"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """DISTINCT of the semi- or anti-join."""
        if not isinstance(plan, op.SemiJoin | op.AntiJoin):
            return None
        rows = plan.left
        if not isinstance(rows, op.Distinct):
            return None
        return op.Distinct(replace(plan, left=rows.child))
