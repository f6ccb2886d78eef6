"""DATE_FORMAT: a timestamp (microseconds since 1970, UTC) as text, in English."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.catalog.functions.time_patterns import parts_of
from penstock.catalog.functions.widening import DAY_MICROS
from penstock.reference.calendar import date_of, days_of, year_of

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND = 1_000_000

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ORDINALS = ("1st", "2nd", "3rd", "4th")


def date_format(micros: int, pattern: str) -> str:
    """Each field of the pattern in its place, the rest as it is."""
    days, inside = divmod(micros, DAY_MICROS)
    return "".join(
        _field(part.text, days, inside) if part.is_field else part.text
        for part in parts_of(pattern)
    )


def _field(letters: str, days: int, inside: int) -> str:
    """A field of the day, or of the microseconds inside of it."""
    letter, width = letters[0], len(letters)
    if letter in OF_DAY:
        return OF_DAY[letter](days, width)
    return OF_TIME[letter](inside, width)


def _year(days: int, width: int) -> str:
    """Two letters: the last two digits. Four and more: with a plus where the year is longer."""
    year = year_of(days)
    if width == 2:
        return _padded(abs(year) % 100, width)
    digits = _padded(abs(year), width)
    plus = "+" if len(digits) > width >= 4 else ""
    return ("-" if year < 0 else plus) + digits


def _quarter(days: int, width: int) -> str:
    quarter = (date_of(days)[1].month + 2) // 3
    if width <= 2:
        return _padded(quarter, width)
    return f"Q{quarter}" if width == 3 else f"{ORDINALS[quarter - 1]} quarter"


def _month(days: int, width: int) -> str:
    month = date_of(days)[1].month
    return _padded(month, width) if width <= 2 else _named(MONTHS[month - 1], width)


def _named(name: str, width: int) -> str:
    """Four letters: the whole name; fewer: its first three."""
    return name if width == 4 else name[:3]


def _padded(value: int, width: int) -> str:
    return str(value).zfill(width)


OF_DAY: dict[str, Callable[[int, int], str]] = {
    "y": _year,
    "Q": _quarter,
    "M": _month,
    "D": lambda days, width: _padded(days - days_of(year_of(days), 1, 1) + 1, width),
    "d": lambda days, width: _padded(date_of(days)[1].day, width),
    "E": lambda days, width: _named(WEEKDAYS[(days + 3) % 7], width),
}

OF_TIME: dict[str, Callable[[int, int], str]] = {
    "a": lambda inside, _: "AM" if inside < DAY_MICROS // 2 else "PM",
    "H": lambda inside, width: _padded(inside // (3600 * SECOND), width),
    "h": lambda inside, width: _padded(inside // (3600 * SECOND) % 12 or 12, width),
    "m": lambda inside, width: _padded(inside // (60 * SECOND) % 60, width),
    "s": lambda inside, width: _padded(inside // SECOND % 60, width),
    "S": lambda inside, width: _padded(inside % SECOND, 6).ljust(width, "0")[:width],
}
