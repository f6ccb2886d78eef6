"""Rule filter-below-map.

A filter goes below a projection, by what the columns are computed from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import substituted
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.expressions import by_name

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule


class FilterBelowMap(FilterRule):
    """Not if a column may fail: then it would fail for fewer rows."""

    name = "filter-below-map"
    says = "a filter goes below a projection, by what the columns are computed from"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The projection of the filtered rows."""
        over = plan.child
        if not isinstance(over, op.Map) or any(can_fail(one.expression) for one in over.columns):
            return None
        predicate = substituted(plan.predicate, by_name(over.columns))
        return op.Map(op.Filter(over.child, predicate), over.columns)
