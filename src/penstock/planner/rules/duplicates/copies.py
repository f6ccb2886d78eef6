"""DISTINCT: where it has no effect, and where a cheaper operator says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra.expressions import Column

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


def has_no_copies(plan: Plan) -> bool:
    """No snapshot has a row twice."""
    match plan:
        case op.Distinct() | op.Aggregate():
            return True
        case op.Filter() | op.Alias() | op.Coalesce() | op.Split() | orders.Sort() | op.Group():
            return has_no_copies(plan.child)
        case op.Map():
            return _keeps_rows_apart(plan)
        case op.Difference() | op.StrictDifference() | op.SemiJoin() | op.AntiJoin():
            return has_no_copies(plan.left)
        case op.Intersection():
            return has_no_copies(plan.left) or has_no_copies(plan.right)
        case op.MaxUnion() | op.Product() | op.Join():
            return has_no_copies(plan.left) and has_no_copies(plan.right)
    return False


def _keeps_rows_apart(plan: op.Map) -> bool:
    """Different rows stay different: all columns are there, or all keys of groups."""
    shown = {one.expression.name for one in plan.columns if isinstance(one.expression, Column)}
    below: Plan = plan.child
    while isinstance(below, op.Filter):
        below = below.child
    if isinstance(below, op.Aggregate):
        return {key.name for key in below.keys} <= shown
    return has_no_copies(below) and set(below.schema.names) <= shown
