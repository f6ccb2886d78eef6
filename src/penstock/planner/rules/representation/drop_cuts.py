"""Rule drop-cuts.

Coalesce and split are left out below INTERNAL, and what only looks at snapshots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
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
