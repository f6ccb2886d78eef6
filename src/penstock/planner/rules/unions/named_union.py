"""Unions, and what is distributed over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


def named_like(plan: Plan, like: Plan) -> Plan:
    """A plan with the names of another, by position."""
    if plan.schema.names == like.schema.names:
        return plan
    pairs = zip(like.schema, plan.schema, strict=True)
    return op.Map(plan, tuple(Named(new.name, Column(old.name, old.type)) for new, old in pairs))
