"""Rule filter-below-arrival.

A condition on stream rows is asked before they read a non-retroactive relation.
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


class FilterBelowArrival(FilterRule):
    """The choice of rows that read a relation does not change what each reads."""

    name = "filter-below-arrival"
    says = "a condition on stream rows is asked before they read a non-retroactive relation"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filtered stream reads the relation."""
        over = plan.child
        if not isinstance(over, op.OnArrival):
            return None
        reading = over.reading
        down, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, reading.left))
        if not down:
            return None
        return over_rest(op.OnArrival(with_filters(reading, down, ())), rest)
