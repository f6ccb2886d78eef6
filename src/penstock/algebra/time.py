"""Time: a discrete, ordered domain of signed 64-bit integers, and its units.

A TIMESTAMP column counts microseconds since the epoch; an integer event time has the unit that
its stream declares, `tick` unless told otherwise.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from penstock.algebra.values import format_timestamp

if TYPE_CHECKING:
    from decimal import Decimal

INFINITY = 2**63 - 1
"""The end of an interval that never ends."""
BEGINNING = -(2**63)
"""Before all input."""


class TimeUnit(Enum):
    """The meaning of one step of a query's time."""

    TIMESTAMP = "timestamp"
    MICROSECONDS = "us"
    MILLISECONDS = "ms"
    SECONDS = "s"
    TICK = "tick"

    @property
    def micros(self) -> int | None:
        """Microseconds in one step; None for ticks, which have no length."""
        return {"timestamp": 1, "us": 1, "ms": 1_000, "s": 1_000_000}.get(self.value)

    def format(self, instant: int) -> str:
        """An instant as shown to people: a date and time, or a plain number."""
        if instant >= INFINITY:
            return "inf"
        return format_timestamp(instant) if self is TimeUnit.TIMESTAMP else str(instant)

    def length(self, steps: int) -> str:
        """A number of steps as statements write it.

        >>> TimeUnit.SECONDS.length(7200), TimeUnit.TIMESTAMP.length(1_500_000)
        ('2 HOURS', '1500 MILLISECONDS')
        """
        if self.micros is None:
            return str(steps)
        micros = steps * self.micros
        name, size = next(one for one in reversed(MICROS_PER.items()) if micros % one[1] == 0)
        number = micros // size
        return f"{number} {name}" if number == 1 else f"{number} {name}S"

    def about(self, steps: int) -> str:
        """A number of steps for people: the odd end of a long time is left out.

        >>> TimeUnit.TIMESTAMP.about(86_400_000_002), TimeUnit.TIMESTAMP.about(5_400_000_000)
        ('1 DAY', '90 MINUTES')
        """
        if self.micros is None:
            return str(steps)
        micros = steps * self.micros
        fitting = [one for one in MICROS_PER.values() if one * 1000 <= micros]
        size = max(fitting, default=1)
        return TimeUnit.MICROSECONDS.length(round(micros / size) * size)


MICROS_PER = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
"""The lengths of time a window or interval can be written in, singular."""

ABBREVIATIONS = {
    "US": "MICROSECOND", "MICROS": "MICROSECOND", "MS": "MILLISECOND", "MILLIS": "MILLISECOND",
    "MSEC": "MILLISECOND", "S": "SECOND", "SEC": "SECOND", "SECS": "SECOND", "MIN": "MINUTE",
    "MINS": "MINUTE", "H": "HOUR", "HR": "HOUR", "HRS": "HOUR", "D": "DAY", "W": "WEEK",
}  # fmt: skip
UNEVEN_UNITS = ("MONTH", "QUARTER", "YEAR")
"""Units without a fixed length, refused in windows."""


def unit_name(word: str) -> str | None:
    """The singular unit a word stands for, None if it is no unit of time.

    >>> unit_name("seconds"), unit_name("min"), unit_name("parsec")
    ('SECOND', 'MINUTE', None)
    """
    upper = word.upper()
    for candidate in (upper, upper.removesuffix("S")):
        if candidate in MICROS_PER or candidate in UNEVEN_UNITS:
            return candidate
    return ABBREVIATIONS.get(upper)


def micros_of(count: Decimal, unit: str) -> Decimal:
    """A length such as 1.5 SECOND in microseconds."""
    return count * MICROS_PER[unit]


def plus(instant: int, length: int) -> int:
    """An instant moved by a length; it saturates to infinity."""
    return min(instant + length, INFINITY)


def round_up(instant: int, step: int) -> int:
    """The multiple of `step` at or after an instant, also below zero.

    >>> round_up(7, 5), round_up(10, 5), round_up(-7, 5)
    (10, 10, -5)
    """
    return instant if instant >= INFINITY else min(-(-instant // step) * step, INFINITY)
