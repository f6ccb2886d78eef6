"""Comparisons, three-valued logic, tests for NULL, and the functions that choose a value."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from penstock.algebra.values import sort_key
from penstock.reference.failure import Exact, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.expressions import Value

Truth = bool | None


def _equal(a: Value, b: Value) -> bool:
    """Also of NaN and NaN: `sort_key` holds the one order of all comparisons."""
    return sort_key(a) == sort_key(b)


def _less(a: Value, b: Value) -> bool:
    return sort_key(a) < sort_key(b)


def _like(text: str, pattern: str, escape: str = "\\") -> bool:
    return re.fullmatch(_like_as_regular_expression(pattern, escape), text, re.DOTALL) is not None


def _like_as_regular_expression(pattern: str, escape: str) -> str:
    parts = []
    chars = iter(pattern)
    for char in chars:
        if char == escape:
            escaped = next(chars, "")
            if escaped not in ("%", "_", escape):
                msg = f"{escape!r} escapes nothing in the pattern {pattern!r}"
                raise Failure(msg)
            parts.append(re.escape(escaped))
        else:
            parts.append({"%": ".*", "_": "."}.get(char) or re.escape(char))
    return "".join(parts)


def and_(a: Truth, b: Truth) -> Truth:
    """Three-valued AND."""
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def or_(a: Truth, b: Truth) -> Truth:
    """Three-valued OR."""
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


def not_(a: Truth) -> Truth:
    """Three-valued NOT."""
    return None if a is None else not a


def in_(value: Value, *options: Value) -> Truth:
    """TRUE if one option equals the value, else NULL if one comparison is NULL."""
    if value is None:
        return None
    if any(option is not None and _equal(value, option) for option in options):
        return True
    return None if None in options else False


def coalesce(*values: Value) -> Value:
    """The first that is not NULL."""
    return next((value for value in values if value is not None), None)


def _known(values: tuple[Value, ...]) -> list[Value]:
    return [value for value in values if value is not None]


def _null_if(a: Value, b: Value) -> Value:
    return None if a is None or (b is not None and _equal(a, b)) else a


COMPARISONS: dict[str, Callable[..., Exact]] = {
    "=": _equal,
    "<>": lambda a, b: not _equal(a, b),
    "<": _less,
    "<=": lambda a, b: not _less(b, a),
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: not _less(a, b),
    "like": _like,
}

WITH_NULLS: dict[str, Callable[..., Exact]] = {
    "is distinct from": lambda a, b: not _equal(a, b),
    "is not distinct from": _equal,
    "is null": lambda a: a is None,
    "is not null": lambda a: a is not None,
    "isnan": lambda a: a is not None and math.isnan(a),
    "is true": lambda a: a is True,
    "is false": lambda a: a is False,
    "is not true": lambda a: a is not True,
    "is not false": lambda a: a is not False,
    "and": and_,
    "or": or_,
    "not": not_,
    "in": in_,
    "coalesce": coalesce,
    "if": lambda condition, then, otherwise: then if condition is True else otherwise,
    "nullif": _null_if,
    "greatest": lambda *values: max(_known(values), key=sort_key, default=None),
    "least": lambda *values: min(_known(values), key=sort_key, default=None),
}
