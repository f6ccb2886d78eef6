"""Flows: the rows on an edge of a plan, and what operators make of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Column
from penstock.algebra.patterns import Pattern, pattern_of
from penstock.planner.statistics.statistics import DIFFERENT_VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.planner.physical.physical_only import Arrival, OuterJoin


@dataclass(frozen=True)
class Flow:
    """The rows on an edge.

    Args:
        rate: Rows that begin in a step of time.
        withdrawn: How many of them are withdrawn before the end they were sent with.
        live: Rows that are valid at an instant.
        different: How many values each column has among them, at most.
        even: Of columns in which some values prevail, how many equally frequent ones would meet
            as often.
    """

    rate: float
    withdrawn: float
    live: float
    different: Mapping[str, float] = field(default_factory=dict)
    even: Mapping[str, float] = field(default_factory=dict)

    def share(self, of: float) -> Flow:
        """A share of the rows."""
        return replace(
            self, rate=self.rate * of, withdrawn=self.withdrawn * of, live=self.live * of
        )

    def values(self, columns: Sequence[str]) -> float:
        """The number of different rows that these columns may have."""
        return _product(self.different.get(name, DIFFERENT_VALUES) for name in columns)

    def meeting(self, columns: Sequence[str]) -> float:
        """The number there would be, were all as frequent as the one that a row is of."""
        different = {**self.different, **self.even}
        return _product(different.get(name, DIFFERENT_VALUES) for name in columns)


def _product(counts: Iterable[float]) -> float:
    found = 1.0
    for count in counts:
        found = min(found * count, 1e15)
    return found


def present(values: float, rows: float) -> float:
    """The number of values that so many rows have, of so many."""
    return values * -math.expm1(-rows / values) if values > 0 else 0.0


def mapped(plan: op.Map, rows: Flow) -> Flow:
    """The same rows with other columns."""
    known = {one.name: _values(one.expression, rows) for one in plan.columns}
    even = {
        one.name: rows.even[one.expression.name]
        for one in plan.columns
        if isinstance(one.expression, Column) and one.expression.name in rows.even
    }
    return replace(rows, different=known, even=even)


def _values(expression: Expression, rows: Flow) -> float:
    if isinstance(expression, Column):
        return rows.different.get(expression.name, DIFFERENT_VALUES)
    found = [_values(child, rows) for child in expression.children]
    return max(found, default=1.0)


def joined(left: Flow, right: Flow, share: float) -> Flow:
    """A share of all pairs of rows."""
    return Flow(
        (left.rate * right.live + right.rate * left.live) * share,
        (left.withdrawn * right.live + right.withdrawn * left.live) * share,
        left.live * right.live * share,
        {**left.different, **right.different},
        {**left.even, **right.even},
    )


def matched(left: Flow, right: Flow, share: float) -> Flow:
    """Left rows with a match; the first match of a row lets it in."""
    alone = _alone(right, share)
    first = left.live * share * right.rate * alone
    made = left.share(1 - alone)
    return replace(made, rate=made.rate + first)


def unmatched(left: Flow, right: Flow, share: float) -> Flow:
    """Left rows without one; what a match throws out comes back when the last match has gone."""
    alone = _alone(right, share)
    first = left.live * share * right.rate * alone
    made = left.share(alone)
    return replace(made, rate=made.rate + first, withdrawn=made.withdrawn + first)


def _alone(right: Flow, share: float) -> float:
    """The share of rows that match none of the others."""
    return math.exp(-min(share * right.live, 700.0))


def padded(plan: OuterJoin, left: Flow, right: Flow, share: float) -> Flow:
    """Pairs, and the rows of padded sides without a partner."""
    pairs, sides = joined(left, right, share), ((left, right), (right, left))
    alone = [
        unmatched(mine, other, share)
        for (mine, other), is_padded in zip(sides, plan.padded, strict=True)
        if is_padded
    ]
    return replace(united([pairs, *alone]), even=pairs.even)


def arrived(plan: Arrival, left: Flow, right: Flow, share: float) -> Flow:
    """Each row meets a relation once; what changes there later is nothing to it."""
    match plan.reading:
        case op.SemiJoin():
            return left.share(1 - _alone(right, share))
        case op.AntiJoin():
            return left.share(_alone(right, share))
        case op.ScalarProduct() | op.GroupJoin():
            return left
    known = {**left.different, **right.different}
    found = left.share(right.live * share)
    return replace(found, different=known, even={**left.even, **right.even})


def united(inputs: Sequence[Flow]) -> Flow:
    """The rows of all."""
    return Flow(
        sum(one.rate for one in inputs),
        sum(one.withdrawn for one in inputs),
        sum(one.live for one in inputs),
        inputs[0].different,
    )


def bags(plan: op.BagOperation, left: Flow, right: Flow) -> Flow:
    """Of set operations the left rows are counted, and each right row as one that changes them."""
    if isinstance(plan, op.MaxUnion | op.Intersection):
        found = united([left, right]) if isinstance(plan, op.MaxUnion) else left.share(0.5)
        withdraws = pattern_of(plan) is Pattern.STR
        return replace(found, withdrawn=found.rate) if withdraws else found
    return replace(left, rate=left.rate + right.rate, withdrawn=left.withdrawn + right.rate)


def grouped(plan: op.Aggregate | op.Combine, rows: Flow) -> Flow:
    """Each row that comes or goes changes the row of its group."""
    keys = {one.name: _values(one.expression, rows) for one in plan.keys}
    values = 1.0
    for count in keys.values():
        values = min(values * count, 1e15)
    groups = present(values, rows.live) if keys else 1.0
    changes = 2 * rows.rate
    calls = {name: max(groups, 1.0) for name, _ in plan.aggregates}
    return Flow(changes, changes, groups, {**keys, **calls})
