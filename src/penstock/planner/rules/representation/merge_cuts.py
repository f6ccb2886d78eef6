"""Rule merge-cuts.

A split of a split is one split by the shorter length, if it divides the longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class MergeCuts(Rule):
    """Every multiple of a length is one of its divisors, so a cut by these is there already."""

    name = "merge-cuts"
    says = "a split of a split is one split by the shorter length, if it divides the longer"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """One split."""
        if not isinstance(plan, op.Split) or not isinstance(plan.child, op.Split):
            return None
        short, long = sorted((plan.length, plan.child.length))
        return None if long % short else op.Split(plan.child.child, short)
