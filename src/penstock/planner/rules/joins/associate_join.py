"""Rule associate-join: of three inputs the last two are joined first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.joins.join_forms import other_pair, three_inputs


class AssociateJoin(Rule):
    """(A join B) join C is A join (B join C), if a condition joins the two, or follows."""

    name = "associate-join"
    says = "of three inputs the last two are joined first"
    only_orders = True

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The join with the other pair first."""
        three = three_inputs(plan)
        if three is None:
            return None
        first, second, third, parts = three
        return other_pair(plan, first, (second, third), parts)
