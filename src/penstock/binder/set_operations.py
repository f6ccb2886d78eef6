"""The inputs of a set operation, brought to common types by position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named
from penstock.catalog.functions import coerce, common_type
from penstock.errors import QueryError, TypeMismatch

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.algebra.types import Type
    from penstock.errors import Span


def aligned(plans: list[Plan], at: Span | None = None) -> list[Plan]:
    """The plans with columns of the same types, casts added where they differ.

    Raises:
        QueryError: They have different numbers of columns.
        TypeMismatch: Two columns have no common type.
    """
    width = len(plans[0].schema)
    if any(len(plan.schema) != width for plan in plans):
        counts = " and ".join(str(len(plan.schema)) for plan in plans)
        msg = f"the branches of a set operation have {counts} columns"
        raise QueryError(msg, at=at)
    types = [_common(plans, position, at) for position in range(width)]
    return [_cast(plan, types) for plan in plans]


def _common(plans: list[Plan], position: int, at: Span | None) -> Type:
    wide = plans[0].schema.types[position]
    for plan in plans[1:]:
        other = plan.schema.types[position]
        both = common_type(wide, other)
        if both is None:
            name = plans[0].schema.names[position]
            msg = f'column {position + 1} ("{name}") is {wide} in one branch and {other} in another'
            raise TypeMismatch(msg, hint="Write CAST in one of them.", at=at)
        wide = both
    return wide


def _cast(plan: Plan, types: list[Type]) -> Plan:
    if list(plan.schema.types) == types:
        return plan
    columns = zip(plan.schema, types, strict=True)
    return op.Map(
        plan, tuple(Named(f.name, coerce(Column(f.name, f.type), to)) for f, to in columns)
    )
