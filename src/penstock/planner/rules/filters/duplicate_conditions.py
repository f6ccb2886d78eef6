"""Rule duplicate-conditions: a condition that stands twice in a filter is asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import conjunction
from penstock.planner.conditions import conjuncts

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule


class DuplicateConditions(FilterRule):
    """Filters are idempotent."""

    name = "duplicate-conditions"
    says = "a condition that stands twice in a filter is asked once"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """Each condition once."""
        parts = conjuncts(plan.predicate)
        once = list(dict.fromkeys(parts))
        return op.Filter(plan.child, conjunction(once)) if len(once) < len(parts) else None
