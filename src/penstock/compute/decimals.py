"""DECIMAL arithmetic: the exact result, rounded once to the result type, halves away from zero.

Arrow's 128 bits hold most results; where a result type was cut to 38 digits, 256 bits hold the
exact one before it is rounded. What not even those hold is left to Python's integers.
"""

from __future__ import annotations

from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import MAX_PRECISION, Type, to_arrow
from penstock.catalog.functions.widening import scaled_decimal
from penstock.compute.datum import (
    Datum,
    Numbers,
    broadcast,
    made,
    mended,
    reinterpreted,
    truths,
    valid_in_all,
    without_failures,
    words,
)
from penstock.compute.digits import (
    SMALL,
    WIDE,
    divided_wrong,
    half_up,
    of_unscaled,
    rescaled,
    unscaled_of,
    whole_quotient,
)
from penstock.compute.integers import cut_quotient, positive_remainder, remainder
from penstock.compute.kernels import Failed
from penstock.compute.python_functions import per_distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call
    from penstock.algebra.failures import Failures
    from penstock.compute.kernels import Kernel, Maker


def is_decimal(type_: pa.DataType) -> bool:
    """Arrow's type of a DECIMAL."""
    return bool(pa.types.is_decimal(type_))


# Bringing an exact result to its type


def fitted(exact: pa.Array, to: Type, function: str, failures: Failures) -> pa.Array:
    """Decimals of any width rounded to a type's scale; those beyond its precision fail."""
    type_, before = to_arrow(to), exact.type
    if before.scale <= to.scale and before.precision - before.scale <= to.precision - to.scale:
        return pc.cast(exact, type_)
    rounded = rescaled(exact, to.scale, half_up)
    if rounded.type.precision > to.precision:
        limit = scaled_decimal(10**to.precision, to.scale)
        outside = pc.greater_equal(pc.abs(rounded), pa.scalar(limit, pa.decimal256(WIDE, to.scale)))
        rounded = _without(rounded, outside, function, failures)
    return pc.cast(rounded, type_)


def _without(array: pa.Array, outside: pa.Array, function: str, failures: Failures) -> pa.Array:
    """NULL, and counted, where a value is outside."""
    count = pc.sum(outside).as_py() or 0
    failures.add(function, count)
    return pc.if_else(outside, pa.scalar(None, array.type), array) if count else array


def to_integers(whole: pa.Array, to: Type, function: str, failures: Failures) -> pa.Array:
    """Decimals without a fraction as a type of integers or times; those beyond it fail."""
    type_ = pa.int32() if to_arrow(to) == pa.int32() else pa.int64()
    info = np.iinfo(type_.to_pandas_dtype())
    low, high = (pa.scalar(Decimal(int(end)), whole.type) for end in (info.min, info.max))
    outside = pc.or_(pc.less(whole, low), pc.greater(whole, high))
    known = _without(whole, outside, function, failures)
    return pc.cast(known, type_).view(to_arrow(to))


# Sums and products


def _exact(
    digits: Callable[[Type, Type], int],
    compute: Callable[[Datum, Datum], pa.Array],
    define: Callable[[int, int], int],
    *,
    one_scale: bool,
) -> Maker:
    """An operation that gives an integer of the unscaled values, of at most so many digits."""

    def make(call: Call) -> Kernel:
        left, right = call.args[0].type, call.args[1].type
        needed = digits(left, right)
        if needed > WIDE:
            return _in_python(call, define, one_scale=one_scale)
        if needed <= MAX_PRECISION:
            return lambda args, _: compute(*args)

        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            exact = compute(*map(_widened, args))
            return fitted(exact, call.type, call.function, failures)

        return kernel

    return make


def _widened(datum: Datum) -> Datum:
    return pc.cast(datum, pa.decimal256(datum.type.precision, datum.type.scale))


def _multiplied(left: Datum, right: Datum) -> pa.Array:
    """Arrow counts one digit more than a product has, and would refuse 38 digits by 38."""
    if left.type.precision + right.type.precision == WIDE:
        left = reinterpreted(left, pa.decimal256(left.type.precision - 1, left.type.scale))
    return pc.multiply(left, right)


def _sum_digits(left: Type, right: Type) -> int:
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return whole + max(left.scale, right.scale) + 1


def _product_digits(left: Type, right: Type) -> int:
    digits = left.precision + right.precision
    return digits if digits == WIDE else digits + 1


# Quotients


