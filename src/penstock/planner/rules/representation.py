"""The same elements in another form: cuts that nobody sees, subplans that stand twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import expressions_of
from penstock.compute.evaluate import can_fail
from penstock.planner.rules.rule import Rule, RuleContext, TogetherRule
from penstock.planner.sharing import merged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan

LOOK_AT_SNAPSHOTS = (
    op.Product, op.Join, op.SemiJoin, op.AntiJoin, op.Distinct, op.UnionAll, op.BagOperation,
    op.Aggregate, op.GroupJoin, op.ScalarProduct, op.Coalesce, st.IStream, st.DStream,
)  # fmt: skip
"""Operators to which it is nothing how their input is cut into elements."""


class DropCuts(Rule):
    """Coalesce and split change no snapshot; only what a query shows in the end can tell.

    INTERNAL could as well, which lets each element in once: it must not.
    """

    name = "drop-cuts"
    says = "coalesce and split are left out below INTERNAL, and what only looks at snapshots"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The operator over elements as they are."""
        if isinstance(plan, op.Coalesce | op.Split) and place.needs_elements:
            return plan.child
        if not isinstance(plan, LOOK_AT_SNAPSHOTS):
            return None
        below = plan.children
        children = tuple(
            one.child if isinstance(one, op.Coalesce | op.Split) else one for one in below
        )
        same = all(old is new for old, new in zip(below, children, strict=True))
        return None if same else plan.rebuild(children)


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


class MergeCuts(Rule):
    """Every multiple of a length is one of its divisors, so a cut by these is there already."""

    name = "merge-cuts"
    says = "a split of a split is one split by the shorter length, if it divides the longer"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """One split."""
        if not isinstance(plan, op.Split) or not isinstance(plan.child, op.Split):
            return None
        short, long = sorted((plan.length, plan.child.length))
        return None if long % short else op.Split(plan.child.child, short)


class CommonSubplans(TogetherRule):
    """Equal operators over the same inputs are one."""

    name = "common-subplans"
    says = "subplans that are the same, in one query or in several, are computed once"

    def rewritten(self, plans: Sequence[Plan]) -> list[Plan]:
        """The plans in which equal subplans are one object."""
        return merged(plans)
