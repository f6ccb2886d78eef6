"""Rule empty-branch.

An input of a union, or the right side of a negation, that has no rows is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra.streams import Window
from penstock.planner.rules.expressions import is_never_true
from penstock.planner.rules.rule import Rule, RuleContext, sources_of
from penstock.planner.rules.unions.named_union import named_like

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


def is_empty(plan: Plan) -> bool:
    """A plan that has no row at any instant, plainly."""
    match plan:
        case op.Filter():
            return is_never_true(plan.predicate) or is_empty(plan.child)
        case op.Map() | op.Alias() | op.Distinct() | op.Coalesce() | op.Split() | op.Group():
            return is_empty(plan.child)
        case orders.Sort() | Window():
            return is_empty(plan.child)
        case op.Product() | op.Join() | op.SemiJoin() | op.Intersection():
            return is_empty(plan.left) or is_empty(plan.right)
        case op.AntiJoin() | op.Difference() | op.StrictDifference():
            return is_empty(plan.left)
        case op.Aggregate():
            return bool(plan.keys) and is_empty(plan.child)
    return False


class EmptyBranch(Rule):
    """An empty plan must not read a stream that nothing else reads: its clock would be lost."""

    name = "empty-branch"
    says = "an input of a union, or the right side of a negation, that has no rows is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The operator without the input."""
        if place.needs_instants:
            return None
        if isinstance(plan, op.UnionAll):
            return _without_empty(plan)
        if isinstance(plan, op.AntiJoin | op.Difference | op.StrictDifference):
            is_idle = is_empty(plan.right) and sources_of(plan.right) <= sources_of(plan.left)
            return plan.left if is_idle else None
        return None


def _without_empty(plan: op.UnionAll) -> Plan | None:
    kept = [one for one in plan.inputs if not is_empty(one)]
    if not kept or len(kept) == len(plan.inputs):
        return None
    if not sources_of(plan) <= {name for one in kept for name in sources_of(one)}:
        return None
    kept[0] = named_like(kept[0], plan)
    return op.UnionAll(tuple(kept)) if len(kept) > 1 else kept[0]
