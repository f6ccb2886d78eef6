"""Questions that rules ask of expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.expressions import Column, Expression, Literal, columns_of, substituted
from penstock.algebra.types import BOOLEAN
from penstock.planner.conditions import conjuncts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.plan import Named, Plan
    from penstock.algebra.types import Schema

FALSE = Literal(False, BOOLEAN)


def is_never_true(predicate: Expression) -> bool:
    """A predicate that is FALSE or NULL for every row, plainly."""
    return any(isinstance(one, Literal) and one.value is not True for one in conjuncts(predicate))


def reads_only(expression: Expression, plan: Plan) -> bool:
    """An expression that reads columns, and all of them of one plan."""
    read = columns_of(expression)
    return bool(read) and read <= set(plan.schema.names)


def divided(
    parts: Sequence[Expression], test: Callable[[Expression], bool]
) -> tuple[list[Expression], list[Expression]]:
    """The parts that pass a test, and the others."""
    return [one for one in parts if test(one)], [one for one in parts if not test(one)]


def renamed(expression: Expression, before: Schema, after: Schema) -> Expression:
    """The expression over columns that have other names, in the same places."""
    pairs = zip(before, after, strict=True)
    return substituted(expression, {old.name: Column(new.name, new.type) for old, new in pairs})


def by_name(columns: Sequence[Named]) -> dict[str, Expression]:
    """The expression of each column."""
    return {one.name: one.expression for one in columns}
