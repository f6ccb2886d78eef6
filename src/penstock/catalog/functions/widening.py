"""The type two types have in common, and how an expression is brought to a type.

The rules are Spark SQL's, without its implicit casts between STRING and the other types.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Cast, Expression, Literal
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.algebra.values import INTEGER_RANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

DAY_MICROS = 86_400_000_000
"""Microseconds of a day."""

MIN_ADJUSTED_SCALE = 6
"""Fraction digits that a DECIMAL result keeps even when its integer digits are cut."""

_EXACT_IN_DOUBLE = 2**53
_WIDE = Context(prec=2 * MAX_PRECISION)
_AS_DECIMAL = {INT: decimal(10, 0), BIGINT: decimal(20, 0)}


def common_type(left: Type, right: Type) -> Type | None:
    """The narrowest type that holds the values of both, None when there is none.

    >>> str(common_type(INT, decimal(4, 2))), common_type(INT, DATE)
    ('DECIMAL(12, 2)', None)
    """
    if left == right:
        return None if left == INTERVAL else left
    if NULL in (left, right):
        return common_type(*((left, left) if right == NULL else (right, right)))
    if left.is_numeric and right.is_numeric:
        return _common_number(left, right)
    if {left, right} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    return None


def common_type_of(types: Iterable[Type]) -> Type | None:
    """The common type of several types; NULL of none."""
    result: Type | None = NULL
    for type_ in types:
        result = None if result is None else common_type(result, type_)
    return result


def _common_number(left: Type, right: Type) -> Type:
    if DOUBLE in (left, right):
        return DOUBLE
    if left.is_decimal or right.is_decimal:
        return wider_decimal(as_decimal(left), as_decimal(right))
    return BIGINT


def as_decimal(type_: Type) -> Type:
    """The DECIMAL that holds every value of an exact numeric type."""
    return _AS_DECIMAL.get(type_, type_)


def wider_decimal(left: Type, right: Type) -> Type:
    """The DECIMAL holding both; past 38 digits the fraction is cut, never the integer digits."""
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    if whole + scale > MAX_PRECISION:
        scale = max(0, MAX_PRECISION - whole)
    return decimal(min(whole + scale, MAX_PRECISION), scale)


def adjusted_decimal(precision: int, scale: int) -> Type:
    """DECIMAL(precision, scale) cut to 38 digits, keeping at least 6 of the fraction."""
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    kept = max(MAX_PRECISION - (precision - scale), min(scale, MIN_ADJUSTED_SCALE))
    return decimal(MAX_PRECISION, kept)


def narrowed(arg: Expression) -> Expression:
    """An integer literal as the shortest DECIMAL that holds it; anything else unchanged.

    So that `price * 2` with a DECIMAL(10, 2) price does not ask for ten digits more.
    """
    if isinstance(arg, Literal) and arg.type.is_integer and isinstance(arg.value, int):
        return Literal(Decimal(arg.value), decimal(len(str(abs(arg.value))), 0))
    return arg


def narrowed_beside_decimals(args: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Integer literals narrowed when a DECIMAL stands beside them."""
    if any(arg.type.is_decimal for arg in args) and all(_exact_or_null(arg) for arg in args):
        return tuple(map(narrowed, args))
    return args


def _exact_or_null(arg: Expression) -> bool:
    return arg.type == NULL or (arg.type.is_numeric and arg.type != DOUBLE)


def coerce(expression: Expression, to: Type) -> Expression:
    """The expression as a value of type `to`; literals are converted here where that is exact."""
    if expression.type == to:
        return expression
    if expression.type == NULL:
        return Literal(None, to)
    if isinstance(expression, Literal):
        folded = _fold(expression, to)
        if folded is not None:
            return folded
    return Cast(expression, to)


def _fold(literal: Literal, to: Type) -> Literal | None:
    value, type_ = literal.value, literal.type
    if value is None:
        return Literal(None, to)
    if type_.is_integer and isinstance(value, int):
        return _fold_integer(value, to)
    if type_ == DATE and to == TIMESTAMP and isinstance(value, int):
        return _in_range(value * DAY_MICROS, BIGINT, to)
    if isinstance(value, Decimal):
        return _fold_decimal(value, type_, to)
    return None


def _fold_decimal(value: Decimal, type_: Type, to: Type) -> Literal | None:
    if to == DOUBLE:
        return Literal(float(value), DOUBLE)
    if to.is_decimal and wider_decimal(type_, to) == to:
        return Literal(scaled_decimal(int(value.scaleb(to.scale, _WIDE)), to.scale), to)
    return None


def _fold_integer(value: int, to: Type) -> Literal | None:
    if to.is_integer:
        return _in_range(value, to, to)
    if to == DOUBLE and abs(value) <= _EXACT_IN_DOUBLE:
        return Literal(float(value), DOUBLE)
    if to.is_decimal and len(str(abs(value))) <= to.precision - to.scale:
        return Literal(scaled_decimal(value * 10**to.scale, to.scale), to)
    return None


def _in_range(value: int, range_of: Type, to: Type) -> Literal | None:
    low, high = INTEGER_RANGE[range_of.name]
    return Literal(value, to) if low <= value <= high else None


def can_cast(source: Type, to: Type) -> bool:
    """CAST accepts the pair of types: Spark's ANSI table."""
    if INTERVAL in (source, to) or to == NULL:
        return False
    if source in (to, NULL) or STRING in (source, to):
        return True
    return _WITHOUT_TEXT[_family(source)](to)


_WITHOUT_TEXT: dict[str, Callable[[Type], bool]] = {
    "number": lambda to: to.is_numeric or to in (BOOLEAN, TIMESTAMP),
    "BOOLEAN": lambda to: to.is_numeric or to == BOOLEAN,
    "DATE": lambda to: to == TIMESTAMP,
    "TIMESTAMP": lambda to: to.is_numeric or to == DATE,
}


def _family(type_: Type) -> str:
    return "number" if type_.is_numeric else type_.name


def scaled_decimal(unscaled: int, scale: int) -> Decimal:
    """`unscaled / 10**scale` exactly: the constructor ignores the context's 28 digits.

    >>> scaled_decimal(-1230, 2)
    Decimal('-12.30')
    """
    digits = tuple(map(int, str(abs(unscaled))))
    return Decimal((int(unscaled < 0), digits, -scale))
