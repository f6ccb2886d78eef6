"""Rule true-filter: a filter that lets everything pass is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import TRUE
from penstock.planner.rules.filters.filter_rule import FilterRule

if TYPE_CHECKING:
    from penstock.algebra import operators as op
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext


class TrueFilter(FilterRule):
    """Nothing is asked."""

    name = "true-filter"
    says = "a filter that lets everything pass is left out"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The rows as they were."""
        return plan.child if plan.predicate == TRUE else None
