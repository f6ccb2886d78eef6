"""Projections: fewer of them, and below windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.streams import RelationToStream, Stream

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


def is_plain(plan: Plan) -> TypeGuard[op.Map]:
    """A projection that computes nothing: columns dropped, moved, renamed."""
    return isinstance(plan, op.Map) and all(
        isinstance(one.expression, Column) for one in plan.columns
    )


def are_apart(left: Plan, right: Plan) -> bool:
    """No column of one has the name of a column of the other."""
    return not set(left.schema.names) & set(right.schema.names)


def has_own_places(plan: Plan) -> bool:
    """Rows of one instant are ordered by where they stood in their source.

    What a query sends has an order of its own, by value, which projections of it keep.
    """
    match plan:
        case Stream() | RelationToStream():
            return True
        case op.Filter() | op.Map() | op.Alias() | op.Group():
            return has_own_places(plan.child)
    return False
