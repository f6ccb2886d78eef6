"""Amounts for people: numbers with two digits, rates in rows of a second, an hour or a tick."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.algebra.time import TimeUnit

LEAST = 0.0005
"""What is less is shown as nothing."""
SELDOM = 0.01
"""Rates below this in a second are shown for an hour."""
THOUSANDS = ("", "k", "M", "G", "T")


def short_number(number: float, unit: str = "") -> str:
    """A number with about two digits, a letter for thousands, and its unit.

    >>> short_number(1234), short_number(36e6, "B"), short_number(0.0001, "B")
    ('1.2k', '36 MB', '0 B')
    """
    if number < LEAST:
        return f"0 {unit}".rstrip()
    size = 0
    while number >= 1000 and size < len(THOUSANDS) - 1:
        number /= 1000
        size += 1
    text = f"{number:.0f}" if number >= 10 else f"{number:.2g}"
    return f"{text} {THOUSANDS[size]}{unit}" if unit else f"{text}{THOUSANDS[size]}"


def steps_in(unit: TimeUnit | None) -> float:
    """Steps in a second, or one tick."""
    return 1.0 if unit is None or unit.micros is None else 1e6 / unit.micros


def step_name(unit: TimeUnit | None) -> str:
    """The name of what `steps_in` counts the steps of."""
    return "tick" if unit is None or unit.micros is None else "s"


def shown_rate(rate: float, unit: TimeUnit | None) -> str:
    """A rate in rows for each step of a unit, for people.

    >>> from penstock.algebra.time import TimeUnit
    >>> shown_rate(1000, TimeUnit.SECONDS), shown_rate(2 / 3600e6, TimeUnit.TIMESTAMP)
    ('1k rows/s', '2 rows/h')
    """
    found = rate * steps_in(unit)
    if 0 < found < SELDOM and step_name(unit) == "s":
        return f"{short_number(found * 3600)} rows/h"
    return f"{short_number(found)} rows/{step_name(unit)}"
