"""Rule exchange-exists: of two EXISTS, IN or their negations the second is asked first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
from penstock.planner.rules.existence.existential_moves import Existential


class ExchangeExists(Rule):
    """The question that drops most, or withdraws nothing, had better be asked first."""

    name = "exchange-exists"
    says = "of two EXISTS, IN or their negations the second is asked first"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The two in the other order."""
        if not isinstance(plan, Existential) or not isinstance(plan.left, Existential):
            return None
        first = plan.left
        return replace(first, left=replace(plan, left=first.left))
