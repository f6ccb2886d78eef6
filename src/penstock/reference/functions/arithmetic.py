"""Arithmetic: exact on integers and decimals, IEEE 754 on doubles, a Failure on a zero divisor."""

from __future__ import annotations

import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from penstock.reference.failure import Exact, Failure

if TYPE_CHECKING:
    from collections.abc import Callable

Number = int | float | Decimal


def _exactly(define: Callable[..., Exact]) -> Callable[..., Exact]:
    """On Fractions in place of Decimals, whose own operators round to 28 digits."""

    def defined(*args: Number) -> Exact:
        return define(*(Fraction(arg) if isinstance(arg, Decimal) else arg for arg in args))

    return defined


def _divide(a: float | Fraction, b: float | Fraction) -> float | Fraction:
    _refuse_zero(b)
    return a / b


def _div(a: int | Fraction, b: int | Fraction) -> int:
    _refuse_zero(b)
    return math.trunc(Fraction(a) / Fraction(b))


def _remainder(a: Any, b: Any) -> Any:
    """The rest of `a` after taking away `b` as often as possible; it has the sign of `a`."""
    _refuse_zero(b)
    if isinstance(a, float):
        return _float_remainder(a, b)
    return a - b * math.trunc(Fraction(a) / Fraction(b))


def _float_remainder(a: float, b: float) -> float:
    return math.nan if math.isinf(a) or math.isnan(a) or math.isnan(b) else math.fmod(a, b)


def _positive_remainder(a: Any, b: Any) -> Any:
    left = _remainder(a, b)
    return _remainder(left + b, b) if left < 0 else left


def _refuse_zero(divisor: float | Fraction) -> None:
    if divisor == 0:
        msg = "division by zero"
        raise Failure(msg)


_DEFINITIONS: dict[str, Callable[..., Exact]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "div": _div,
    "%": _remainder,
    "pmod": _positive_remainder,
    "negate": operator.neg,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "~": operator.invert,
}

ARITHMETIC = {name: _exactly(define) for name, define in _DEFINITIONS.items()}
