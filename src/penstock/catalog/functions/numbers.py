"""Functions of numbers."""

from __future__ import annotations

from penstock.algebra.expressions import Call, Expression, Literal
from penstock.algebra.types import BIGINT, BOOLEAN, DOUBLE, INT, MAX_PRECISION, Type, decimal
from penstock.catalog.functions.kinds import (
    INT32,
    NUMBER,
    REAL,
    Args,
    Arity,
    Function,
    function,
    take,
    take_all,
)
from penstock.errors import TypeMismatch


def _own_type(args: Args) -> Type:
    return args[0].type


def _whole_type(args: Args) -> Type:
    """Of FLOOR and CEIL: one digit more than before the point."""
    type_ = args[0].type
    if not type_.is_decimal:
        return BIGINT
    if type_.scale == 0:
        return type_
    return decimal(min(type_.precision - type_.scale + 1, MAX_PRECISION), 0)


def _round(called: str, args: Args) -> Expression:
    number = take(called, NUMBER, args[0])
    digits = take_all(called, (NUMBER, INT32), args)[1] if len(args) > 1 else Literal(0, INT)
    if not (isinstance(digits, Literal) and isinstance(digits.value, int)):
        msg = f"{called} takes a constant number of digits, not {digits}"
        raise TypeMismatch(msg)
    return Call("round", (number, digits), _rounded_type(number.type, digits.value))


def _rounded_type(type_: Type, digits: int) -> Type:
    if not type_.is_decimal:
        return type_
    whole = type_.precision - type_.scale + 1
    if digits < 0:
        return decimal(min(max(whole, 1 - digits), MAX_PRECISION), 0)
    scale = min(type_.scale, digits)
    return decimal(min(whole + scale, MAX_PRECISION), scale)


REALS = {
    "sqrt": "Square root; NaN of a negative number.",
    "cbrt": "Cube root.",
    "exp": "e to the power of the number.",
    "ln": "Natural logarithm; NULL unless the number is positive.",
    "log10": "Logarithm to base 10; NULL unless the number is positive.",
    "log2": "Logarithm to base 2; NULL unless the number is positive.",
    "sin": "Sine of an angle in radians.",
    "cos": "Cosine of an angle in radians.",
    "tan": "Tangent of an angle in radians.",
    "asin": "The angle with this sine; NaN outside [-1, 1].",
    "acos": "The angle with this cosine; NaN outside [-1, 1].",
    "atan": "The angle with this tangent.",
    "degrees": "Radians in degrees.",
    "radians": "Degrees in radians.",
}
"""From a DOUBLE to a DOUBLE."""

NUMBERS = (
    function("abs", (NUMBER,), _own_type, "The number without its sign."),
    function("sign", (REAL,), DOUBLE, "-1.0, 0.0 or 1.0.", aliases=("signum",)),
    function(
        "ceil", (NUMBER,), _whole_type, "The least integer not below the number.",
        aliases=("ceiling",),
    ),
    function("floor", (NUMBER,), _whole_type, "The greatest integer not above the number."),
    Function(
        "round", Arity(1, 2),
        "Rounded to a constant number of digits behind the point, halves away from zero.",
        _round,
    ),
    function("isnan", (REAL,), BOOLEAN, "Whether the number is NaN; FALSE for NULL."),
    *(function(name, (REAL,), DOUBLE, summary) for name, summary in REALS.items()),
    function(
        "log", (REAL, REAL), DOUBLE,
        "LOG(base, x), or the natural LOG(x); NULL unless both are positive.", optional=1,
    ),
    function(
        "power", (REAL, REAL), DOUBLE,
        "The first number to the power of the second; NaN or infinite as IEEE 754 has it.",
        aliases=("pow",),
    ),
    function("atan2", (REAL, REAL), DOUBLE, "The angle of the point with this y and x."),
    function("pi", (), DOUBLE, "3.141592653589793."),
)  # fmt: skip
