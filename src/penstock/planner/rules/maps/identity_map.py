"""Rule identity-map: a projection that changes nothing is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.plan import Named
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class IdentityMap(Rule):
    """A projection to the same columns under the same names."""

    name = "identity-map"
    says = "a projection that changes nothing is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The input of the projection."""
        if not isinstance(plan, op.Map):
            return None
        same = tuple(Named(one.name, Column(one.name, one.type)) for one in plan.child.schema)
        return plan.child if plan.columns == same else None
