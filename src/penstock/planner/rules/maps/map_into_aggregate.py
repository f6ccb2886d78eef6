"""Rule map-into-aggregate.

Keys and aggregates are computed from what a projection below computes them from.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import substituted
from penstock.algebra.plan import Named
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.expressions import by_name
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class MapIntoAggregate(Rule):
    """Not if a column may fail: it would fail as often as aggregates use it, or not at all."""

    name = "map-into-aggregate"
    says = "keys and aggregates are computed from what a projection below computes them from"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The aggregate over what is projected."""
        if not isinstance(plan, op.Aggregate) or not isinstance(plan.child, op.Map):
            return None
        lower = plan.child
        if any(can_fail(one.expression) for one in lower.columns):
            return None
        known = by_name(lower.columns)
        keys = tuple(Named(one.name, substituted(one.expression, known)) for one in plan.keys)
        calls = tuple(
            (name, replace(call, args=tuple(substituted(arg, known) for arg in call.args)))
            for name, call in plan.aggregates
        )
        return replace(plan, child=lower.child, keys=keys, aggregates=calls)
