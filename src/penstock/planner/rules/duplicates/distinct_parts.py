"""DISTINCT before or after what joins rows or drops some; which is best is a matter of cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of
from penstock.planner.rules.maps.plain_maps import is_plain

if TYPE_CHECKING:
    from collections.abc import Set

    from penstock.algebra.plan import Plan


def distinct_input(plan: Plan) -> Plan | None:
    """The input of DISTINCT, perhaps with more columns; None if a plan is no DISTINCT."""
    if not isinstance(plan, op.Distinct):
        return None
    return plan.child.child if is_plain(plan.child) else plan.child


def shown_columns(plan: Plan) -> Set[str]:
    """The columns that DISTINCT tells rows apart by, by their names below."""
    (child,) = plan.children
    if not is_plain(child):
        return set(child.schema.names)
    return {name for one in child.columns for name in columns_of(one.expression)}


def distinct_over(plan: Plan, lower: Plan, *, is_enough: bool) -> Plan:
    """DISTINCT of other rows, with the same columns; left out if these are different already."""
    (child,) = plan.children
    if is_plain(child):
        lower = op.Map(lower, child.columns)
    return lower if is_enough else op.Distinct(lower)
