"""Functions of numbers.

Sines, powers and the like are Arrow's, which calls the same C library as Python does; NumPy has
its own, with another last digit now and then.
"""

from __future__ import annotations

import math
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import BIGINT, DOUBLE, to_arrow
from penstock.compute.datum import (
    Datum,
    Numbers,
    Truths,
    made,
    made_doubles,
    mended,
    numbers,
    reinterpreted,
    valid_in_all,
    without_failures,
)
from penstock.compute.decimals import fitted
from penstock.compute.digits import WIDE, down, half_up, rescaled, up
from penstock.compute.doubles import (
    EXACT_POWERS,
    TENS,
    double_of,
    in_units,
    rounded_units,
    shortest_digits,
)
from penstock.compute.kernels import constant
from penstock.compute.python_functions import in_python
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call
    from penstock.algebra.failures import Failures
    from penstock.compute.digits import Rounding
    from penstock.compute.kernels import Kernel, Maker


# From doubles to doubles


def _real(function: Callable[..., pa.Array]) -> Maker:
    """A kernel of Arrow; its NaNs and zeros are brought to their one form."""

    def kernel(args: Sequence[Datum], _: Failures) -> pa.Array:
        result = function(*args)
        return made_doubles(numbers(result), valid_in_all(args))

    return lambda _: kernel


def _logarithm(function: Callable[..., pa.Array]) -> Maker:
    """Fails unless every argument is positive; NaN is."""

    def make(call: Call) -> Kernel:
        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            failed: Truths = reduce(np.logical_or, (numbers(arg) <= 0 for arg in args))
            valid = without_failures(valid_in_all(args), failed, call.function, failures)
            return made_doubles(numbers(function(*args)), valid)

        return kernel

    return make


def _log(first: Datum, second: Datum | None = None) -> pa.Array:
    """LOG(x) or LOG(base, x)."""
    if second is None:
        return pc.ln(first)
    below, above = pc.ln(first), pc.ln(second)
    with np.errstate(all="ignore"):
        # IEEE 754 knows what a logarithm to base 1 is: infinite, or NaN of 1. But an argument
        # below 1 makes it negative: `below` must not be -0.0, which it never is.
        return pa.array(np.divide(numbers(above), numbers(below)))


def _cube_root(value: float) -> float:
    """The C library's root is off by one in the last place for some whole roots, 27 among them."""
    root = math.cbrt(value)
    whole = float(round(root)) if math.isfinite(root) else root
    # Products go to infinity where a power raises OverflowError.
    return whole if whole * whole * whole == value else root


# Whole numbers


def _whole(of_doubles: Callable[[Numbers], Numbers], of_decimals: Rounding) -> Maker:
    """CEIL and FLOOR."""

    def make(call: Call) -> Kernel:
        type_ = call.args[0].type
        if type_.is_decimal:
            return _whole_decimals(call, of_decimals)
        if type_ != DOUBLE:
            return lambda args, _: pc.cast(args[0], to_arrow(BIGINT))
        return lambda args, failures: integers_of_doubles(
            of_doubles(numbers(args[0])), pa.int64(), valid_in_all(args), call.function, failures
        )

    return make


def _whole_decimals(call: Call, rounding: Rounding) -> Kernel:
    if call.args[0].type.scale == 0:
        return lambda args, _: args[0]
    return lambda args, _: pc.cast(rescaled(args[0], 0, rounding), to_arrow(call.type))


def integers_of_doubles(
    whole: Numbers, to: pa.DataType, valid: pa.Array | None, function: str, failures: Failures
) -> pa.Array:
    """Doubles without a fraction as integers; NaN and those outside of the type fail."""
    info = np.iinfo(to.to_pandas_dtype())
    with np.errstate(invalid="ignore"):
        failed = ~((whole >= float(info.min)) & (whole < -float(info.min)))
        integers = np.where(failed, 0.0, whole).astype(info.dtype)
    return made(to, integers, without_failures(valid, failed, function, failures))


# Rounding


def _round(call: Call) -> Kernel:
    digits = constant(call.args[1])
    if not isinstance(digits, int):
        msg = f"ROUND to {call.args[1]} digits"
        raise InternalError(msg)
    if call.type.is_decimal:
        return _round_decimals(call, digits)
    return _round_doubles(call, digits) if call.type == DOUBLE else _round_integers(call, digits)


