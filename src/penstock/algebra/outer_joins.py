"""Outer joins, derived from the join and the anti-join."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column, Literal
from penstock.algebra.plan import Named, Plan

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression


def outer_join(left: Plan, right: Plan, condition: Expression, padded: tuple[bool, bool]) -> Plan:
    """The join UNION ALL the rows without a partner of the sides that are padded with NULLs."""
    pairs = op.Join(left, right, condition)
    parts: list[Plan] = [pairs]
    if padded[0]:
        parts.append(padded_like(op.AntiJoin(left, right, condition), pairs))
    if padded[1]:
        parts.append(padded_like(op.AntiJoin(right, left, condition), pairs))
    return op.UnionAll(tuple(parts))


def padded_like(rows: Plan, like: Plan) -> Plan:
    """The rows with NULL for every column that only the other plan has."""
    own = set(rows.schema.names)
    return op.Map(
        rows,
        tuple(
            Named(f.name, Column(f.name, f.type) if f.name in own else Literal(None, f.type))
            for f in like.schema
        ),
    )
