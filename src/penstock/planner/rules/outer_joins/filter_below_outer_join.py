"""Rule filter-below-outer-join.

A condition on the rows that an outer join keeps goes to their side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import conjunction
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import divided, reads_only
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.outer_joins.outer_join_form import OuterJoinForm, outer_join_in


class FilterBelowOuterJoin(Rule):
    """Rows of a side that is padded stay whatever the other side has."""

    name = "filter-below-outer-join"
    says = "a condition on the rows that an outer join keeps goes to their side"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The outer join with its kept side filtered."""
        if not isinstance(plan, op.Filter) or not isinstance(plan.child, op.UnionAll):
            return None
        outer = outer_join_in(plan.child)
        if outer is None or all(outer.padded):
            return None
        sides = [outer.left, outer.right]
        kept = outer.padded.index(True)
        down, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, sides[kept]))
        if not down:
            return None
        sides[kept] = op.Filter(sides[kept], conjunction(down))
        lower = OuterJoinForm(sides[0], sides[1], outer.condition, outer.padded).plan
        return op.Filter(lower, conjunction(rest)) if rest else lower
