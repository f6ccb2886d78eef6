"""Rule merge-filters: a filter over a filter is one filter by both conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import conjunction
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule


class MergeFilters(FilterRule):
    """The upper condition must not fail: it would be asked where the lower one is NULL."""

    name = "merge-filters"
    says = "a filter over a filter is one filter by both conditions"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """One filter."""
        lower = plan.child
        if not isinstance(lower, op.Filter) or can_fail(plan.predicate):
            return None
        parts = [*conjuncts(lower.predicate), *conjuncts(plan.predicate)]
        return op.Filter(lower.child, conjunction(parts))
