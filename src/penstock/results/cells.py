r"""Cells: the text of values, column by column, as stream tests write them, too.

NULL is NULL; a string is bare unless that would be ambiguous, else in single quotes with '' for a
quote, `\n`, `\r` and `\\`. `penstock.algebra.values.format_value` says the same of one value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import DATE, TIMESTAMP
from penstock.algebra.values import format_value

if TYPE_CHECKING:
    from penstock.algebra.types import Type

_SPACE = r"\t-\r\x1c-\x1f\x{85}\p{Z}"
_AMBIGUOUS = "|".join(
    [r"[|'\n\r]", "^$", rf"^[@+#\-{_SPACE}]", rf"[{_SPACE}]$", r"^(?:NULL|\(empty\)|\(none\))$"]
)
_ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("'", "''"))
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""The days of the calendar from year 1 to 9999, counted from 1970."""
_MICROS, _MICROS_A_DAY = 1_000_000, 86_400_000_000
_PLAIN_FROM, _PLAIN_TO = 1e-4, 1e10
"""Doubles between these are written without an exponent, by Arrow as by Python."""


def cells(column: pa.Array) -> pa.Array:
    """The text of each value of a column.

    >>> cells(pa.array(["plain", "a|b", "", None])).to_pylist()
    ['plain', "'a|b'", "''", 'NULL']
    >>> cells(pa.array([2.0, 1e16, None])).to_pylist()
    ['2.0', '1e+16', 'NULL']
    """
    return pc.fill_null(_texts(column), "NULL")


def _texts(column: pa.Array) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _quoted(column)
    if pa.types.is_boolean(kind):
        return pc.if_else(column, "TRUE", "FALSE")
    if pa.types.is_floating(kind):
        return _doubles(column)
    if pa.types.is_date(kind):
        return _days(column)
    if pa.types.is_timestamp(kind):
        return _moments(column)
    text = column.cast(pa.string())
    if pa.types.is_decimal(kind):
        short = pc.fill_null(pc.match_substring(text, "E"), False)
        return _replaced(text, short, [f"{one:f}" for one in column.filter(short).to_pylist()])
    return text


def _quoted(column: pa.Array) -> pa.Array:
    ambiguous = pc.match_substring_regex(column, _AMBIGUOUS)
    if not pc.any(ambiguous).as_py():
        return column
    escaped = column
    for character, written in _ESCAPES:
        escaped = pc.replace_substring(escaped, character, written)
    return pc.if_else(ambiguous, pc.binary_join_element_wise("'", escaped, "'", ""), column)


def _doubles(column: pa.Array) -> pa.Array:
    """Doubles as Python writes them: the shortest text that is read as the same number."""
    column = pc.add(column, 0.0)  # -0.0 is 0.0
    text = column.cast(pa.string())
    whole = pc.invert(pc.match_substring(text, "."))
    text = pc.if_else(whole, pc.binary_join_element_wise(text, ".0", ""), text)
    size = pc.abs(column)
    plain = pc.and_(pc.greater_equal(size, _PLAIN_FROM), pc.less(size, _PLAIN_TO))
    plain = pc.or_(plain, pc.equal(size, 0.0))
    odd = pc.fill_null(pc.invert(plain), False)
    return _replaced(text, odd, [_double(one) for one in column.filter(odd).to_pylist()])


def _double(value: float) -> str:
    return "NaN" if value != value else str(value)  # what NaN is known by


def _days(column: pa.Array) -> pa.Array:
    days = column.cast(pa.int32())
    return _in_calendar(column, days, (_FIRST_DAY, _LAST_DAY), DATE)


def _moments(column: pa.Array) -> pa.Array:
    """Dates and times; fractions of a second only where there are any."""
    column = column.cast(pa.timestamp("us"))
    bounds = (_FIRST_DAY * _MICROS_A_DAY, (_LAST_DAY + 1) * _MICROS_A_DAY - 1)
    micros = column.cast(pa.int64())
    if pc.all(pc.equal(pc.multiply(pc.divide(micros, _MICROS), _MICROS), micros)).as_py():
        # Seconds need no search for zeros behind them.
        column = column.cast(pa.timestamp("s"))
    text = _in_calendar(column, micros, bounds, TIMESTAMP)
    return (
        text
        if column.type.unit == "s"
        else pc.replace_substring_regex(text, r"(\.\d*[1-9])0+$|\.0+$", r"\1")
    )


def _in_calendar(
    column: pa.Array, numbers: pa.Array, bounds: tuple[int, int], kind: Type
) -> pa.Array:
    """Arrow's text of what has a place in the calendar, and numbers for the rest."""
    first, last = bounds
    beyond = pc.or_(pc.less(numbers, first), pc.greater(numbers, last))
    beyond = pc.fill_null(beyond, False)
    rest = [format_value(one, kind) for one in numbers.filter(beyond).to_pylist()]
    return _replaced(column.cast(pa.string()), beyond, rest)


def _replaced(text: pa.Array, which: pa.Array, others: list[str]) -> pa.Array:
    if not others:
        return text
    return pc.replace_with_mask(text, which, pa.array(others, pa.string()))


def longest(texts: pa.Array) -> int:
    """The number of characters of the longest of some texts."""
    return int(pc.max(pc.utf8_length(texts)).as_py() or 0)