def _round_decimals(call: Call, digits: int) -> Kernel:
    type_, to = call.args[0].type, to_arrow(call.type)
    if digits >= 0:
        return lambda args, failures: fitted(args[0], call.type, call.function, failures)
    if -digits > type_.precision - type_.scale:
        zero = pa.scalar(Decimal(0), to)
        return lambda args, _: pc.if_else(pc.is_valid(args[0]), zero, pa.scalar(None, to))
    # In units of so many digits, which are then spelled out again.
    units = pa.decimal128(type_.precision, type_.scale - digits)

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        rounded = rescaled(reinterpreted(args[0], units), 0, half_up)
        longer = pc.cast(rounded, pa.decimal256(WIDE, -digits))
        whole = reinterpreted(longer, pa.decimal256(WIDE, 0))
        return fitted(whole, call.type, call.function, failures)

    return kernel


def _round_integers(call: Call, digits: int) -> Kernel:
    if digits >= 0:
        return lambda args, _: args[0]
    # Half of it is beyond every BIGINT from 20 digits on; 64 bits hold no more than 19.
    step = np.uint64(10 ** min(-digits, 19))

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        values = numbers(args[0])
        size = np.abs(values.astype(np.int64)).astype(np.uint64)
        rounded = (size + step // np.uint64(2)) // step * step
        if -digits > 19:
            rounded = np.zeros_like(rounded)
        info = np.iinfo(values.dtype)
        negative = values < 0
        failed = rounded > np.uint64(info.max)  # the least integer is no multiple of ten
        result = np.where(negative, -rounded, rounded).astype(np.int64).astype(values.dtype)
        valid = without_failures(valid_in_all(args), failed, call.function, failures)
        return made(to_arrow(call.type), result, valid)

    return kernel


def _round_doubles(call: Call, digits: int) -> Kernel:
    """Read as the shortest decimal; with 400 digits more or less a number stays, or is zero."""
    places = max(-400, min(digits, 400))

    def of_one(value: float) -> float:
        if not math.isfinite(value):
            return value
        exact, scale = shortest_digits(value)
        return double_of(in_units(exact, scale, places), places)

    slow = in_python(of_one)(call)
    if abs(places) > EXACT_POWERS:
        return lambda args, failures: slow(args[:1], failures)

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        units, sure = rounded_units(numbers(args[0]), places)
        with np.errstate(all="ignore"):
            result = units / TENS[places] if places >= 0 else units * TENS[-places]
        array = made_doubles(result, valid_in_all(args))
        return mended(array, ~sure, lambda some: slow(some, failures), args[0])

    return kernel


def _absolute(call: Call) -> Kernel:
    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        if call.type.is_decimal or call.type == DOUBLE:
            return pc.abs(args[0])
        values = numbers(args[0])
        failed = values == np.iinfo(values.dtype).min
        valid = without_failures(valid_in_all(args), failed, call.function, failures)
        return made(to_arrow(call.type), np.abs(values), valid)

    return kernel


def _scaled(factor: float) -> Maker:
    # Arrow's product, unlike NumPy's, does not warn when it is infinite.
    return _real(lambda value: pc.multiply(value, factor))


NUMBERS: dict[str, Maker] = {
    "abs": _absolute,
    "sign": _real(pc.sign),
    "ceil": _whole(np.ceil, up),
    "floor": _whole(np.floor, down),
    "round": _round,
    "sqrt": _real(pc.sqrt),
    "cbrt": in_python(_cube_root),
    "exp": _real(pc.exp),
    "ln": _logarithm(pc.ln),
    "log10": _logarithm(pc.log10),
    "log2": _logarithm(pc.log2),
    "log": _logarithm(_log),
    "power": _real(pc.power),
    "sin": _real(pc.sin),
    "cos": _real(pc.cos),
    "tan": _real(pc.tan),
    "asin": _real(pc.asin),
    "acos": _real(pc.acos),
    "atan": _real(pc.atan),
    "atan2": _real(pc.atan2),
    "degrees": _scaled(180.0 / math.pi),
    "radians": _scaled(math.pi / 180.0),
    "pi": lambda _: lambda __, ___: pa.scalar(math.pi),
}
