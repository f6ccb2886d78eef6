"""Rule flatten-unions: a union of unions is one union."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.outer_joins.outer_join_form import outer_join_in
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class FlattenUnions(Rule):
    """An outer join is left in one piece."""

    name = "flatten-unions"
    says = "a union of unions is one union"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The union of all inputs."""
        if not isinstance(plan, op.UnionAll) or outer_join_in(plan) is not None:
            return None
        if len(plan.inputs) == 1:
            return plan.inputs[0]
        inputs = [part for one in plan.inputs for part in _parts(one)]
        if len(inputs) == len(plan.inputs):
            return None
        return op.UnionAll(tuple(inputs))


def _parts(plan: Plan) -> tuple[Plan, ...]:
    is_plain = isinstance(plan, op.UnionAll) and outer_join_in(plan) is None
    return plan.children if is_plain else (plan,)
