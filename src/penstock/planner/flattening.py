"""Trees of joins taken apart: their inputs side by side, and all that is asked of them.

Filters and projections between joins are taken along as long as these only choose and move columns.
What may fail is taken along as well: of which combinations a join asks its condition is its affair.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import TRUE, Call, Column, columns_of
from penstock.algebra.positions import EQUAL, moved, positional
from penstock.algebra.types import BOOLEAN
from penstock.planner.conditions import conjuncts, join_condition, placed
from penstock.planner.physical.lower_joins import condition_of
from penstock.planner.statistics.tracing import named, predicate_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Binary, Plan, Unary
    from penstock.planner.conditions import JoinCondition

LEAST_INPUTS = 3
"""Fewer have a join of their own."""
MOST_INPUTS = 16
"""The number of inputs beyond which several operators join them."""


@dataclass(frozen=True)
class PositionedCondition:
    """A condition over positions in the columns of all inputs, and its name in statistics."""

    asks: Expression
    name: str | None = None


@dataclass(frozen=True)
class Flat:
    """A tree of joins taken apart.

    Args:
        inputs: What is joined.
        columns: Where each column of the result stands in the columns of all inputs.
        parts: All that is asked.
        joins: The operators that it was taken apart from.
    """

    inputs: tuple[Plan, ...]
    columns: tuple[int, ...]
    parts: tuple[PositionedCondition, ...] = ()
    joins: tuple[Plan, ...] = ()

    @property
    def offsets(self) -> list[int]:
        """The places where the columns of each input begin, and where those of the last one end."""
        found = [0]
        for one in self.inputs:
            found.append(found[-1] + len(one.schema))
        return found

    @property
    def names(self) -> list[Column]:
        """The columns of all inputs, as expressions over their names."""
        return [Column(field.name, field.type) for one in self.inputs for field in one.schema]


class Flattening:
    """Takes trees of joins apart.

    Args:
        is_whole: Whether the result of an operator has to be there: others read it, for example.
        uncut: What an operator was before inputs were cut off; conditions are known by it.
    """

    def __init__(self, is_whole: Callable[[Plan], bool], uncut: Callable[[Plan], Plan]) -> None:
        self._is_whole = is_whole
        self._uncut = uncut

    def flattened(self, plan: Plan) -> Flat | None:
        """The join of several inputs that a plan is; None: it is something else."""
        match plan:
            case op.Product() | op.Join():
                return self._joined(plan)
            case op.Filter():
                return self._filtered(plan)
            case op.Map():
                read = [one.expression for one in plan.columns]
                names = [one.name for one in read if isinstance(one, Column)]
                return self._moved(plan, names) if len(names) == len(read) else None
            case op.Alias():
                return self._moved(plan, plan.child.schema.names)
        return None

    def _below(self, plan: Plan) -> Flat | None:
        """The join that can be taken apart below something else that asks, or joins."""
        return None if self._is_whole(plan) else self.flattened(plan)

    def _filtered(self, plan: op.Filter) -> Flat | None:
        below = self._below(plan.child)
        if below is None:
            return None
        known_as = self._uncut(plan).children[0]
        asks = [one for one in conjuncts(plan.predicate) if one != TRUE]
        parts = [
            PositionedCondition(
                _placed(positional(one, plan.child.schema), below), predicate_key(one, known_as)
            )
            for one in asks
        ]
        return replace(below, parts=(*below.parts, *parts), joins=(*below.joins, plan))

    def _moved(self, plan: Unary, names: Sequence[str]) -> Flat | None:
        """A projection that computes nothing."""
        below = self._below(plan.child)
        if below is None:
            return None
        places = {name: place for place, name in enumerate(plan.child.schema.names)}
        columns = tuple(below.columns[places[name]] for name in names)
        return replace(below, columns=columns, joins=(*below.joins, plan))

    def _joined(self, plan: Binary) -> Flat:
        condition = join_condition(condition_of(plan), len(plan.left.schema))
        asked = named(condition, self._uncut(plan))
        both = _beside(plan, *self._sides(plan, asked))
        keys = [
            PositionedCondition(_placed(one, both)) for one in _equal(asked, len(plan.left.schema))
        ]
        residual = [] if asked.residual is None else conjuncts(asked.residual)
        rest = [
            PositionedCondition(_placed(one, both), name)
            for one, name in zip(residual, asked.names, strict=True)
        ]
        return replace(both, parts=(*both.parts, *keys, *rest))

    def _sides(self, plan: Binary, asked: JoinCondition) -> list[Flat]:
        """The joins of both sides; a side stays whole if its only keys are over several inputs."""
        sides = [self._below(one) or _alone(one) for one in plan.children]
        spans = [
            [_reads_several(key, side) for key in keys]
            for keys, side in zip((asked.left, asked.right), sides, strict=True)
        ]
        if asked.left and all(map(any, zip(*spans, strict=True))):
            found = zip(sides, spans, plan.children, strict=True)
            sides = [_alone(one) if any(several) else side for side, several, one in found]
        if sum(len(side.inputs) for side in sides) > MOST_INPUTS:
            larger = int(len(sides[0].inputs) < len(sides[1].inputs))
            sides[larger] = _alone(plan.children[larger])
        return sides


def _beside(plan: Plan, left: Flat, right: Flat) -> Flat:
    """The product of what both sides of a join are taken apart into."""
    offset = left.offsets[-1]
    behind = (replace(one, asks=moved(one.asks, 0, offset)) for one in right.parts)
    return Flat(
        (*left.inputs, *right.inputs),
        (*left.columns, *(one + offset for one in right.columns)),
        (*left.parts, *behind),
        (*left.joins, *right.joins, plan),
    )


def _alone(plan: Plan) -> Flat:
    return Flat((plan,), tuple(range(len(plan.schema))))


def _reads_several(key: Expression, side: Flat) -> bool:
    """A key of a join that is computed from columns of several inputs."""
    places = [side.columns[int(name)] for name in columns_of(key)]
    return len({bisect_right(side.offsets, one) for one in places}) > 1


def _equal(asked: JoinCondition, width: int) -> list[Expression]:
    """The equalities of keys, over the columns of both sides."""
    return [
        Call(EQUAL[null_matches], (left, moved(right, 0, width)), BOOLEAN)
        for left, right, null_matches in zip(
            asked.left, asked.right, asked.null_matches, strict=True
        )
    ]


def _placed(expression: Expression, flat: Flat) -> Expression:
    """An expression over the columns of a result as one over those of all inputs."""
    return placed(expression, {str(place): str(one) for place, one in enumerate(flat.columns)})
