"""Join conditions: equal keys, and whatever else is asked.

Here columns are called by their position. In the condition of a join the left columns come first,
then the right ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.expressions import (
    TRUE,
    Call,
    Column,
    Expression,
    columns_of,
    conjunction,
    substituted,
    walk,
)
from penstock.algebra.positions import moved

if TYPE_CHECKING:
    from collections.abc import Mapping


def placed(expression: Expression, places: Mapping[str, str]) -> Expression:
    """The expression with its columns called by other positions."""
    read = {one.name: one for one in walk(expression) if isinstance(one, Column)}
    return substituted(
        expression, {name: Column(places[name], one.of) for name, one in read.items()}
    )


@dataclass(frozen=True)
class JoinCondition:
    """Key expressions over left columns and over right ones; and the residual, over both.

    `null_matches` says for each key whether NULL matches NULL. `names` are what the parts of the
    residual are called in statistics (`statistics.tracing`), None where they have no name;
    `equality` is what the equality of all keys is called.
    """

    left: tuple[Expression, ...] = ()
    right: tuple[Expression, ...] = ()
    null_matches: tuple[bool, ...] = ()
    residual: Expression | None = None
    names: tuple[str | None, ...] = field(default=(), compare=False)
    equality: str | None = field(default=None, compare=False)

    @property
    def is_only_keys(self) -> bool:
        """Equal keys are all it asks for."""
        return bool(self.left) and self.residual is None


def join_condition(condition: Expression, width: int) -> JoinCondition:
    """Take the equalities between the `width` left columns and the right ones out."""
    keys: list[tuple[Expression, Expression, bool]] = []
    rest: list[Expression] = []
    for part in conjuncts(condition):
        key = _key(part, width)
        if key is not None:
            keys.append(key)
        elif part != TRUE:
            rest.append(part)
    return JoinCondition(
        tuple(left for left, _, _ in keys),
        tuple(moved(right, width, -width) for _, right, _ in keys),
        tuple(null_matches for _, _, null_matches in keys),
        conjunction(rest) if rest else None,
    )


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts that AND combines."""
    if isinstance(condition, Call) and condition.function == "and":
        return [part for arg in condition.args for part in conjuncts(arg)]
    return [condition]


def _key(part: Expression, width: int) -> tuple[Expression, Expression, bool] | None:
    if not (isinstance(part, Call) and part.function in ("=", "is not distinct from")):
        return None
    first, second = part.args
    null_matches = part.function != "="
    if first.type == second.type:
        if _side(first, width) == "left" and _side(second, width) == "right":
            return first, second, null_matches
        if _side(first, width) == "right" and _side(second, width) == "left":
            return second, first, null_matches
    return None


def _side(expression: Expression, width: int) -> str | None:
    """The side whose columns an expression reads; None if both or none."""
    sides = {"left" if int(name) < width else "right" for name in columns_of(expression)}
    return sides.pop() if len(sides) == 1 else None
