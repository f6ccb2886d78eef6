"""CAST: what a value is in another type, as Spark's TRY_CAST has it; a Failure where it is not.

A DOUBLE becomes the shortest text that reads back as the same number, in Python's spelling
(`1e+16`, `inf`, `NaN`), where Spark writes Java's (`1.0E16`, `Infinity`).
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING

from penstock.algebra.types import BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, Type
from penstock.algebra.values import format_value
from penstock.catalog.functions.time_text import date_in_text, timestamp_in_text
from penstock.catalog.functions.widening import DAY_MICROS
from penstock.reference.failure import Exact, Failure, fit
from penstock.reference.functions.times import SECOND, timestamp_of_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from penstock.algebra.expressions import Value

TRUE_TEXTS = ("t", "true", "y", "yes", "1")
FALSE_TEXTS = ("f", "false", "n", "no", "0")

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?", re.ASCII)
_SPECIAL = re.compile(r"nan|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)


def cast(value: Value, source: Type, to: Type) -> Value:
    """The value of type `source` as a value of type `to`."""
    if value is None or source == to:
        return value
    if isinstance(value, str):
        return fit(_from_text(value.strip(), to), to)
    if to == STRING:
        return str(value).lower() if source == BOOLEAN else format_value(value, source)
    if source == TIMESTAMP:
        return fit(_from_timestamp(int(value), to), to)
    if source == DATE:
        return fit(int(value) * DAY_MICROS, to)
    return fit(_from_number(value, to), to)


def _from_timestamp(micros: int, to: Type) -> Exact:
    """A DATE or an integer is rounded down, also before 1970; other numbers are exact seconds."""
    if to == DATE:
        return micros // DAY_MICROS
    return micros // SECOND if to.is_integer else Fraction(micros, SECOND)


def _from_number(value: float | Decimal, to: Type) -> Exact:
    if to == BOOLEAN:
        return value != 0
    if to == TIMESTAMP:
        return timestamp_of_seconds(value)
    if to == DOUBLE:
        return value if isinstance(value, float) else Fraction(value)
    if isinstance(value, float) and not math.isfinite(value):
        msg = f"{value} is no {to}"
        raise Failure(msg)
    if to.is_integer:
        return math.trunc(value)
    # A double becomes the decimal that one sees, not the binary fraction behind it.
    return Fraction(repr(value) if isinstance(value, float) else value)


def _from_text(text: str, to: Type) -> Exact:
    found = _READERS[to.name](text)
    if found is None:
        msg = f"{text!r} is no {to}"
        raise Failure(msg)
    return found


def _boolean(text: str) -> bool | None:
    if text.lower() in TRUE_TEXTS:
        return True
    return False if text.lower() in FALSE_TEXTS else None


def _double(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) or _SPECIAL.fullmatch(text) else None


def _integer(text: str) -> int | None:
    return int(text) if _INTEGER.fullmatch(text) and len(text) < 4000 else None


_READERS: dict[str, Callable[[str], Exact]] = {
    "BOOLEAN": _boolean,
    "INT": _integer,
    "BIGINT": _integer,
    "DECIMAL": lambda text: Fraction(text) if _NUMBER.fullmatch(text) else None,
    "DOUBLE": _double,
    "DATE": date_in_text,
    "TIMESTAMP": timestamp_in_text,
}
