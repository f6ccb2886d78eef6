"""Columns called by their position: how operators that run know them, whatever queries say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Column, Expression, columns_of, substituted, walk
from penstock.algebra.types import Field, Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.types import Type

EQUAL = ("=", "is not distinct from")
"""Both put the two sides into one lane where they hold: NULL is hashed like a value."""


def positions(types: Sequence[Type]) -> Schema:
    """A schema whose columns are called 0, 1, ..."""
    return Schema(tuple(Field(str(number), type_) for number, type_ in enumerate(types)))


def columns_at(types: Sequence[Type]) -> tuple[Expression, ...]:
    """The columns of such a schema."""
    return tuple(Column(str(number), type_) for number, type_ in enumerate(types))


def positional(expression: Expression, schema: Schema) -> Expression:
    """The expression over columns called by their position in the schema."""
    places = {field.name: Column(str(n), field.type) for n, field in enumerate(schema)}
    return substituted(expression, places)


def moved(expression: Expression, start: int, by: int) -> Expression:
    """The expression with the columns from a position on called by later (or earlier) ones."""
    places = {}
    for part in walk(expression):
        if isinstance(part, Column):
            place = int(part.name)
            places[part.name] = Column(str(place + by if place >= start else place), part.of)
    return substituted(expression, places)


def equalities(condition: Expression) -> list[tuple[Expression, Expression]]:
    """The pairs that are equal wherever a condition is TRUE.

    A comparison with a constant is left out: all rows that pass it would share one lane.
    """
    if isinstance(condition, Call) and condition.function == "and":
        return [pair for part in condition.args for pair in equalities(part)]
    if not (isinstance(condition, Call) and condition.function in EQUAL):
        return []
    left, right = condition.args
    if left.type != right.type or not columns_of(left) or not columns_of(right):
        return []
    return [(left, right)]
