"""Conditions that are known before any row comes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import TRUE, Call, Column, conjunction
from penstock.algebra.plan import Named
from penstock.algebra.streams import Window
from penstock.compute.comparisons import COMPARISONS
from penstock.compute.evaluate import can_fail, folded
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import FALSE, is_never_true
from penstock.planner.rules.filters import FilterRule
from penstock.planner.rules.ranges import ranges_in
from penstock.planner.rules.rule import Rule, RuleContext, sources_of
from penstock.planner.rules.truth import Known, may_be_true
from penstock.planner.rules.unions import named_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan


class FoldConstants(Rule):
    """What fails is left to fail, for every row."""

    name = "fold-constants"
    says = "parts of expressions that read no column are computed once, at planning"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The operator with shorter expressions."""
        made: Plan
        match plan:
            case op.Filter():
                made = replace(plan, predicate=_condition(plan.predicate))
            case op.Join() | op.SemiJoin() | op.AntiJoin() | op.GroupJoin():
                made = replace(plan, condition=_condition(plan.condition))
            case op.Map():
                columns = (Named(one.name, folded(one.expression)) for one in plan.columns)
                made = replace(plan, columns=tuple(columns))
            case op.Aggregate():
                made = _folded_groups(plan)
            case _:
                return None
        return None if made == plan else made


def _condition(condition: Expression) -> Expression:
    """A condition without parts that are always TRUE."""
    parts = [folded(one) for one in conjuncts(condition)]
    return conjunction([one for one in parts if one != TRUE])


def _folded_groups(plan: op.Aggregate) -> op.Aggregate:
    keys = tuple(Named(one.name, folded(one.expression)) for one in plan.keys)
    calls = tuple(
        (name, replace(call, args=tuple(map(folded, call.args)))) for name, call in plan.aggregates
    )
    return replace(plan, keys=keys, aggregates=calls)


class TrueFilter(FilterRule):
    """Nothing is asked."""

    name = "true-filter"
    says = "a filter that lets everything pass is left out"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """What was filtered."""
        return plan.child if plan.predicate == TRUE else None


class Contradiction(FilterRule):
    """Conditions of which one at most can be TRUE for a row."""

    name = "contradiction"
    says = "a filter that asks for what cannot be lets nothing pass, and asks nothing else"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filter that is FALSE."""
        if plan.predicate == FALSE or can_fail(plan.predicate):
            return None
        parts = conjuncts(plan.predicate)
        if (
            not may_be_true(plan.predicate)
            or _deny_each_other(parts)
            or any(not one.has_values for one in ranges_in(parts).values())
        ):
            return op.Filter(plan.child, FALSE)
        return None


def _deny_each_other(parts: Sequence[Expression]) -> bool:
    known = set(parts)
    for part in parts:
        match part:
            case Call("not", (denied,)) if denied in known:
                return True
            case Call("is null", (arg,)) if any(_needs_value(one, arg) for one in parts):
                return True
    return False


def _needs_value(part: Expression, arg: Expression) -> bool:
    """Whether a condition is not TRUE if something is NULL."""
    if isinstance(arg, Column):
        return not may_be_true(part, Known(null=frozenset({arg.name})))
    return isinstance(part, Call) and part.function in COMPARISONS and arg in part.args


def is_empty(plan: Plan) -> bool:
    """Whether a plan has no row at any instant, plainly."""
    match plan:
        case op.Filter():
            return is_never_true(plan.predicate) or is_empty(plan.child)
        case op.Map() | op.Alias() | op.Distinct() | op.Coalesce() | op.Split() | op.Group():
            return is_empty(plan.child)
        case op.Sort() | Window():
            return is_empty(plan.child)
        case op.Product() | op.Join() | op.SemiJoin() | op.Intersection():
            return is_empty(plan.left) or is_empty(plan.right)
        case op.AntiJoin() | op.Difference() | op.StrictDifference():
            return is_empty(plan.left)
        case op.Aggregate():
            return bool(plan.keys) and is_empty(plan.child)
    return False


class EmptyBranch(Rule):
    """What has no rows must not read a stream that nothing else reads: its clock would be lost."""

    name = "empty-branch"
    says = "an input of a union, or the right side of a negation, that has no rows is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The operator without the input."""
        if place.needs_instants:
            return None
        if isinstance(plan, op.UnionAll):
            return _without_empty(plan)
        if isinstance(plan, op.AntiJoin | op.Difference | op.StrictDifference):
            is_idle = is_empty(plan.right) and sources_of(plan.right) <= sources_of(plan.left)
            return plan.left if is_idle else None
        return None


def _without_empty(plan: op.UnionAll) -> Plan | None:
    kept = [one for one in plan.inputs if not is_empty(one)]
    if not kept or len(kept) == len(plan.inputs):
        return None
    if not sources_of(plan) <= {name for one in kept for name in sources_of(one)}:
        return None
    kept[0] = named_like(kept[0], plan)
    return op.UnionAll(tuple(kept)) if len(kept) > 1 else kept[0]
