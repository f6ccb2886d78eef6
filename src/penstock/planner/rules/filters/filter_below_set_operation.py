"""Rule filter-below-set-operation.

The filter of a set operation is the operation on filtered inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.compute.evaluate import can_fail

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule, filtered_input


class FilterBelowSetOperation(FilterRule):
    """All copies of a row pass, or none, on both sides."""

    name = "filter-below-set-operation"
    says = "the filter of a set operation is the operation on filtered inputs"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The operation on filtered inputs."""
        over = plan.child
        if not isinstance(over, op.BagOperation) or can_fail(plan.predicate):
            return None
        return over.rebuild(tuple(filtered_input(plan, over, one) for one in over.children))
