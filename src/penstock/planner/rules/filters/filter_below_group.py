"""Rule filter-below-group: a filter goes below the choice of one of several streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.compute.evaluate import can_fail

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule, swapped


class FilterBelowGroup(FilterRule):
    """Both choose rows; neither changes them."""

    name = "filter-below-group"
    says = "a filter goes below the choice of one of several streams"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The chosen stream of the filtered rows."""
        over = plan.child
        if not isinstance(over, op.Group) or can_fail(plan.predicate) or can_fail(over.selector):
            return None
        return swapped(plan, over)
