"""Functions of dates (days since 1970-01-01) and timestamps (microseconds since then, UTC)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import DOUBLE, TIMESTAMP, to_arrow
from penstock.catalog.functions.widening import DAY_MICROS
from penstock.compute import calendar
from penstock.compute.datum import (
    Datum,
    Numbers,
    Truths,
    made,
    numbers,
    reinterpreted,
    valid_in_all,
    without_failures,
)
from penstock.compute.decimals import to_integers
from penstock.compute.digits import WIDE, rescaled, toward_zero
from penstock.compute.kernels import constant
from penstock.compute.time_format import date_format

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call
    from penstock.algebra.failures import Failures
    from penstock.compute.kernels import Kernel, Maker

SECOND = 1_000_000
MOST_SECONDS = 2**63 // SECOND
"""Whole seconds that a TIMESTAMP holds on both sides of 1970."""

FIXED_UNITS = {
    "day": DAY_MICROS,
    "hour": 3600 * SECOND,
    "minute": 60 * SECOND,
    "second": SECOND,
    "millisecond": 1000,
    "microsecond": 1,
}
"""Units of one length, in microseconds."""

MONTHS = {"year": 12, "quarter": 3, "month": 1}
"""Units of whole months."""


def _part(define: Callable[..., Numbers]) -> Maker:
    """A function that does not fail."""

    def make(call: Call) -> Kernel:
        type_ = to_arrow(call.type)
        dtype = type_.to_pandas_dtype()

        def kernel(args: Sequence[Datum], _: Failures) -> pa.Array:
            result = define(*map(numbers, args))
            return made(type_, result.astype(dtype, copy=False), valid_in_all(args))

        return kernel

    return make


def _day_part(define: Callable[[Numbers], Numbers]) -> Maker:
    return _part(lambda days: define(days.astype(np.int64)))


def _moved(define: Callable[..., Numbers]) -> Maker:
    """From days and small integers, as 64-bit integers, to a DATE or INT that may not fit."""

    def make(call: Call) -> Kernel:
        def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
            result = define(*(numbers(arg).astype(np.int64) for arg in args))
            failed = result != result.astype(np.int32)
            valid = without_failures(valid_in_all(args), failed, call.function, failures)
            return made(to_arrow(call.type), result.astype(np.int32), valid)

        return kernel

    return make


def multiplied(
    datum: Datum, factor: int, to: pa.DataType, function: str, failures: Failures
) -> pa.Array:
    """Integers times a constant as 64-bit integers; those that do not fit fail."""
    values = numbers(datum).astype(np.int64)
    failed = (values > (2**63 - 1) // factor) | (values < -(2**63 // factor))
    valid = without_failures(valid_in_all((datum,)), failed, function, failures)
    return made(to, values * factor, valid)


# Cut to a unit


def _date_trunc(call: Call) -> Kernel:
    unit = str(constant(call.args[0]))

    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        micros = numbers(args[1])
        if unit in FIXED_UNITS:
            result = micros - micros % FIXED_UNITS[unit]
        else:
            result = _cut(micros // DAY_MICROS, unit) * DAY_MICROS
        # Cutting goes down; where the result is above, it went around below the least.
        valid = without_failures(valid_in_all(args), result > micros, call.function, failures)
        return made(pa.timestamp("us"), result, valid)

    return kernel


def _trunc(call: Call) -> Kernel:
    unit = str(constant(call.args[1]))
    move = _moved(lambda days: _cut(days, unit))(call)
    return lambda args, failures: move(args[:1], failures)


def _cut(days: Numbers, unit: str) -> Numbers:
    if unit == "week":
        return days - calendar.weekday(days)
    months = calendar.months_of(days)
    return calendar.first_of_month(months - months % MONTHS[unit])


# Made of parts and numbers


def _make_date(call: Call) -> Kernel:
    def kernel(args: Sequence[Datum], failures: Failures) -> pa.Array:
        year, month, day = np.broadcast_arrays(*(numbers(arg).astype(np.int64) for arg in args))
        no_month = (month < 1) | (month > 12)
        months = (year - calendar.FIRST_YEAR) * 12 + np.where(no_month, 1, month) - 1
        result = calendar.first_of_month(months) + day - 1
        failed: Truths = no_month | (day < 1) | (result >= calendar.first_of_month(months + 1))
        failed |= result != result.astype(np.int32)
        valid = without_failures(valid_in_all(args), failed, call.function, failures)
        return made(pa.date32(), result.astype(np.int32), valid)

    return kernel


def timestamps_of_seconds(datum: pa.Array, function: str, failures: Failures) -> pa.Array:
    """Seconds, of any type of number, as a TIMESTAMP cut toward zero."""
    if pa.types.is_integer(datum.type):
        return multiplied(datum, SECOND, pa.timestamp("us"), function, failures)
    if datum.type == to_arrow(DOUBLE):
        return _timestamps_of_doubles(datum, function, failures)
    micros = rescaled(datum, 6, toward_zero)
    micros = reinterpreted(pc.cast(micros, pa.decimal256(WIDE, 6)), pa.decimal256(WIDE, 0))
    return to_integers(micros, TIMESTAMP, function, failures)


def _timestamps_of_doubles(array: pa.Array, function: str, failures: Failures) -> pa.Array:
    """The seconds and the fraction for themselves, each of which 64 bits hold."""
    seconds = numbers(array)
    failed: Truths = ~(np.abs(seconds) < MOST_SECONDS + 1)
    seconds = np.where(failed, 0.0, seconds)
    whole = np.trunc(seconds)
    micros = _micros_of_fraction(seconds - whole).astype(np.int64)
    result = whole.astype(np.int64) * SECOND + micros
    failed |= np.where(whole > 0, result < 0, (whole < 0) & (result > 0))
    valid = without_failures(valid_in_all((array,)), failed, function, failures)
    return made(pa.timestamp("us"), result, valid)


def _micros_of_fraction(fraction: Numbers) -> Numbers:
    """Cut toward zero, exactly: where the product was rounded up to an integer, it is one less.

    The halves of the fraction have so few bits that their products are exact, and with them the
    error of the whole product (Dekker).
    """
    product = fraction * SECOND
    moved = fraction * (2.0**27 + 1)
    high = moved - (moved - fraction)
    error = (high * SECOND - product) + (fraction - high) * SECOND
    cut = np.trunc(product)
    sign = np.sign(product)
    found: Numbers = cut - np.where((cut == product) & (error * sign < 0), sign, 0.0)
    return found


def _timestamp_seconds(call: Call) -> Kernel:
    return lambda args, failures: timestamps_of_seconds(args[0], call.function, failures)


def _times(factor: int) -> Maker:
    def make(call: Call) -> Kernel:
        return lambda args, failures: multiplied(
            args[0], factor, to_arrow(call.type), call.function, failures
        )

    return make


TIMES: dict[str, Maker] = {
    "year": _day_part(calendar.years_of),
    "quarter": _day_part(lambda days: (calendar.month_of(days) + 2) // 3),
    "month": _day_part(calendar.month_of),
    "day": _day_part(calendar.day_of_month),
    "dayofweek": _day_part(lambda days: (days + 4) % 7 + 1),
    "weekday": _day_part(calendar.weekday),
    "dayofyear": _day_part(calendar.day_of_year),
    "weekofyear": _day_part(calendar.iso_week),
    "hour": _part(lambda micros: micros // FIXED_UNITS["hour"] % 24),
    "minute": _part(lambda micros: micros // FIXED_UNITS["minute"] % 60),
    "second": _part(lambda micros: micros // SECOND % 60),
    "date_trunc": _date_trunc,
    "trunc": _trunc,
    "date_format": date_format,
    "date_add": _moved(np.add),
    "date_sub": _moved(np.subtract),
    "datediff": _moved(np.subtract),
    "add_months": _moved(calendar.plus_months),
    "last_day": _moved(lambda days: calendar.first_of_month(calendar.months_of(days) + 1) - 1),
    "make_date": _make_date,
    "unix_seconds": _part(lambda micros: micros // SECOND),
    "unix_millis": _part(lambda micros: micros // 1000),
    "unix_micros": _part(lambda micros: micros),
    "timestamp_seconds": _timestamp_seconds,
    "timestamp_millis": _times(1000),
    "timestamp_micros": _times(1),
}
