"""Rules of join orders: of three inputs another pair is joined first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from penstock.planner.rules.joins.join_forms import other_pair, three_inputs
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class OtherPairFirst(Rule):
    """(A join B) join C with another pair first, if a condition joins the two, or follows.

    Attributes:
        alone: Of A, B and C the one that is joined last, counted from 0.
    """

    only_orders = True
    alone: ClassVar[int]

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The join with the other pair first."""
        three = three_inputs(plan)
        if three is None:
            return None
        *inputs, parts = three
        first, second = (one for number, one in enumerate(inputs) if number != self.alone)
        return other_pair(plan, inputs[self.alone], (first, second), parts)
