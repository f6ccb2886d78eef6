"""Functions of numbers. On doubles they are IEEE 754's: no result is ever an exception."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from penstock.reference.failure import Exact, Failure, round_half_up

if TYPE_CHECKING:
    from collections.abc import Callable

Number = int | float | Decimal


def _finite(value: Number) -> Fraction:
    """The exact value, a Failure for NaN and the infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"{value} is no integer"
        raise Failure(msg)
    return Fraction(value)


def _round(value: Number, digits: int) -> Exact:
    """Halves away from zero; a double is read as the shortest decimal that stands for it."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    exact = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    # With 400 digits more or less, every number is as it was, or zero.
    step = Fraction(10) ** -max(-400, min(digits, 400))
    return round_half_up(exact / step) * step


def _total(define: Callable[..., float]) -> Callable[..., float]:
    """The function with NaN outside of its domain and infinity beyond the largest double."""

    def defined(*args: float) -> float:
        try:
            return define(*args)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return defined


def _logarithm(define: Callable[[float], float]) -> Callable[[float], float]:
    def defined(value: float) -> float:
        if value <= 0:
            msg = f"the logarithm of {value} is not defined"
            raise Failure(msg)
        return define(value)

    return defined


def _log(first: float, second: float | None = None) -> float:
    ln = _logarithm(math.log)
    if second is None:
        return ln(first)
    below, above = ln(first), ln(second)
    if below == 0:
        return math.nan if above == 0 or math.isnan(above) else math.copysign(math.inf, above)
    return above / below


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        return math.inf
    try:
        return math.pow(base, exponent)
    except ValueError:
        return math.nan
    except OverflowError:
        odd = exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf


def _sign(value: float) -> float:
    return value if value == 0 or math.isnan(value) else math.copysign(1.0, value)


def _cube_root(value: float) -> float:
    """The C library's root is off by one in the last place for some whole roots, 27 among them."""
    root = math.cbrt(value)
    whole = float(round(root)) if math.isfinite(root) else root
    # The product overflows to infinity where the power would raise.
    return whole if whole * whole * whole == value else root


NUMBERS: dict[str, Callable[..., Exact]] = {
    "abs": lambda value: value.copy_abs() if isinstance(value, Decimal) else abs(value),
    "sign": _sign,
    "ceil": lambda value: math.ceil(_finite(value)),
    "floor": lambda value: math.floor(_finite(value)),
    "round": _round,
    "sqrt": _total(math.sqrt),
    "cbrt": _cube_root,
    "exp": _total(math.exp),
    "ln": _logarithm(math.log),
    "log10": _logarithm(math.log10),
    "log2": _logarithm(math.log2),
    "log": _log,
    "power": _power,
    "sin": _total(math.sin),
    "cos": _total(math.cos),
    "tan": _total(math.tan),
    "asin": _total(math.asin),
    "acos": _total(math.acos),
    "atan": math.atan,
    "atan2": math.atan2,
    "degrees": math.degrees,
    "radians": math.radians,
    "pi": lambda: math.pi,
}
