"""CAST between the types other than STRING; what does not fit the type fails."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.failures import Failures
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    to_arrow,
)
from penstock.catalog.functions.widening import DAY_MICROS, as_decimal
from penstock.compute.cast_texts import from_text, to_text
from penstock.compute.datum import (
    Numbers,
    Truths,
    made,
    made_doubles,
    mended,
    numbers,
    valid_in_all,
    without_failures,
    words,
)
from penstock.compute.decimals import decimal_of, fitted, to_integers
from penstock.compute.digits import of_unscaled, rescaled, toward_zero, unscaled_of
from penstock.compute.doubles import (
    EXACT_POWERS,
    TENS,
    double_of,
    rounded_units,
    shortest_digits,
)
from penstock.compute.kernels import Failed
from penstock.compute.numbers import integers_of_doubles
from penstock.compute.python_functions import per_distinct
from penstock.compute.times import SECOND, multiplied, timestamps_of_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from penstock.compute.kernels import Kernel

NAME = "cast"
"""The name that failures of casts are counted under."""

_EXACT = 2**53
"""Integers up to here are doubles."""


def cast_kernel(source: Type, to: Type) -> Kernel:
    """The kernel of a cast that the registry allows."""
    convert = _converter(source, to)
    return lambda args, failures: convert(args[0], failures)


def _converter(source: Type, to: Type) -> Callable[[pa.Array, Failures], pa.Array]:
    if source == to:
        return lambda array, _: array
    if source == STRING:
        return from_text(to)
    if to == STRING:
        return to_text(source)
    if to == BOOLEAN:
        return _to_boolean
    if source == BOOLEAN:
        after = _converter(INT, to)
        return lambda array, failures: after(pc.cast(array, pa.int32()), failures)
    if to == TIMESTAMP:
        return _days_to_timestamps if source == DATE else _seconds_to_timestamps
    return partial(_FROM[_family(source)], to)


def cast_never_fails(source: Type, to: Type) -> bool:
    """Every value of a type has one in the other."""
    if source == to or (to in (STRING, BOOLEAN) and source != STRING):
        return True
    if source == BOOLEAN:
        return not to.is_decimal
    if source.is_integer or source.is_decimal:
        return to == DOUBLE or (source, to) == (INT, BIGINT) or _holds(to, as_decimal(source))
    return source == TIMESTAMP and to in (DATE, BIGINT, DOUBLE)


def _holds(to: Type, source: Type) -> bool:
    """A DECIMAL that holds every value of another."""
    whole = source.precision - source.scale
    return to.is_decimal and to.precision - to.scale >= whole and to.scale >= source.scale


def _family(type_: Type) -> str:
    return "INTEGER" if type_.is_integer else type_.name


def _to_boolean(array: pa.Array, _: Failures) -> pa.Array:
    if pa.types.is_decimal(array.type):
        return pc.not_equal(array, pa.scalar(0, array.type))
    return made(pa.bool_(), numbers(array) != 0, valid_in_all((array,)))


def _days_to_timestamps(array: pa.Array, failures: Failures) -> pa.Array:
    return multiplied(array, DAY_MICROS, pa.timestamp("us"), NAME, failures)


def _seconds_to_timestamps(array: pa.Array, failures: Failures) -> pa.Array:
    return timestamps_of_seconds(array, NAME, failures)


# From integers


def _from_integer(to: Type, array: pa.Array, failures: Failures) -> pa.Array:
    if to.is_decimal:
        exact = pc.cast(array, pa.decimal128(10 if array.type == pa.int32() else 19, 0))
        return fitted(exact, to, NAME, failures)
    if to == INT:
        return _narrowed(numbers(array), valid_in_all((array,)), failures)
    return pc.cast(array, to_arrow(to), safe=False)


def _narrowed(values: Numbers, valid: pa.Array | None, failures: Failures) -> pa.Array:
    """64-bit integers as INT."""
    narrow = values.astype(np.int32)
    return made(pa.int32(), narrow, without_failures(valid, narrow != values, NAME, failures))


# From doubles


def _from_double(to: Type, array: pa.Array, failures: Failures) -> pa.Array:
    values, valid = numbers(array), valid_in_all((array,))
    if to.is_integer:
        return integers_of_doubles(np.trunc(values), to_arrow(to), valid, NAME, failures)
    if to.scale > EXACT_POWERS:
        return _decimals_in_python(to, array, failures)
    units, sure = rounded_units(values, to.scale)
    exact = of_unscaled(_wide(to.scale), np.where(sure, units, 0.0).astype(np.int64), valid)
    known = fitted(exact, to, NAME, failures)
    return mended(known, ~sure, lambda some: _decimals_in_python(to, some[0], failures), array)


def _wide(scale: int) -> pa.DataType:
    """The type of 64-bit integers with a scale."""
    return pa.decimal128(max(19, scale), scale)


def _decimals_in_python(to: Type, array: pa.Array, failures: Failures) -> pa.Array:
    """The decimals that one sees, not the binary fractions behind them."""

    def of_one(value: float) -> Decimal:
        if not math.isfinite(value):
            raise Failed
        return decimal_of(*shortest_digits(value), to)

    return per_distinct((array,), of_one, to, NAME, failures)


# From decimals


def _from_decimal(to: Type, array: pa.Array, failures: Failures) -> pa.Array:
    if to.is_decimal:
        return fitted(array, to, NAME, failures)
    if to.is_integer:
        return to_integers(rescaled(array, 0, toward_zero), to, NAME, failures)
    low, high = words(array)
    exact = (high == low >> 63) & (np.abs(low) <= _EXACT)
    return _divided(low, array, array.type.scale, exact)


def _divided(values: Numbers, array: pa.Array, scale: int, exact: Truths) -> pa.Array:
    """The doubles nearest to values / 10**scale, in Python where the values are no doubles."""
    if scale > EXACT_POWERS:
        exact = np.zeros_like(exact)
    result = made_doubles(values / TENS[min(scale, EXACT_POWERS)], valid_in_all((array,)))

    def of_one(value: Decimal | int) -> float:
        return double_of(value if isinstance(value, int) else unscaled_of(value, scale), scale)

    return mended(
        result, ~exact, lambda some: per_distinct(some, of_one, DOUBLE, NAME, Failures()), array
    )


# From timestamps


def _from_timestamp(to: Type, array: pa.Array, failures: Failures) -> pa.Array:
    """A DATE or an integer is rounded down, also before 1970; other numbers are exact seconds."""
    micros, valid = numbers(array), valid_in_all((array,))
    if to == DATE:
        return made(pa.date32(), (micros // DAY_MICROS).astype(np.int32), valid)
    if to == INT:
        return _narrowed(micros // SECOND, valid, failures)
    if to == BIGINT:
        return made(pa.int64(), micros // SECOND, valid)
    if to == DOUBLE:
        return _divided(micros, array, 6, np.abs(micros) <= _EXACT)
    return fitted(of_unscaled(_wide(6), micros, valid), to, NAME, failures)


_FROM: dict[str, Callable[[Type, pa.Array, Failures], pa.Array]] = {
    "INTEGER": _from_integer,
    "DOUBLE": _from_double,
    "DECIMAL": _from_decimal,
    "TIMESTAMP": _from_timestamp,
}
