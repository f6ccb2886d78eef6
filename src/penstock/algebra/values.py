"""Values of rows: how they are written, read, ordered and told apart.

Rows compare by IS NOT DISTINCT FROM: NULL equals NULL, NaN equals NaN and sorts last, -0.0
equals 0.0. `canonical` makes Python's own equality and hashing agree with that.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from penstock.algebra.types import BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, Type
from penstock.errors import DataError

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value

NAN = float("nan")
"""The only NaN object: hashing and `in` go by identity, so one object makes NaN equal itself."""

NO_ROWS, NO_RESULTS = "(empty)", "(none)"
"""Texts that say that no row holds at an instant, and that there is no result at all."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
INTEGER_RANGE = {"INT": (-(2**31), 2**31 - 1), "BIGINT": (-(2**63), 2**63 - 1)}


def canonical(value: Value) -> Value:
    """The one Python object standing for all values that are not distinct from this one."""
    if isinstance(value, float):
        if math.isnan(value):
            return NAN
        return value or 0.0
    return value


def sort_key(value: Value) -> tuple[int, Value]:
    """Orders values of one type: NULLs first, NaN last."""
    if value is None:
        return 0, 0
    if isinstance(value, float) and math.isnan(value):
        return 2, 0
    return 1, value


def row_key(row: tuple[Value, ...]) -> tuple[tuple[int, Value], ...]:
    """Orders rows column by column."""
    return tuple(map(sort_key, row))


def format_value(value: Value, type_: Type) -> str:
    """The text of a value, as shown in results and written in stream tests.

    >>> format_value(0, TIMESTAMP), format_value(None, STRING), format_value(2.0, DOUBLE)
    ('1970-01-01 00:00:00', 'NULL', '2.0')
    """
    if value is None:
        return "NULL"
    if type_ == BOOLEAN:
        return "TRUE" if value else "FALSE"
    if type_ == TIMESTAMP and isinstance(value, int):
        return format_timestamp(value)
    if type_ == DATE and isinstance(value, int):
        return format_date(value)
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def format_date(days: int) -> str:
    """A day number as YYYY-MM-DD, or as a number where the calendar ends."""
    try:
        return (EPOCH.date() + timedelta(days=days)).isoformat()
    except OverflowError:
        return f"day {days}"


def format_timestamp(micros: int) -> str:
    """Microseconds since the epoch as a UTC date and time; fractions only where there are any."""
    try:
        moment = EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return f"{micros} us"
    text = moment.strftime("%Y-%m-%d %H:%M:%S").rjust(19, "0")
    return f"{text}.{moment.microsecond:06d}".rstrip("0") if moment.microsecond else text


def parse_timestamp(text: str) -> int:
    """Microseconds since the epoch of an ISO date or date and time; without a zone it is UTC.

    Raises:
        ValueError: The text is not a date and time.
    """
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def parse_date(text: str) -> int:
    """Days since the epoch of an ISO date.

    Raises:
        ValueError: The text is not a date.
    """
    return (date.fromisoformat(text.strip()) - EPOCH.date()).days


def read_value(text: str, type_: Type) -> Value:
    """The value a text stands for in a column of a type; `NULL` is NULL in any column.

    >>> read_value("1970-01-01 00:00:01", TIMESTAMP), read_value("NULL", DOUBLE)
    (1000000, None)
    """
    if text == "NULL":
        return None
    try:
        return canonical(_read(text, type_))
    except (ValueError, InvalidOperation) as fault:
        msg = f"{text!r} is not a value of type {type_}"
        raise DataError(msg) from fault


def _read(text: str, type_: Type) -> Value:
    if type_ == STRING:
        return text
    if type_ == BOOLEAN:
        return _boolean(text)
    if type_ == DATE:
        return parse_date(text)
    if type_ == TIMESTAMP:
        return parse_timestamp(text)
    if type_ == DOUBLE:
        return float(text)
    if type_.is_decimal:
        return _decimal(text, type_)
    low, high = INTEGER_RANGE[type_.name]
    number = int(text)
    if not low <= number <= high:
        raise ValueError(text)
    return number


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _decimal(text: str, type_: Type) -> Decimal:
    # The context's own 28 digits are fewer than DECIMAL's 38, and it rounds halves to even.
    exact = Context(prec=1000, rounding=ROUND_HALF_UP)
    value = Decimal(text).quantize(Decimal(1).scaleb(-type_.scale), context=exact)
    if value.copy_abs() >= Decimal(10) ** (type_.precision - type_.scale):
        raise ValueError(text)
    return value
