"""Rule filter-below-union: the filter of a union is the union of the filtered inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.outer_joins.outer_join_form import outer_join_in

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule, filtered_input


class FilterBelowUnion(FilterRule):
    """An outer join is put together by a union as well, and better stays in one piece."""

    name = "filter-below-union"
    says = "the filter of a union is the union of the filtered inputs"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The union of filters."""
        over = plan.child
        if not isinstance(over, op.UnionAll) or outer_join_in(over) is not None:
            return None
        return op.UnionAll(tuple(filtered_input(plan, over, one) for one in over.inputs))