def decimal_quotient(call: Call) -> Kernel:
    """Arrow's division of integers, one digit further than the result, then rounded."""
    left, right = call.args[0].type, call.args[1].type
    # The quotient of the unscaled values has to be moved by so many digits.
    moved = call.type.scale + right.scale - left.scale + 1
    in_python = _in_python(call, None, one_scale=False)
    if not 4 <= moved <= WIDE - left.precision:
        return in_python
    # Of integers with these precisions, Arrow makes a quotient with just `moved` fraction digits.
    dividend, divisor = pa.decimal256(left.precision, 0), pa.decimal256(moved - 1, 0)
    digit_more = pa.decimal256(WIDE, call.type.scale + 1)

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        length = next(len(arg) for arg in args if isinstance(arg, pa.Array))
        a, b = map(reinterpreted, map(_widened, args), (dividend, divisor))
        zero = truths(broadcast(pc.equal(b, pa.scalar(0, divisor)), length))
        valid = without_failures(valid_in_all(args), zero, call.function, failures)
        b = pc.if_else(made(pa.bool_(), zero, None), pa.scalar(1, divisor), b)
        quotient = pc.divide(a, b)
        whole = pc.cast(broadcast(a, length), pa.decimal256(WIDE, moved))
        wrong = divided_wrong(reinterpreted(whole, pa.decimal256(WIDE, 0)), b, quotient) & ~zero
        if valid is not None:
            quotient = pc.if_else(valid, quotient, pa.scalar(None, quotient.type))
        # A quotient that is wrong must not fail as well.
        quotient = pc.if_else(made(pa.bool_(), wrong, None), pa.scalar(0, quotient.type), quotient)
        exact = reinterpreted(quotient, digit_more)
        result = fitted(exact, call.type, call.function, failures)
        return mended(result, wrong, lambda some: in_python(some, failures), *args)

    return kernel


# Remainders and whole quotients


def decimal_remainder(call: Call) -> Kernel:
    """`%` and PMOD: of 64-bit integers where those hold both sides, else in Python."""
    return _by_unscaled(call, _INTEGERS[call.function])


def decimal_division(call: Call) -> Kernel:
    """DIV, a BIGINT."""
    return _by_unscaled(call, whole_quotient)


def _by_unscaled(call: Call, define: Callable[[int, int], int]) -> Kernel:
    left, right = call.args[0].type, call.args[1].type
    scale = max(left.scale, right.scale)
    if max(type_.precision - type_.scale for type_ in (left, right)) + scale > SMALL:
        return _in_python(call, define, one_scale=True)

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        a, b = (_unscaled(arg, scale) for arg in args)
        result = _ARRAYS[call.function](a, np.where(b == 0, 1, b))
        failed = np.broadcast_to(b == 0, result.shape)
        if call.type.is_decimal:
            failed = failed | (np.abs(result) >= 10**call.type.precision)
        valid = without_failures(valid_in_all(args), failed, call.function, failures)
        build = of_unscaled if call.type.is_decimal else made
        return build(to_arrow(call.type), result, valid)

    return kernel


def _unscaled(datum: Datum, scale: int) -> Numbers:
    """The unscaled values at a scale, where 64 bits hold them."""
    array = pa.repeat(datum, 1) if isinstance(datum, pa.Scalar) else datum
    if array.type.scale != scale:
        array = pc.cast(array, pa.decimal128(MAX_PRECISION, scale))
    low, _ = words(array)
    return low[0] if isinstance(datum, pa.Scalar) else low


_ARRAYS = {"%": remainder, "pmod": positive_remainder, "div": cut_quotient}


# In Python


def rounded_quotient(dividend: int, divisor: int) -> int:
    """The nearest integer, halves away from zero."""
    size = (2 * abs(dividend) + abs(divisor)) // (2 * abs(divisor))
    return size if (dividend < 0) == (divisor < 0) else -size


def decimal_of(unscaled: int, scale: int, to: Type) -> Decimal:
    """`unscaled / 10**scale` rounded to a type; fails beyond its precision."""
    if scale > to.scale:
        found = rounded_quotient(unscaled, 10 ** (scale - to.scale))
    else:
        found = unscaled * 10 ** (to.scale - scale)
    if abs(found) >= 10**to.precision:
        raise Failed
    return scaled_decimal(found, to.scale)


def _remainder(a: int, b: int) -> int:
    return a - b * whole_quotient(a, b)


def _positive_remainder(a: int, b: int) -> int:
    left = _remainder(a, b)
    return left + b if left < 0 < b else left


_INTEGERS = {"%": _remainder, "pmod": _positive_remainder}


def _in_python(call: Call, define: Callable[[int, int], int] | None, *, one_scale: bool) -> Kernel:
    """The operation on unscaled integers, at one scale or each at its own; None divides."""
    left, right = call.args[0].type, call.args[1].type
    scales = (max(left.scale, right.scale),) * 2 if one_scale else (left.scale, right.scale)
    divides = call.function in ("/", "%", "pmod", "div")

    def of_values(a: Decimal, b: Decimal) -> Decimal | int:
        x, y = unscaled_of(a, scales[0]), unscaled_of(b, scales[1])
        if divides and y == 0:
            raise Failed
        if define is None:
            return _quotient_of(x, y, scales, call.type)
        if call.type.is_decimal:
            scale = scales[0] if one_scale else sum(scales)
            return decimal_of(define(x, y), scale, call.type)
        return _bigint(define(x, y))

    return lambda args, failures: per_distinct(args, of_values, call.type, call.function, failures)


def _quotient_of(x: int, y: int, scales: tuple[int, ...], to: Type) -> Decimal:
    moved = to.scale + scales[1] - scales[0]
    up, down = 10 ** max(moved, 0), 10 ** max(-moved, 0)
    return decimal_of(rounded_quotient(x * up, y * down), to.scale, to)


def _bigint(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Failed
    return value


_sums = partial(_exact, _sum_digits, one_scale=True)
decimal_sum = _sums(pc.add, lambda a, b: a + b)
decimal_difference = _sums(pc.subtract, lambda a, b: a - b)
decimal_product = _exact(_product_digits, _multiplied, lambda a, b: a * b, one_scale=False)
