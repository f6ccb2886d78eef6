"""Rule filter-below-exists.

A condition on the left rows goes below EXISTS, IN, their negation, and subqueries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import divided, reads_only
from penstock.planner.rules.filters.filter_rule import FilterRule

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.side_filters import over_rest, with_filters


class FilterBelowExists(FilterRule):
    """Semi-joins, anti-joins and subqueries keep left rows as they are."""

    name = "filter-below-exists"
    says = "a condition on the left rows goes below EXISTS, IN, their negation, and subqueries"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The operator on the filtered left input."""
        over = plan.child
        if not isinstance(over, op.SemiJoin | op.AntiJoin | op.ScalarProduct | op.GroupJoin):
            return None
        down, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, over.left))
        return over_rest(with_filters(over, down, ()), rest) if down else None
