"""Rule condition-below-join.

What a join condition asks of one side only becomes a filter of that side.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import conjunction
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import divided, reads_only
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
from penstock.planner.rules.filters.side_filters import with_filters


class ConditionBelowJoin(Rule):
    """A left row of an anti-join stays whatever it is, so only the right side is filtered."""

    name = "condition-below-join"
    says = "what a join condition asks of one side only becomes a filter of that side"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The join over filtered inputs, with what is left of its condition."""
        if not isinstance(plan, op.Join | op.SemiJoin | op.AntiJoin | op.GroupJoin):
            return None
        left: list[Expression] = []
        rest = conjuncts(plan.condition)
        if isinstance(plan, op.Join | op.SemiJoin):
            left, rest = divided(rest, lambda one: reads_only(one, plan.left))
        right, rest = divided(rest, lambda one: reads_only(one, plan.right))
        if not left and not right:
            return None
        return with_filters(replace(plan, condition=conjunction(rest)), left, right)
