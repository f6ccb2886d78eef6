"""The share of rows that satisfies a condition, by what is known of its columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Column, Expression, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Measured = Callable[[Expression], float | None]
"""The share that was measured for a condition; None if it was not."""

RANGE_SHARE = 1 / 3
"""Of comparisons by size."""
OTHER_SHARE = 1 / 3
"""Of anything else."""
NULL_SHARE = 0.05
LIKE_SHARE = 0.1


def selectivity(
    condition: Expression, different: Mapping[str, float], measured: Measured | None = None
) -> float:
    """The share of rows for which a condition is TRUE; `different` counts values of columns.

    What was measured goes before what is assumed: for the whole condition, then for its parts.
    """
    known = None if measured is None else measured(condition)
    if known is not None:
        return known
    match condition:
        case Literal(value):
            return 1.0 if value is True else 0.0
        case Call("and", args):
            share = 1.0
            for arg in args:
                share *= selectivity(arg, different, measured)
            return share
        case Call("or", args):
            missed = 1.0
            for arg in args:
                missed *= 1 - selectivity(arg, different, measured)
            return 1 - missed
        case Call("not", (arg,)):
            return 1 - selectivity(arg, different, measured)
        case Call("=" | "is not distinct from", (first, second)):
            return 1 / max(_values(first, different), _values(second, different), 1.0)
        case Call("<>" | "is distinct from", (first, second)):
            return 1 - 1 / max(_values(first, different), _values(second, different), 2.0)
        case Call("in", (first, *members)):
            return min(1.0, len(members) / max(_values(first, different), 1.0))
        case Call("<" | "<=" | ">" | ">="):
            return RANGE_SHARE
        case Call("is null"):
            return NULL_SHARE
        case Call("is not null"):
            return 1 - NULL_SHARE
        case Call("like"):
            return LIKE_SHARE
    return OTHER_SHARE


def _values(expression: Expression, different: Mapping[str, float]) -> float:
    """The number of values of an expression: those of its columns, at most."""
    if isinstance(expression, Literal):
        return 1.0
    if isinstance(expression, Column):
        return different.get(expression.name, 1.0)
    found = [_values(child, different) for child in expression.children]
    return max(found, default=1.0)
