"""Rule absorbed-distinct.

DISTINCT below a projection or union below another DISTINCT is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class AbsorbedDistinct(Rule):
    """DISTINCT over a union of DISTINCTs, as UNION makes them."""

    name = "absorbed-distinct"
    says = "DISTINCT below a projection or union below another DISTINCT is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """One DISTINCT, on top."""
        if not isinstance(plan, op.Distinct):
            return None
        below = _without_distinct(plan.child)
        return None if below is plan.child else op.Distinct(below)


def _without_distinct(plan: Plan) -> Plan:
    match plan:
        case op.Distinct():
            return plan.child
        case op.Map() | op.UnionAll() | op.Alias():
            children = tuple(map(_without_distinct, plan.children))
            same = all(old is new for old, new in zip(plan.children, children, strict=True))
            return plan if same else plan.rebuild(children)
    return plan
