"""Filters on their way down through joins, and what joins ask of one side only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column, Literal, columns_of, conjunction
from penstock.planner.conditions import conjuncts
from penstock.planner.rules.expressions import divided, reads_only
from penstock.planner.rules.filters import FilterRule
from penstock.planner.rules.rule import Rule, RuleContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan

COMPARISONS = ("=", "<", "<=", ">", ">=", "<>")


def over_rest(plan: Plan, rest: Sequence[Expression]) -> Plan:
    """The plan, filtered by what could not go down."""
    return op.Filter(plan, conjunction(list(rest))) if rest else plan


def with_filters(plan: Binary, left: Sequence[Expression], right: Sequence[Expression]) -> Plan:
    """The operator over filtered inputs."""
    return plan.rebuild((over_rest(plan.left, left), over_rest(plan.right, right)))


class FilterBelowJoin(FilterRule):
    """A pair passes if the row of one side does."""

    name = "filter-below-join"
    says = "a condition on the rows of one side of a join goes to that side"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The join of filtered inputs, filtered by what reads both."""
        over = plan.child
        if not isinstance(over, op.Product | op.Join):
            return None
        left, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, over.left))
        right, rest = divided(rest, lambda one: reads_only(one, over.right))
        return over_rest(with_filters(over, left, right), rest) if left or right else None


class ProductToJoin(FilterRule):
    """A filter over a product, or a join, is a join."""

    name = "product-to-join"
    says = "a condition on both sides of a product or join becomes the join's"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The join."""
        over = plan.child
        if not isinstance(over, op.Product | op.Join):
            return None
        parts = conjuncts(plan.predicate)
        both, rest = divided(parts, lambda one: _reads_both(one, over))
        if not both:
            return None
        known = conjuncts(over.condition) if isinstance(over, op.Join) else []
        return over_rest(op.Join(over.left, over.right, conjunction([*known, *both])), rest)


def _reads_both(part: Expression, plan: Binary) -> bool:
    read = columns_of(part)
    return bool(read & set(plan.left.schema.names)) and bool(read & set(plan.right.schema.names))


class FilterBelowExists(FilterRule):
    """Semi-joins, anti-joins and subqueries keep left rows as they are."""

    name = "filter-below-exists"
    says = "a condition on the left rows goes below EXISTS, IN, their negation, and subqueries"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The operator on the filtered left input."""
        over = plan.child
        if not isinstance(over, op.SemiJoin | op.AntiJoin | op.ScalarProduct | op.GroupJoin):
            return None
        down, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, over.left))
        return over_rest(with_filters(over, down, ()), rest) if down else None


class FilterBelowArrival(FilterRule):
    """Which rows read a relation does not change what each reads."""

    name = "filter-below-arrival"
    says = "a condition on stream rows is asked before they read a non-retroactive relation"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filtered stream reads the relation."""
        over = plan.child
        if not isinstance(over, op.OnArrival):
            return None
        reading = over.reading
        down, rest = divided(conjuncts(plan.predicate), lambda one: reads_only(one, reading.left))
        if not down:
            return None
        return over_rest(op.OnArrival(with_filters(reading, down, ())), rest)


class ConditionBelowJoin(Rule):
    """A left row of an anti-join stays whatever it is, so only the right side is filtered."""

    name = "condition-below-join"
    says = "what a join condition asks of one side only becomes a filter of that side"

    def rewritten(self, plan: Plan, place: RuleContext) -> Plan | None:
        """The join over filtered inputs, with what is left of its condition."""
        if not isinstance(plan, op.Join | op.SemiJoin | op.AntiJoin | op.GroupJoin):
            return None
        left: list[Expression] = []
        rest = conjuncts(plan.condition)
        if isinstance(plan, op.Join | op.SemiJoin):
            left, rest = divided(rest, lambda one: reads_only(one, plan.left))
        right, rest = divided(rest, lambda one: reads_only(one, plan.right))
        if not left and not right:
            return None
        return with_filters(replace(plan, condition=conjunction(rest)), left, right)


class TransitiveConditions(FilterRule):
    """If a = b and a < 5, then b < 5, which the other side can ask of its rows."""

    name = "transitive-conditions"
    says = "what is asked of a join's key on one side is asked of it on the other as well"

    def filtered(self, plan: op.Filter, place: RuleContext) -> Plan | None:
        """The filter with the conditions that follow."""
        over = plan.child
        if not isinstance(over, op.Join):
            return None
        equal = _equal_columns(over.condition)
        parts = conjuncts(plan.predicate)
        implied = [found for part in parts for found in _implied(part, equal)]
        new = [one for one in dict.fromkeys(implied) if one not in parts]
        return op.Filter(over, conjunction([*parts, *new])) if new else None


def _equal_columns(condition: Expression) -> dict[Expression, list[Column]]:
    """For each column, those that have the same value in every pair."""
    found: dict[Expression, list[Column]] = {}
    for part in conjuncts(condition):
        match part:
            case Call("=", (Column() as first, Column() as second)) if first.of == second.of:
                found.setdefault(first, []).append(second)
                found.setdefault(second, []).append(first)
    return found


def _implied(part: Expression, equal: dict[Expression, list[Column]]) -> list[Expression]:
    match part:
        case Call(function, (Column() as column, Literal() as value)) if function in COMPARISONS:
            return [replace(part, args=(one, value)) for one in equal.get(column, ())]
        case Call("in", (Column() as column, *members)) if _are_constants(members):
            return [replace(part, args=(one, *members)) for one in equal.get(column, ())]
        case Call(function, (Literal() as value, Column() as column)) if function in COMPARISONS:
            return [replace(part, args=(value, one)) for one in equal.get(column, ())]
    return []


def _are_constants(members: Sequence[Expression]) -> bool:
    return all(isinstance(one, Literal) for one in members)
