"""Rule map-above-join: columns are chosen, moved and renamed after a join instead of before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column, substituted
from penstock.algebra.plan import Named
from penstock.planner.rules.expressions import by_name
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
from penstock.planner.rules.maps.plain_maps import are_apart, is_plain

WORTH_SEEING = (
    op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.UnionAll, op.Distinct, op.Difference,
    op.StrictDifference,
)  # fmt: skip
"""Operators that rules want to see below a join."""


class MapAboveJoin(Rule):
    """Joins come to lie upon joins, which other rules want to see.

    What the projection drops comes up with it; columns that nobody reads are pruned in the end.
    """

    name = "map-above-join"
    says = "columns are chosen, moved and renamed after a join instead of before"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The projection of the join."""
        if not isinstance(plan, op.Join | op.Product | op.SemiJoin | op.AntiJoin):
            return None
        inputs = [_below(one) for one in plan.children]
        if all(old is new for old, new in zip(plan.children, inputs, strict=True)):
            return None
        if not are_apart(*inputs):
            return None
        known = {**_shown(plan.left), **_shown(plan.right)}
        lower = plan.rebuild((inputs[0], inputs[1])) if isinstance(plan, op.Product) else None
        if lower is None:
            assert not isinstance(plan, op.Product)
            condition = substituted(plan.condition, known)
            lower = replace(plan, left=inputs[0], right=inputs[1], condition=condition)
        return op.Map(lower, tuple(Named(one.name, known[one.name]) for one in plan.schema))


def _below(plan: Plan) -> Plan:
    """The plan that a plain projection hides, if it is worth seeing; leaves keep their names."""
    return plan.child if is_plain(plan) and isinstance(plan.child, WORTH_SEEING) else plan


def _shown(plan: Plan) -> dict[str, Expression]:
    """The columns of an input, as expressions over what is below it."""
    if is_plain(plan) and _below(plan) is not plan:
        return by_name(plan.columns)
    return {one.name: Column(one.name, one.type) for one in plan.schema}
