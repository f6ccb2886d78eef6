"""The proleptic Gregorian calendar on arrays of days since 1970-01-01, without ends.

NumPy's `datetime64` counts as far as 64 bits reach, beyond Arrow's years -32767 to 32767.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from penstock.compute.datum import Numbers

DAY_TYPE, MONTH_TYPE, YEAR_TYPE = "datetime64[D]", "datetime64[M]", "datetime64[Y]"
FIRST_YEAR = 1970


def months_of(days: Numbers) -> Numbers:
    """Months since January 1970."""
    return days.astype(DAY_TYPE).astype(MONTH_TYPE).astype(np.int64)


def first_of_month(months: Numbers) -> Numbers:
    """The day on which a month since January 1970 begins."""
    return months.astype(MONTH_TYPE).astype(DAY_TYPE).astype(np.int64)


def years_of(days: Numbers) -> Numbers:
    """The year, astronomical: the year before 1 is 0."""
    return days.astype(DAY_TYPE).astype(YEAR_TYPE).astype(np.int64) + FIRST_YEAR


def first_of_year(days: Numbers) -> Numbers:
    """The first day of the year that a day is in."""
    return days.astype(DAY_TYPE).astype(YEAR_TYPE).astype(DAY_TYPE).astype(np.int64)


def month_of(days: Numbers) -> Numbers:
    """The month of the year, 1 to 12."""
    return months_of(days) % 12 + 1


def day_of_month(days: Numbers) -> Numbers:
    """The day of the month, from 1."""
    return days - first_of_month(months_of(days)) + 1


def day_of_year(days: Numbers) -> Numbers:
    """The day of the year, from 1."""
    return days - first_of_year(days) + 1


def weekday(days: Numbers) -> Numbers:
    """Monday 0: 1970-01-01 was a Thursday."""
    return (days + 3) % 7


def iso_week(days: Numbers) -> Numbers:
    """The week of the year in which the week's Thursday lies."""
    thursday = days - weekday(days) + 3
    return (thursday - first_of_year(thursday)) // 7 + 1


def plus_months(days: Numbers, months: Numbers) -> Numbers:
    """The same day of another month, at most that month's last."""
    month = months_of(days) + months
    last = first_of_month(month + 1) - 1
    same: Numbers = first_of_month(month) + day_of_month(days) - 1
    return np.where(same > last, last, same)
