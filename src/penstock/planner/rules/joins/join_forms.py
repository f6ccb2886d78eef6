"""The order of joins; which is best is a matter of cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column, columns_of, conjunction
from penstock.algebra.plan import Named
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.implied import asked_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


def in_order_of(plan: Plan, like: Plan) -> Plan:
    """The columns of a plan in the order of another that has the same."""
    if plan.schema == like.schema:
        return plan
    return op.Map(plan, tuple(Named(one.name, Column(one.name, one.type)) for one in like.schema))


def _joined(left: Plan, right: Plan, parts: Sequence[Expression]) -> Plan:
    return op.Join(left, right, conjunction(list(parts))) if parts else op.Product(left, right)


def three_inputs(plan: Plan) -> tuple[Plan, Plan, Plan, list[Expression]] | None:
    """A pair that is joined first, what it is joined with, and all conditions."""
    if not isinstance(plan, op.Join | op.Product):
        return None
    for lower, third in ((plan.left, plan.right), (plan.right, plan.left)):
        pair = _join_below(lower)
        if pair is not None:
            return pair.left, pair.right, third, [*_conditions(pair), *_conditions(plan)]
    return None


def other_pair(
    plan: Plan, alone: Plan, pair: tuple[Plan, Plan], parts: Sequence[Expression]
) -> Plan | None:
    """The join with another pair first; None where that would be a product."""
    sides = [frozenset(one.schema.names) for one in pair]
    inner, outer = asked_first(parts, sides[0] | sides[1])
    if not outer or all(_reads_one(one, sides) for one in inner):
        # Without a condition it would be a product, which is never the better plan.
        return None
    return in_order_of(_joined(alone, _joined(*pair, inner), outer), plan)


def _reads_one(part: Expression, sides: Sequence[frozenset[str]]) -> bool:
    return any(columns_of(part) <= side for side in sides)


def _join_below(plan: Plan) -> op.Join | op.Product | None:
    """The join of a plan, if it is one, perhaps with columns in another order."""
    while isinstance(plan, op.Map) and _only_moves(plan):
        plan = plan.child
    return plan if isinstance(plan, op.Join | op.Product) else None


def _only_moves(plan: op.Map) -> bool:
    """A projection with the columns of its input, in any order."""
    kept = [Named(one.name, Column(one.name, one.type)) for one in plan.child.schema]
    return set(plan.columns) == set(kept)


def _conditions(plan: op.Join | op.Product) -> list[Expression]:
    return conjuncts(plan.condition) if isinstance(plan, op.Join) else []
