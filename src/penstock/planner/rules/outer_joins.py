"""Outer joins: in the algebra a join and, padded with NULLs, the rows without a partner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import conjunction
from penstock.algebra.outer_joins import outer_join
from penstock.compute.evaluate import can_fail
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import divided, reads_only
from penstock.planner.rules.rule import Rule, RuleContext
from penstock.planner.rules.truth import Known, may_be_true, never_null

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


@dataclass(frozen=True)
class OuterJoin:
    """What an outer join is put together from, and which sides' rows are padded."""

    left: Plan
    right: Plan
    condition: Expression
    padded: tuple[bool, bool]

    @property
    def plan(self) -> Plan:
        """The outer join in terms of the algebra."""
        return outer_join(self.left, self.right, self.condition, self.padded)


def outer_join_in(plan: op.UnionAll) -> OuterJoin | None:
    """The outer join that a union is; None if it is something else."""
    pairs, *padded = plan.inputs
    if not isinstance(pairs, op.Join):
        return None
    for sides in ((True, False), (False, True), (True, True)):
        if len(padded) == sum(sides):
            found = OuterJoin(pairs.left, pairs.right, pairs.condition, sides)
            if found.plan == plan:
                return found
    return None


class FilterBelowOuterJoin(Rule):
    """Rows of a side that is padded stay whatever the other side has."""

    name = "filter-below-outer-join"
    says = "a condition on the rows that an outer join keeps goes to their side"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The outer join with its kept side filtered."""
        if not isinstance(plan, op.Filter) or not isinstance(plan.child, op.UnionAll):
            return None
        outer = outer_join_in(plan.child)
        if outer is None or all(outer.padded):
            return None
        sides = [outer.left, outer.right]
        kept = outer.padded.index(True)
        down, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, sides[kept]))
        if not down:
            return None
        sides[kept] = op.Filter(sides[kept], conjunction(down))
        lower = OuterJoin(sides[0], sides[1], outer.condition, outer.padded).plan
        return op.Filter(lower, conjunction(rest)) if rest else lower


class SimplifyOuterJoin(Rule):
    """Padded rows that no condition above can let pass need not be made."""

    name = "simplify-outer-join"
    says = "an outer join whose padded rows a filter drops anyway becomes a plainer join"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The filter over a join with less padding."""
        if not isinstance(plan, op.Filter) or not isinstance(plan.child, op.UnionAll):
            return None
        outer = outer_join_in(plan.child)
        if outer is None or can_fail(plan.predicate):
            return None
        rejected = [
            padded and _rejects_nulls(plan.predicate, other)
            for padded, other in zip(outer.padded, (outer.right, outer.left), strict=True)
        ]
        if not any(rejected):
            return None
        left, right = (
            padded and not gone for padded, gone in zip(outer.padded, rejected, strict=True)
        )
        join: Plan = op.Join(outer.left, outer.right, outer.condition)
        if left or right:
            join = OuterJoin(outer.left, outer.right, outer.condition, (left, right)).plan
        return op.Filter(join, plan.predicate)


def _rejects_nulls(predicate: Expression, side: Plan) -> bool:
    """Whether a condition is never TRUE where all columns of a side are NULL."""
    return not may_be_true(predicate, Known(null=frozenset(side.schema.names)))


class OuterJoinToNegation(Rule):
    """Pairs that no condition above can let pass need not be made: LEFT JOIN ... WHERE IS NULL.

    What the join asks for holds in every pair, so its keys are not NULL there.
    """

    name = "outer-join-to-negation"
    says = "an outer join whose pairs a filter drops anyway becomes a negation, padded with NULLs"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The filter over the rows without a partner."""
        if not isinstance(plan, op.Filter) or not isinstance(plan.child, op.UnionAll):
            return None
        outer = outer_join_in(plan.child)
        if outer is None or can_fail(plan.predicate) or _lets_pairs_pass(plan.predicate, outer):
            return None
        _, *padded = plan.child.inputs
        rows = padded[0] if len(padded) == 1 else op.UnionAll(tuple(padded))
        return op.Filter(rows, plan.predicate)


def _lets_pairs_pass(predicate: Expression, outer: OuterJoin) -> bool:
    pairs = op.Join(outer.left, outer.right, outer.condition)
    return may_be_true(predicate, Known(never_null=never_null(pairs)))
