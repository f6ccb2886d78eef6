"""Filters on their way down through joins, and what joins ask of one side only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import conjunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan


def over_rest(plan: Plan, rest: Sequence[Expression]) -> Plan:
    """The plan, filtered by what could not go down."""
    return op.Filter(plan, conjunction(list(rest))) if rest else plan


def with_filters(plan: Binary, left: Sequence[Expression], right: Sequence[Expression]) -> Plan:
    """The operator over filtered inputs."""
    return plan.rebuild((over_rest(plan.left, left), over_rest(plan.right, right)))
