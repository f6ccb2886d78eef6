"""Columns that nobody reads are dropped where rows enter, and before operators that keep rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.algebra.plan import Plan


def exactly(plan: Plan, names: Iterable[str]) -> Plan:
    """These columns of a plan, in the order that they have in it."""
    wanted = set(names)
    fields = [one for one in plan.schema if one.name in wanted]
    if len(fields) == len(plan.schema):
        return plan
    return op.Map(plan, tuple(Named(one.name, Column(one.name, one.type)) for one in fields))
