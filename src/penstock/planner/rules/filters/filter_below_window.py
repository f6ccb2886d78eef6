"""Rule filter-below-window: a filter goes below a window over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import columns_of
from penstock.algebra.streams import Window
from penstock.compute.evaluate import can_fail

if TYPE_CHECKING:
    from penstock.algebra import operators as op
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule, swapped


class FilterBelowWindow(FilterRule):
    """Not below ROWS, which counts the rows it gets, nor where RSTREAM asks when rows come."""

    name = "filter-below-window"
    says = "a filter goes below a window over time"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The window over the filtered stream."""
        over = plan.child
        if not isinstance(over, Window) or over.spec.counts_rows or place.needs_instants:
            return None
        if columns_of(plan.predicate) & set(over.schema.names[len(over.child.schema) :]):
            return None
        # Some windows drop rows, of which nothing has been asked before.
        return None if can_fail(plan.predicate) else swapped(plan, over)
