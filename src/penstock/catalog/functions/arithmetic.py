"""The arithmetic operators: numbers, dates and timestamps."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Call, Expression, Literal
from penstock.algebra.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    NULL,
    STRING,
    TIMESTAMP,
    Type,
)
from penstock.algebra.values import INTEGER_RANGE, canonical
from penstock.catalog.functions.kinds import (
    DAY,
    INT32,
    NUMBER,
    Args,
    Arity,
    Function,
    a,
    is_text_literal,
    read_time,
    take,
)
from penstock.catalog.functions.widening import (
    DAY_MICROS,
    adjusted_decimal,
    as_decimal,
    coerce,
    common_type,
    narrowed_beside_decimals,
)
from penstock.errors import TypeMismatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.catalog.functions.kinds import Rule


LEAST_INTEGERS = frozenset(low for low, _ in INTEGER_RANGE.values())
"""Their opposites do not fit the same type."""


def _sum_type(p1: int, s1: int, p2: int, s2: int) -> Type:
    scale = max(s1, s2)
    return adjusted_decimal(max(p1 - s1, p2 - s2) + scale + 1, scale)


def _product_type(p1: int, s1: int, p2: int, s2: int) -> Type:
    return adjusted_decimal(p1 + p2 + 1, s1 + s2)


def _quotient_type(p1: int, s1: int, p2: int, s2: int) -> Type:
    scale = max(6, s1 + p2 + 1)
    return adjusted_decimal(p1 - s1 + s2 + scale, scale)


def _remainder_type(p1: int, s1: int, p2: int, s2: int) -> Type:
    scale = max(s1, s2)
    return adjusted_decimal(min(p1 - s1, p2 - s2) + scale, scale)


DECIMAL_RESULT: dict[str, Callable[[int, int, int, int], Type]] = {
    "+": _sum_type,
    "-": _sum_type,
    "*": _product_type,
    "/": _quotient_type,
    "%": _remainder_type,
    "pmod": _remainder_type,
}
"""Precision and scale of a result from those of the two sides, as Spark has them."""


def numeric(name: str) -> Rule:
    """The rule of an operator on two numbers; a DECIMAL keeps its own precision as an operand."""

    def resolve(called: str, args: Args) -> Expression:
        left, right = narrowed_beside_decimals(_two_numbers(called, args))
        common = common_type(left.type, right.type)
        if common is not None and common.is_decimal:
            left, right = (coerce(side, as_decimal(side.type)) for side in (left, right))
            one, two = left.type, right.type
            result = DECIMAL_RESULT[name](one.precision, one.scale, two.precision, two.scale)
            return Call(name, (left, right), result)
        result = DOUBLE if common is None or name == "/" else common
        return Call(name, (coerce(left, result), coerce(right, result)), result)

    return resolve


def _two_numbers(called: str, args: Args) -> Args:
    """The arguments, a bare NULL given the other's type; refused unless both are numbers."""
    for arg in args:
        if not (arg.type.is_numeric or arg.type == NULL):
            raise _no_such_operation(called, args)
    known = next((arg.type for arg in args if arg.type != NULL), DOUBLE)
    return tuple(coerce(arg, known) if arg.type == NULL else arg for arg in args)


def _no_such_operation(called: str, args: Args) -> TypeMismatch:
    left, right = args
    hint = None
    if (left.type, called, right.type) == (TIMESTAMP, "-", TIMESTAMP):
        hint = f"Write UNIX_MICROS({left}) - UNIX_MICROS({right})."
    else:
        text = next((arg for arg in args if arg.type == STRING), None)
        other = right if text is left else left
        if text is not None and other.type.is_numeric:
            hint = f"Write CAST({text} AS {other.type})."
    msg = f"{called} does not apply to {a(left.type)} and {a(right.type)}"
    return TypeMismatch(msg, hint=hint)


def _add(called: str, args: Args) -> Expression:
    left, right = args
    if right.type in (DATE, TIMESTAMP) and left.type not in (DATE, TIMESTAMP):
        left, right = right, left
    return _shifted(called, left, right) or numeric("+")(called, args)


def _subtract(called: str, args: Args) -> Expression:
    left, right = args
    if DATE in (left.type, right.type):
        left, right = (read_time(x, DATE) if is_text_literal(x) else x for x in (left, right))
    if left.type == right.type == DATE:
        return Call("datediff", (left, right), INT)
    return _shifted(called, left, right) or numeric("-")(called, args)


def _shifted(called: str, start: Expression, by: Expression) -> Expression | None:
    """A DATE moved by days, a DATE or TIMESTAMP moved by an INTERVAL; None: something else."""
    if start.type == DATE and (by.type.is_integer or by.type == NULL):
        return _by_days(called, start, by)
    if start.type not in (DATE, TIMESTAMP) or by.type != INTERVAL:
        return None
    micros = by.value if isinstance(by, Literal) else None
    if start.type == DATE and isinstance(micros, int) and micros % DAY_MICROS == 0:
        return _by_days(called, start, coerce(Literal(micros // DAY_MICROS, BIGINT), INT))
    return Call(called, (coerce(start, TIMESTAMP), by), TIMESTAMP)


def _by_days(called: str, start: Expression, days: Expression) -> Expression:
    name = "date_add" if called == "+" else "date_sub"
    return Call(name, (take(called, DAY, start), take(called, INT32, days)), DATE)


def _divide_integers(called: str, args: Args) -> Expression:
    left, right = narrowed_beside_decimals(_two_numbers(called, args))
    common = common_type(left.type, right.type)
    if common == DOUBLE and DOUBLE in (args[0].type, args[1].type):
        msg = f"{called} does not apply to {a(left.type)} and {a(right.type)}"
        raise TypeMismatch(msg, hint="Write FLOOR of the quotient.")
    if common is not None and common.is_decimal:
        exact = (coerce(left, as_decimal(left.type)), coerce(right, as_decimal(right.type)))
        return Call("div", exact, BIGINT)
    return Call("div", (coerce(left, BIGINT), coerce(right, BIGINT)), BIGINT)


def _negate(called: str, args: Args) -> Expression:
    arg = take(called, NUMBER, args[0])
    value = arg.value if isinstance(arg, Literal) else None
    if isinstance(value, Decimal):
        return Literal(value.copy_negate(), arg.type)  # `-value` would round to 28 digits
    if isinstance(value, int | float) and value not in LEAST_INTEGERS:
        return Literal(canonical(-value), arg.type)
    return Call("negate", (arg,), arg.type)


TWO = Arity(2, 2)

ARITHMETIC = (
    Function("+", TWO, "Sum; a DATE and days; a DATE or TIMESTAMP and an INTERVAL.", _add),
    Function(
        "-", TWO, "Difference, of DATEs in days; a DATE or TIMESTAMP minus days or an INTERVAL.",
        _subtract,
    ),
    Function("*", TWO, "Product.", numeric("*")),
    Function("/", TWO, "Quotient, of integers a DOUBLE; by zero: NULL.", numeric("/")),
    Function("div", TWO, "Quotient cut toward zero, a BIGINT; by zero: NULL.", _divide_integers),
    Function(
        "%", TWO, "Remainder with the sign of the dividend; by zero: NULL.", numeric("%"), ("mod",)
    ),
    Function(
        "pmod", TWO, "Remainder, not negative for a positive divisor; by zero: NULL.",
        numeric("pmod"),
    ),
    Function("negate", Arity(1, 1), "The number with the other sign.", _negate, ("negative",)),
)  # fmt: skip
