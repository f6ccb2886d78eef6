"""Rule simplify-outer-join.

An outer join whose padded rows a filter drops anyway becomes a plainer join.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.rule import Rule, RuleContext
from penstock.planner.rules.truth import Known, may_be_true

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
from penstock.planner.rules.outer_joins.outer_join_form import OuterJoinForm, outer_join_in


class SimplifyOuterJoin(Rule):
    """Padded rows that no condition above can let pass need not be made."""

    name = "simplify-outer-join"
    says = "an outer join whose padded rows a filter drops anyway becomes a plainer join"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The filter over a join with less padding."""
        if not isinstance(plan, op.Filter) or not isinstance(plan.child, op.UnionAll):
            return None
        outer = outer_join_in(plan.child)
        if outer is None or can_fail(plan.predicate):
            return None
        rejected = [
            padded and _rejects_nulls(plan.predicate, other)
            for padded, other in zip(outer.padded, (outer.right, outer.left), strict=True)
        ]
        if not any(rejected):
            return None
        left, right = (
            padded and not gone for padded, gone in zip(outer.padded, rejected, strict=True)
        )
        join: Plan = op.Join(outer.left, outer.right, outer.condition)
        if left or right:
            join = OuterJoinForm(outer.left, outer.right, outer.condition, (left, right)).plan
        return op.Filter(join, plan.predicate)


def _rejects_nulls(predicate: Expression, side: Plan) -> bool:
    """A condition that is never TRUE where all columns of a side are NULL."""
    return not may_be_true(predicate, Known(null=frozenset(side.schema.names)))
