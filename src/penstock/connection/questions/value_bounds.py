"""Bounds of values: what filters right above a stream ask of single columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.expressions import Call, Column, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock.store.sub_windows.column_ranges import Value

    Bounds = tuple[Value, Value]

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}


def bounds_of(steps: Sequence[Plan]) -> dict[str, Bounds]:
    """The least and the greatest value that rows may have which pass the first filters.

    Of equal names: a map before a filter that gives a column another name ends it.
    """
    found: dict[str, Bounds] = {}
    for step in steps:
        if isinstance(step, op.Filter):
            for name, least, most in _parts(step.predicate):
                known = found.get(name, (None, None))
                found[name] = (_later(known[0], least), _earlier(known[1], most))
        elif not isinstance(step, op.Map) or any(
            one.expression != Column(one.name, one.expression.type) for one in step.columns
        ):
            break
    return found


def _parts(predicate: Expression) -> Iterator[tuple[str, Value, Value]]:
    """The comparisons with constants that all have to hold."""
    if not isinstance(predicate, Call):
        return
    if predicate.function == "and":
        for one in predicate.args:
            yield from _parts(one)
        return
    if predicate.function not in _TURNED or len(predicate.args) != 2:
        return
    left, right = predicate.args
    function = predicate.function
    if isinstance(left, Literal):
        left, right, function = right, left, _TURNED[function]
    if not isinstance(left, Column) or not isinstance(right, Literal):
        return
    value = right.value
    if left.type != right.type or isinstance(value, bool) or not isinstance(value, int | str):
        return
    yield (
        left.name,
        value if function in ("=", ">", ">=") else None,
        value if function in ("=", "<", "<=") else None,
    )


def _later(one: Value, other: Value) -> Value:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _earlier(one: Value, other: Value) -> Value:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
