"""The order of joins, semi-joins and anti-joins; which is best is a matter of cost.

All of them keep or drop whole left rows, with their copies, so they may be asked in any order.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column, columns_of, conjunction
from penstock.algebra.plan import Named
from penstock.algebra.types import BOOLEAN
from penstock.planner.rules.duplicates import has_no_copies
from penstock.planner.rules.joins import in_order_of
from penstock.planner.rules.maps import are_apart
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
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


class PullUpNegation(PullUp):
    """What is above a negation has to withdraw; a join above it would withdraw its results."""

    name = "pull-up-negation"
    says = "rows that NOT EXISTS drops are dropped after a join instead of before"

    def asked(self, side: Plan) -> Existential | None:
        """An anti-join."""
        return side if isinstance(side, op.AntiJoin) else None


class PullUpExists(PullUp):
    """A join that drops most rows leaves few to look for."""

    name = "pull-up-exists"
    says = "rows that EXISTS or IN drop are dropped after a join instead of before"

    def asked(self, side: Plan) -> Existential | None:
        """A semi-join."""
        return side if isinstance(side, op.SemiJoin) else None


class PullUpExcept(PullUp):
    """Of rows without copies, EXCEPT drops those that are on the right: a negation like others.

    EXCEPT ALL of rows with copies drops some of the copies, which no negation says.
    """

    name = "pull-up-except"
    says = "rows that EXCEPT drops are dropped after a join instead of before"

    def asked(self, side: Plan) -> Existential | None:
        """The anti-join that a difference is."""
        is_negation = isinstance(side, op.StrictDifference) or (
            isinstance(side, op.Difference) and has_no_copies(side.left)
        )
        if not is_negation:
            return None
        assert isinstance(side, op.BagOperation)
        # What is taken away may have the names of what it is taken from, or joined with.
        taken = tuple(
            Named(f"#{number}", Column(one.name, one.type))
            for number, one in enumerate(side.right.schema)
        )
        same: list[Expression] = [
            Call(
                "is not distinct from",
                (Column(mine.name, mine.type), Column(other.name, mine.type)),
                BOOLEAN,
            )
            for mine, other in zip(side.left.schema, taken, strict=True)
        ]
        return op.AntiJoin(side.left, op.Map(side.right, taken), conjunction(same))


class PushDown(Rule):
    """What is asked of one side's columns can be asked of that side's rows."""

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


class PushDownNegation(PushDown):
    """If a negation drops most rows, it had better do so before a join."""

    name = "push-down-negation"
    says = "rows that NOT EXISTS drops are dropped before a join instead of after"
    kind = op.AntiJoin


class PushDownExists(PushDown):
    """If few rows have a match, they had better be found before a join."""

    name = "push-down-exists"
    says = "rows that EXISTS or IN drop are dropped before a join instead of after"
    kind = op.SemiJoin


class ExchangeExists(Rule):
    """What drops most, or withdraws nothing, had better be asked first."""

    name = "exchange-exists"
    says = "of two EXISTS, IN or their negations the second is asked first"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The two in the other order."""
        if not isinstance(plan, Existential) or not isinstance(plan.left, Existential):
            return None
        first = plan.left
        return replace(first, left=replace(plan, left=first.left))
