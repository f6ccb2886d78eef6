"""The order of joins, semi-joins and anti-joins; which is best is a matter of cost.

All of them keep or drop whole left rows, with their copies, so they may be asked in any order.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from penstock.algebra import operators as op
from penstock.algebra.expressions import columns_of
from penstock.planner.rules.joins.join_forms import in_order_of
from penstock.planner.rules.maps.plain_maps import are_apart
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan


Existential = op.SemiJoin | op.AntiJoin


class PullUp(Rule):
    """Asked of pairs is what was asked of the rows of one side."""

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The semi- or anti-join of the join."""
        if not isinstance(plan, op.Join | op.Product):
            return None
        for port, side in enumerate(plan.children):
            asked = self.asked(side)
            if asked is not None:
                sides = (asked.left, plan.right) if port == 0 else (plan.left, asked.left)
                return _asked_later(plan, plan.rebuild(sides), asked)
        return None

    @abstractmethod
    def asked(self, side: Plan) -> Existential | None:
        """The semi- or anti-join that an input of the join is; None if it is none."""


def _asked_later(plan: Plan, pairs: Plan, asked: Existential) -> Plan | None:
    if not are_apart(asked.right, pairs):
        return None
    return in_order_of(replace(asked, left=pairs), plan)


class PushDown(Rule):
    """A question about one side's columns can be asked of that side's rows."""

    kind: ClassVar[type[op.SemiJoin | op.AntiJoin]]

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The join of what is left."""
        if not isinstance(plan, self.kind) or not isinstance(plan.left, op.Join | op.Product):
            return None
        join = plan.left
        asked = columns_of(plan.condition) - set(plan.right.schema.names)
        if asked and asked <= set(join.left.schema.names):
            return replace(join, left=replace(plan, left=join.left))
        if asked and asked <= set(join.right.schema.names):
            return replace(join, right=replace(plan, left=join.right))
        return None
