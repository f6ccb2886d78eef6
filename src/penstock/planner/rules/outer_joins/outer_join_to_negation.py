"""Rule outer-join-to-negation.

An outer join whose pairs a filter drops anyway becomes a negation, padded with NULLs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.rule import Rule, RuleContext
from penstock.planner.rules.truth import Known, may_be_true, never_null

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
from penstock.planner.rules.outer_joins.outer_join_form import OuterJoinForm, outer_join_in


class OuterJoinToNegation(Rule):
    """Pairs that no condition above can let pass need not be made: LEFT JOIN ... WHERE IS NULL.

    What the join asks for holds in every pair, so its keys are not NULL there.
    """

    name = "outer-join-to-negation"
    says = "an outer join whose pairs a filter drops anyway becomes a negation, padded with NULLs"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The filter over the rows without a partner."""
        if not isinstance(plan, op.Filter) or not isinstance(plan.child, op.UnionAll):
            return None
        outer = outer_join_in(plan.child)
        if outer is None or can_fail(plan.predicate) or _lets_pairs_pass(plan.predicate, outer):
            return None
        _, *padded = plan.child.inputs
        rows = padded[0] if len(padded) == 1 else op.UnionAll(tuple(padded))
        return op.Filter(rows, plan.predicate)


def _lets_pairs_pass(predicate: Expression, outer: OuterJoinForm) -> bool:
    pairs = op.Join(outer.left, outer.right, outer.condition)
    return may_be_true(predicate, Known(never_null=never_null(pairs)))
