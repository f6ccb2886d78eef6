"""DISTINCT: where it has no effect, and where a cheaper operator says the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column, Literal, columns_of
from penstock.algebra.plan import Named
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Set

    from penstock.algebra.plan import Plan

EXTREMES = frozenset({"min", "max", "bool_and", "bool_or"})
"""Aggregates to which copies of a row are nothing."""


class RedundantDistinct(Rule):
    """The input has every row once."""

    name = "redundant-distinct"
    says = "DISTINCT over rows of which there is never a second copy is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The input of DISTINCT."""
        if isinstance(plan, op.Distinct) and has_no_copies(plan.child):
            return plan.child
        return None


def has_no_copies(plan: Plan) -> bool:
    """Whether no snapshot has a row twice."""
    match plan:
        case op.Distinct() | op.Aggregate():
            return True
        case op.Filter() | op.Alias() | op.Coalesce() | op.Split() | op.Sort() | op.Group():
            return has_no_copies(plan.child)
        case op.Map():
            return _keeps_rows_apart(plan)
        case op.Difference() | op.StrictDifference() | op.SemiJoin() | op.AntiJoin():
            return has_no_copies(plan.left)
        case op.Intersection():
            return has_no_copies(plan.left) or has_no_copies(plan.right)
        case op.MaxUnion() | op.Product() | op.Join():
            return has_no_copies(plan.left) and has_no_copies(plan.right)
    return False


def _keeps_rows_apart(plan: op.Map) -> bool:
    """Whether different rows stay different: all columns are there, or all keys of groups."""
    shown = {one.expression.name for one in plan.columns if isinstance(one.expression, Column)}
    below: Plan = plan.child
    while isinstance(below, op.Filter):
        below = below.child
    if isinstance(below, op.Aggregate):
        return {key.name for key in below.keys} <= shown
    return has_no_copies(below) and set(below.schema.names) <= shown


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


class DistinctBelowExists(Rule):
    """EXISTS asks whether there is a row, not how many."""

    name = "distinct-below-exists"
    says = "DISTINCT of what EXISTS, IN or their negation look into is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The semi- or anti-join with all right rows."""
        if isinstance(plan, op.SemiJoin | op.AntiJoin) and isinstance(plan.right, op.Distinct):
            return replace(plan, right=plan.right.child)
        return None


class DistinctBelowExtremes(Rule):
    """The least of a set is the least of the bag."""

    name = "distinct-below-extremes"
    says = "DISTINCT below MIN, MAX and other aggregates that ignore copies is left out"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The aggregate over all rows."""
        if not isinstance(plan, op.Aggregate) or not isinstance(plan.child, op.Distinct):
            return None
        ignored = all(call.distinct or call.function in EXTREMES for _, call in plan.aggregates)
        return replace(plan, child=plan.child.child) if ignored else None


class DistinctAggregates(Rule):
    """DISTINCT keeps a value once; the aggregate would keep an entry for every row.

    And different values can be counted on different lanes.
    """

    name = "distinct-aggregates"
    says = "COUNT(DISTINCT x) is COUNT(x) over DISTINCT rows, if all aggregates are of that x"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The aggregate over different rows."""
        if not isinstance(plan, op.Aggregate) or not plan.aggregates:
            return None
        arguments = {call.args for _, call in plan.aggregates}
        if len(arguments) > 1 or not all(call.distinct for _, call in plan.aggregates):
            return None
        (args,) = arguments
        # The share of a QUANTILE is no value of rows.
        values = tuple(
            Named(f"#{number}", arg)
            for number, arg in enumerate(args)
            if not isinstance(arg, Literal)
        )
        rows = op.Distinct(op.Map(plan.child, (*plan.keys, *values)))
        keys = tuple(Named(key.name, Column(key.name, key.expression.type)) for key in plan.keys)
        columns = tuple(
            arg if isinstance(arg, Literal) else Column(f"#{number}", arg.type)
            for number, arg in enumerate(args)
        )
        calls = tuple(
            (name, replace(call, args=columns, distinct=False)) for name, call in plan.aggregates
        )
        return replace(plan, child=rows, keys=keys, aggregates=calls)


class IntroduceSemiJoin(Rule):
    """Which left rows have a partner; how many each has does not matter to DISTINCT.

    By cost: to watch a row for its first and last partner takes more than to find a few pairs, and
    a semi-join is no part of a join of many windows.
    """

    name = "introduce-semi-join"
    says = "DISTINCT, or EXISTS, over columns of one side of a join is the same over a semi-join"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The same over the semi-join."""
        match plan:
            case op.Distinct(op.Map(op.Join() as join) as shown):
                read = {name for one in shown.columns for name in columns_of(one.expression)}
                matched = _matched(join, read)
                return None if matched is None else op.Distinct(replace(shown, child=matched))
            case op.SemiJoin(right=op.Join() as join) | op.AntiJoin(right=op.Join() as join):
                matched = _matched(join, columns_of(plan.condition) & set(join.schema.names))
                return None if matched is None else replace(plan, right=matched)
        return None


def _matched(join: op.Join, read: Set[str]) -> Plan | None:
    """The rows of the side that has all columns that are read, if they have a partner."""
    for side, other in ((join.left, join.right), (join.right, join.left)):
        if read <= set(side.schema.names):
            return op.SemiJoin(side, other, join.condition)
    return None
