"""Rule filter-below-distinct: a filter goes below DISTINCT."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule, swapped


class FilterBelowDistinct(FilterRule):
    """All copies of a row pass, or none."""

    name = "filter-below-distinct"
    says = "a filter goes below DISTINCT"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """DISTINCT of the filtered rows."""
        over = plan.child
        return swapped(plan, over) if isinstance(over, op.Distinct) else None
