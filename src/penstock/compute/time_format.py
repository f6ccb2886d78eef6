"""DATE_FORMAT: each field of the pattern computed for all rows, spelled once per distinct value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.catalog.functions.time_patterns import parts_of
from penstock.catalog.functions.widening import DAY_MICROS
from penstock.compute import calendar
from penstock.compute.datum import Datum, Numbers, made, numbers, valid_in_all
from penstock.compute.kernels import constant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.expressions import Call
    from penstock.algebra.failures import Failures
    from penstock.compute.kernels import Kernel

SECOND = 1_000_000
HOUR = 3600 * SECOND

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ORDINALS = ("1st", "2nd", "3rd", "4th")


def date_format(call: Call) -> Kernel:
    """The kernel of a pattern: texts and fields, joined."""
    parts = parts_of(str(constant(call.args[1])))

    def kernel(args: Sequence[Datum], _: Failures) -> pa.Array:
        days, inside = np.divmod(numbers(args[0]), DAY_MICROS)
        valid = valid_in_all(args[:1])
        pieces = [
            _field(part.text, days, inside, valid) if part.is_field else part.text for part in parts
        ]
        # The first piece is as long as the block and NULL where the timestamp is.
        first = made(pa.int64(), days, valid)
        empty = pc.if_else(pc.is_valid(first), "", pa.scalar(None, pa.string()))
        return pc.binary_join_element_wise(empty, *pieces, "")

    return kernel


def _field(letters: str, days: Numbers, inside: Numbers, valid: pa.Array | None) -> pa.Array:
    """A field of the day, or of the microseconds inside of it."""
    letter, width = letters[0], len(letters)
    value, spell = (_OF_DAY | _OF_TIME)[letter]
    encoded = made(pa.int64(), value(days if letter in _OF_DAY else inside), valid)
    encoded = encoded.dictionary_encode()
    texts = pa.array([spell(one, width) for one in encoded.dictionary.to_pylist()], pa.string())
    return texts.take(encoded.indices)


def _number(value: int, width: int) -> str:
    return str(value).zfill(width)


def _year(year: int, width: int) -> str:
    """Two letters: the last two digits. Four and more: with a plus where the year is longer."""
    if width == 2:
        return _number(abs(year) % 100, width)
    digits = _number(abs(year), width)
    plus = "+" if len(digits) > width >= 4 else ""
    return ("-" if year < 0 else plus) + digits


def _quarter(quarter: int, width: int) -> str:
    if width <= 2:
        return _number(quarter, width)
    return f"Q{quarter}" if width == 3 else f"{ORDINALS[quarter - 1]} quarter"


def _month(month: int, width: int) -> str:
    return _number(month, width) if width <= 2 else _name(MONTHS[month - 1], width)


def _name(name: str, width: int) -> str:
    """Four letters: the whole name; fewer: its first three."""
    return name if width == 4 else name[:3]


Field = tuple["Callable[[Numbers], Numbers]", "Callable[[int, int], str]"]
"""A number for every row, and how it is spelled in so many letters."""

_OF_DAY: dict[str, Field] = {
    "y": (calendar.years_of, _year),
    "Q": (lambda days: (calendar.month_of(days) + 2) // 3, _quarter),
    "M": (calendar.month_of, _month),
    "D": (calendar.day_of_year, _number),
    "d": (calendar.day_of_month, _number),
    "E": (calendar.weekday, lambda day, width: _name(WEEKDAYS[day], width)),
}

_OF_TIME: dict[str, Field] = {
    "a": (lambda inside: inside // (DAY_MICROS // 2), lambda half, _: ("AM", "PM")[half]),
    "H": (lambda inside: inside // HOUR, _number),
    "h": (lambda inside: (inside // HOUR - 1) % 12 + 1, _number),
    "m": (lambda inside: inside // (60 * SECOND) % 60, _number),
    "s": (lambda inside: inside // SECOND % 60, _number),
    "S": (
        lambda inside: inside % SECOND,
        lambda micros, width: _number(micros, 6).ljust(width, "0")[:width],
    ),
}
