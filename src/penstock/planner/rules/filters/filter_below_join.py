"""Rule filter-below-join: a condition on the rows of one side of a join goes to that side."""

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


class FilterBelowJoin(FilterRule):
    """A pair passes if the row of one side does."""

    name = "filter-below-join"
    says = "a condition on the rows of one side of a join goes to that side"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The join of filtered inputs, filtered by what reads both."""
        over = plan.child
        if not isinstance(over, op.Product | op.Join):
            return None
        left, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, over.left))
        right, rest = divided(rest, lambda one: reads_only(one, over.right))
        return over_rest(with_filters(over, left, right), rest) if left or right else None
