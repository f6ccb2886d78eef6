"""Arithmetic: exact on integers and times, IEEE 754 on doubles; overflow and zero divisors fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import DOUBLE, to_arrow
from penstock.compute.datum import (
    Datum,
    Numbers,
    Truths,
    made,
    made_doubles,
    numbers,
    reinterpreted,
    valid_in_all,
    without_failures,
)
from penstock.compute.decimals import (
    decimal_difference,
    decimal_division,
    decimal_product,
    decimal_quotient,
    decimal_remainder,
    decimal_sum,
    is_decimal,
)
from penstock.compute.integers import (
    cut_quotient,
    difference_overflows,
    positive_remainder,
    product_overflows,
    remainder,
    sum_overflows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call
    from penstock.algebra.failures import Failures
    from penstock.compute.kernels import Kernel, Maker


def _by_type(integers: Maker, doubles: Maker, decimals: Maker) -> Maker:
    """The maker for the type of the first argument; times are integers."""

    def make(call: Call) -> Kernel:
        if call.args[0].type.is_decimal:
            return decimals(call)
        return doubles(call) if call.args[0].type == DOUBLE else integers(call)

    return make


# Integers


def _checked(
    fast: Callable[[Datum, Datum], pa.Array],
    wrapping: Callable[[Numbers, Numbers], Numbers],
    overflows: Callable[[Numbers, Numbers, Numbers], Truths],
) -> Maker:
    """Arrow's kernel, which refuses the whole block when a row overflows; then row by row."""

    def make(call: Call) -> Kernel:
        type_ = to_arrow(call.type)
        whole = pa.int64() if pa.types.is_timestamp(type_) else type_

        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            left, right = (reinterpreted(arg, whole) for arg in args)
            try:
                return reinterpreted(fast(left, right), type_)
            except pa.ArrowInvalid:
                a, b = numbers(left), numbers(right)
                result = wrapping(a, b)
                failed = overflows(a, b, result)
            valid = without_failures(valid_in_all(args), failed, call.function, failures)
            return made(type_, result, valid)

        return kernel

    return make


def _dividing(define: Callable[[Numbers, Numbers], Numbers]) -> Maker:
    """An operation that a zero divisor fails; the divisor it sees is never zero."""

    def make(call: Call) -> Kernel:
        type_ = to_arrow(call.type)

        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            a, b = numbers(args[0]), numbers(args[1])
            zero = b == 0
            result = define(a, np.where(zero, 1, b).astype(b.dtype))
            # A quotient can leave its type in one case only: the least integer by -1.
            failed = np.broadcast_to(zero, result.shape)
            if call.function == "div":
                failed = failed | ((a == np.iinfo(a.dtype).min) & (b == -1))
            valid = without_failures(valid_in_all(args), failed, call.function, failures)
            return made(type_, result, valid)

        return kernel

    return make


# Doubles


def _of_doubles(define: Callable[[Numbers, Numbers], Numbers]) -> Maker:
    def make(_: Call) -> Kernel:
        def kernel(args: Sequence[Datum], __: Failures) -> pa.Array:
            with np.errstate(all="ignore"):
                result = define(numbers(args[0]), numbers(args[1]))
            return made_doubles(result, valid_in_all(args))

        return kernel

    return make


def _dividing_doubles(define: Callable[[Numbers, Numbers], Numbers]) -> Maker:
    def make(call: Call) -> Kernel:
        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            a, b = numbers(args[0]), numbers(args[1])
            with np.errstate(all="ignore"):
                result = define(a, b)
            failed = np.broadcast_to(b == 0, result.shape)
            valid = without_failures(valid_in_all(args), failed, call.function, failures)
            return made_doubles(result, valid)

        return kernel

    return make


def _positive_remainder_of_doubles(a: Numbers, b: Numbers) -> Numbers:
    left = np.fmod(a, b)
    return np.where(left < 0, np.fmod(left + b, b), left)


# One argument


def _negate(call: Call) -> Kernel:
    type_ = to_arrow(call.type)

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        if is_decimal(type_):
            return pc.negate(args[0])
        values = numbers(args[0])
        if call.type == DOUBLE:
            return made_doubles(-values, valid_in_all(args))
        failed = values == np.iinfo(values.dtype).min
        valid = without_failures(valid_in_all(args), failed, call.function, failures)
        return made(type_, -values, valid)

    return kernel


def _bits(function: Callable[..., pa.Array]) -> Maker:
    return lambda _: lambda args, __: function(*args)


ADD = _by_type(
    _checked(pc.add_checked, np.add, sum_overflows),
    _of_doubles(np.add),
    decimal_sum,
)
SUBTRACT = _by_type(
    _checked(pc.subtract_checked, np.subtract, difference_overflows),
    _of_doubles(np.subtract),
    decimal_difference,
)
MULTIPLY = _by_type(
    _checked(pc.multiply_checked, np.multiply, product_overflows),
    _of_doubles(np.multiply),
    decimal_product,
)

ARITHMETIC: dict[str, Maker] = {
    "+": ADD,
    "-": SUBTRACT,
    "*": MULTIPLY,
    "/": lambda call: (
        decimal_quotient(call) if call.type.is_decimal else _dividing_doubles(np.divide)(call)
    ),
    "div": lambda call: (
        decimal_division(call) if call.args[0].type.is_decimal else _dividing(cut_quotient)(call)
    ),
    "%": _by_type(_dividing(remainder), _dividing_doubles(np.fmod), decimal_remainder),
    "pmod": _by_type(
        _dividing(positive_remainder),
        _dividing_doubles(_positive_remainder_of_doubles),
        decimal_remainder,
    ),
    "negate": _negate,
    "&": _bits(pc.bit_wise_and),
    "|": _bits(pc.bit_wise_or),
    "^": _bits(pc.bit_wise_xor),
    "~": _bits(pc.bit_wise_not),
}
