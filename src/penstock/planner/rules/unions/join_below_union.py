"""Rule join-below-union: the join with a union is the union of the joins with its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.outer_joins.outer_join_form import outer_join_in
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.unions.named_union import named_like


class JoinBelowUnion(Rule):
    """By cost: each input gets a join of its own, whose pattern may be simpler."""

    name = "join-below-union"
    says = "the join with a union is the union of the joins with its inputs"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The union of joins."""
        if not isinstance(plan, op.Join | op.Product):
            return None
        for port, side in enumerate(plan.children):
            if isinstance(side, op.UnionAll) and outer_join_in(side) is None:
                inputs = [named_like(one, side) for one in side.inputs]
                sides = [(one, plan.right) if port == 0 else (plan.left, one) for one in inputs]
                return op.UnionAll(tuple(plan.rebuild(pair) for pair in sides))
        return None
