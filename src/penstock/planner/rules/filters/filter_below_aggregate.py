"""Rule filter-below-aggregate.

A condition on GROUP BY's keys is asked of the rows instead of the groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of, conjunction, substituted
from penstock.algebra.plan import expressions_of
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import by_name, divided

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.planner.rules.rule import RuleContext
from penstock.planner.rules.filters.filter_rule import FilterRule


class FilterBelowAggregate(FilterRule):
    """HAVING on a key is WHERE: a group passes with all of its rows, or with none."""

    name = "filter-below-aggregate"
    says = "a condition on GROUP BY's keys is asked of the rows instead of the groups"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The groups of the filtered rows, filtered by what is left."""
        over = plan.child
        if not isinstance(over, op.Aggregate) or any(map(can_fail, expressions_of(over))):
            return None
        if can_fail(plan.predicate):
            return None
        keys = by_name(over.keys)
        down, rest = divided(
            conjuncts(plan.predicate),
            lambda one: bool(columns_of(one)) and columns_of(one) <= keys.keys(),
        )
        if not down:
            return None
        rows = op.Filter(over.child, substituted(conjunction(down), keys))
        groups = replace(over, child=rows)
        return op.Filter(groups, conjunction(rest)) if rest else groups
