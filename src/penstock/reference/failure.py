"""An expression that fails gives NULL and is counted: the exception, and the limits of types."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from penstock.algebra.values import INTEGER_RANGE, canonical
from penstock.catalog.functions.widening import scaled_decimal
from penstock.errors import InternalError

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value
    from penstock.algebra.types import Type

Exact = bool | int | float | Decimal | str | Fraction | None
"""The result of a definition: a value, or the Fraction that a DECIMAL is rounded from."""


class Failure(Exception):
    """Division by zero, overflow, a bad cast, an argument outside of a function's domain."""


_RANGE_OF = {
    "INT": INTEGER_RANGE["INT"],
    "BIGINT": INTEGER_RANGE["BIGINT"],
    "DATE": INTEGER_RANGE["INT"],
    "TIMESTAMP": INTEGER_RANGE["BIGINT"],
}


def fit(value: Exact, type_: Type) -> Value:
    """The exact value as a value of the type: decimals rounded, or a Failure when it overflows."""
    if value is None:
        return None
    if type_.is_decimal and not isinstance(value, str | float):
        return round_to_decimal(Fraction(value), type_)
    if type_.name in _RANGE_OF:
        value = _whole(value)
        low, high = _RANGE_OF[type_.name]
        if not low <= value <= high:
            msg = f"{value} is outside of {type_}"
            raise Failure(msg)
    return canonical(to_float(value) if isinstance(value, Fraction) else value)


def _whole(value: Exact) -> int:
    if isinstance(value, str) or value != int(value or 0):
        msg = f"{value!r} is not an integer"
        raise InternalError(msg)
    return int(value or 0)


def round_to_decimal(value: Fraction, type_: Type) -> Decimal:
    """Rounded to the type's scale, halves away from zero; a Failure beyond its precision."""
    unscaled = round_half_up(value * 10**type_.scale)
    if abs(unscaled) >= 10**type_.precision:
        msg = f"{value} is outside of {type_}"
        raise Failure(msg)
    return scaled_decimal(unscaled, type_.scale)


def round_half_up(value: Fraction) -> int:
    """The nearest integer, halves away from zero."""
    size = (2 * abs(value) + 1) // 2
    return int(size if value >= 0 else -size)


def to_float(value: Fraction) -> float:
    """The nearest double, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
