"""Unions, and what is distributed over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named
from penstock.planner.rules.outer_joins import outer_join_in
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


def named_like(plan: Plan, like: Plan) -> Plan:
    """A plan with the names of another, by position."""
    if plan.schema.names == like.schema.names:
        return plan
    pairs = zip(like.schema, plan.schema, strict=True)
    return op.Map(plan, tuple(Named(new.name, Column(old.name, old.type)) for new, old in pairs))


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
