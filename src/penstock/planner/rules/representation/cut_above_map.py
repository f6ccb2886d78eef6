"""Rule cut-above-map.

Rows are projected, or one of several streams is chosen, before coalesce and split.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.plan import expressions_of
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class CutAboveMap(Rule):
    """So that fewer pieces are computed, and a cut comes to where it may be dropped.

    Not if an expression may fail: it would fail for other pieces.
    """

    name = "cut-above-map"
    says = "rows are projected, or one of several streams is chosen, before coalesce and split"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The pieces of what is made of whole elements."""
        if not isinstance(plan, op.Map | op.Group):
            return None
        cut = plan.child
        if not isinstance(cut, op.Coalesce | op.Split) or any(map(can_fail, expressions_of(plan))):
            return None
        return replace(cut, child=replace(plan, child=cut.child))
