"""Bounds that a condition sets to a number: ROW_NUMBER() OVER (...) <= 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.binder.ordering import whole_number
from penstock.binder.predicates import split_and

if TYPE_CHECKING:
    from collections.abc import Collection

COMPARISONS: dict[type[exp.Expr], str] = {
    exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.EQ: "=",
}  # fmt: skip
SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


@dataclass(frozen=True)
class Bounds:
    """The least number and, if there is one, the greatest."""

    low: int = 1
    high: int | None = None

    @staticmethod
    def of(comparison: str, value: int) -> Bounds:
        """The bounds of what compares with a value in this way."""
        match comparison:
            case "<":
                return Bounds(high=value - 1)
            case "<=":
                return Bounds(high=value)
            case ">":
                return Bounds(low=value + 1)
            case ">=":
                return Bounds(low=value)
        return Bounds(value, value)

    def also(self, other: Bounds) -> Bounds:
        """Within both."""
        highs = [one.high for one in (self, other) if one.high is not None]
        return Bounds(max(self.low, other.low), min(highs, default=None))


def bounds_of(node: exp.Expr, names: Collection[str]) -> Bounds | None:
    """The bounds that a condition sets to ROW_NUMBER() OVER (...) or its aliases; None: others."""
    found = Bounds()
    for part in split_and(node):
        one = _of_comparison(part, names)
        if one is None:
            return None
        found = found.also(one)
    return found


def _of_comparison(node: exp.Expr, names: Collection[str]) -> Bounds | None:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Between) and _is_number(node.this, names):
        low, high = (_value(node.args[key]) for key in ("low", "high"))
        return None if low is None or high is None else Bounds(low, high)
    word = COMPARISONS.get(type(node))
    if word is None:
        return None
    left, right = node.this, node.expression
    if not _is_number(left, names):
        word, left, right = SWAPPED[word], right, left
    value = _value(right)
    if value is None or not _is_number(left, names):
        return None
    return Bounds.of(word, value)


def _is_number(node: exp.Expr, names: Collection[str]) -> bool:
    if isinstance(node, exp.Window):
        return True
    return isinstance(node, exp.Column) and not node.table and node.name.lower() in names


def _value(node: exp.Expr) -> int | None:
    return whole_number(node) if isinstance(node, exp.Literal) else None
