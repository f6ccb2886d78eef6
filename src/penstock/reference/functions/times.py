"""Functions of dates (days since 1970-01-01) and timestamps (microseconds since then, UTC)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from penstock.catalog.functions.widening import DAY_MICROS
from penstock.reference.calendar import date_of, days_of, first_of_month, month_number, year_of
from penstock.reference.failure import Exact, Failure
from penstock.reference.functions.time_format import date_format

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

SECOND = 1_000_000

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


def _date_trunc(unit: str, micros: int) -> int:
    if unit in FIXED_UNITS:
        return micros - micros % FIXED_UNITS[unit]
    return _trunc(micros // DAY_MICROS, unit) * DAY_MICROS


def _trunc(days: int, unit: str) -> int:
    if unit == "week":
        return days - _weekday(days)
    month = month_number(days)
    return first_of_month(month - month % MONTHS[unit])


def _weekday(days: int) -> int:
    """Monday 0: 1970-01-01 was a Thursday."""
    return (days + 3) % 7


def _day_of_month(days: int) -> int:
    return date_of(days)[1].day


def _add_months(days: int, months: int) -> int:
    month = month_number(days) + months
    first, last = first_of_month(month), first_of_month(month + 1) - 1
    return min(first + _day_of_month(days) - 1, last)


def _make_date(year: int, month: int, day: int) -> int:
    try:
        return days_of(year, month, day)
    except ValueError as fault:
        raise Failure(str(fault)) from fault


def timestamp_of_seconds(seconds: float | Decimal) -> int:
    """Microseconds of a number of seconds, cut toward zero; a Failure for NaN and infinities."""
    if isinstance(seconds, float) and not math.isfinite(seconds):
        msg = f"{seconds} is no time"
        raise Failure(msg)
    return math.trunc(Fraction(seconds) * SECOND)


TIMES: dict[str, Callable[..., Exact]] = {
    "year": year_of,
    "quarter": lambda days: (date_of(days)[1].month + 2) // 3,
    "month": lambda days: date_of(days)[1].month,
    "day": _day_of_month,
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "weekday": _weekday,
    "dayofyear": lambda days: days - days_of(year_of(days), 1, 1) + 1,
    "weekofyear": lambda days: date_of(days)[1].isocalendar().week,
    "hour": lambda micros: micros // FIXED_UNITS["hour"] % 24,
    "minute": lambda micros: micros // FIXED_UNITS["minute"] % 60,
    "second": lambda micros: micros // SECOND % 60,
    "date_trunc": _date_trunc,
    "trunc": _trunc,
    "date_format": date_format,
    "date_add": lambda days, count: days + count,
    "date_sub": lambda days, count: days - count,
    "datediff": lambda end, start: end - start,
    "add_months": _add_months,
    "last_day": lambda days: first_of_month(month_number(days) + 1) - 1,
    "make_date": _make_date,
    "unix_seconds": lambda micros: micros // SECOND,
    "unix_millis": lambda micros: micros // 1000,
    "unix_micros": lambda micros: micros,
    "timestamp_seconds": timestamp_of_seconds,
    "timestamp_millis": lambda millis: millis * 1000,
    "timestamp_micros": lambda micros: micros,
}
