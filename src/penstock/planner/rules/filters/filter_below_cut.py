"""Rule filter-below-cut: a filter goes below coalesce and split."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule, swapped


class FilterBelowCut(FilterRule):
    """Pieces of an element are the same row."""

    name = "filter-below-cut"
    says = "a filter goes below coalesce and split"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The pieces of the filtered rows."""
        over = plan.child
        return swapped(plan, over) if isinstance(over, op.Coalesce | op.Split) else None
