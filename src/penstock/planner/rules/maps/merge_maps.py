"""Rule merge-maps: a projection of a projection is one projection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import substituted
from penstock.algebra.plan import Named
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.expressions import by_name
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class MergeMaps(Rule):
    """Not if a lower column may fail: it would fail as often as it is used above."""

    name = "merge-maps"
    says = "a projection of a projection is one projection"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """One projection."""
        if not isinstance(plan, op.Map) or not isinstance(plan.child, op.Map):
            return None
        lower = plan.child
        if any(can_fail(one.expression) for one in lower.columns):
            return None
        known = by_name(lower.columns)
        columns = [Named(one.name, substituted(one.expression, known)) for one in plan.columns]
        return op.Map(lower.child, tuple(columns))
