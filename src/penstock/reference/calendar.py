"""The proleptic Gregorian calendar without ends: days since 1970-01-01 to and from dates.

Python's calendar has the years 1 to 9999 only. The calendar repeats every 400 years, so a day is
looked up 400 * k years away from where it is.
"""

from __future__ import annotations

from datetime import date

CYCLE_YEARS = 400
CYCLE_DAYS = 146_097
"""Days of 400 years, a whole number of weeks."""

_BASE = date(2000, 1, 1)
_BASE_DAYS = (_BASE - date(1970, 1, 1)).days


def date_of(days: int) -> tuple[int, date]:
    """The 400-year cycle after 2000 and, within it, the date as one of the years 2000 to 2399."""
    cycle, day = divmod(days - _BASE_DAYS, CYCLE_DAYS)
    return cycle, date.fromordinal(_BASE.toordinal() + day)


def year_of(days: int) -> int:
    """The year, astronomical: the year before 1 is 0."""
    cycle, day = date_of(days)
    return day.year + CYCLE_YEARS * cycle


def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01.

    Raises:
        ValueError: There is no such day.
    """
    cycle, within = divmod(year - _BASE.year, CYCLE_YEARS)
    found = date(_BASE.year + within, month, day)
    return (found - _BASE).days + _BASE_DAYS + CYCLE_DAYS * cycle


def first_of_month(months: int) -> int:
    """Days since 1970-01-01 of the first day of a month, counted from January of year 0."""
    return days_of(months // 12, months % 12 + 1, 1)


def month_number(days: int) -> int:
    """The month of a day, counted from January of year 0."""
    return year_of(days) * 12 + date_of(days)[1].month - 1
