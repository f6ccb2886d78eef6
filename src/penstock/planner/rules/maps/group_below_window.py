"""Rule group-below-window: the choice of one of several streams goes below a window over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of
from penstock.algebra.streams import Window
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


class GroupBelowWindow(Rule):
    """As for filters: not below ROWS, nor where RSTREAM asks when rows come."""

    name = "group-below-window"
    says = "the choice of one of several streams goes below a window over time"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The window over the chosen stream."""
        if not isinstance(plan, op.Group) or not isinstance(plan.child, Window):
            return None
        window = plan.child
        if window.spec.counts_rows or place.needs_instants or can_fail(plan.selector):
            return None
        if columns_of(plan.selector) & set(window.schema.names[len(window.child.schema) :]):
            return None
        return Window(replace(plan, child=window.child), window.spec)
