r"""Values as they are written in stream tests: cells, rows, instants.

Cells stand between `|`. NULL is NULL; a string is bare unless that would be ambiguous, else in
single quotes with '' for a quote, `\n`, `\r` and `\\`. In expectations a number with a `~`
behind it is compared at the decimals written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from penstock.algebra.instants import TIME_OF_DAY
from penstock.algebra.time import TimeUnit
from penstock.algebra.types import DOUBLE, STRING, TIMESTAMP, Type
from penstock.algebra.values import NO_RESULTS, NO_ROWS, format_value, read_value
from penstock.errors import DataError
from penstock.reference.compare import Tolerance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Value
    from penstock.algebra.types import Schema
    from penstock.reference.timeline import Row

NOTHING = (NO_ROWS, NO_RESULTS)
"""The word of a block that says that there is no row."""

_CELL = re.compile(r"\s*('(?:[^']|'')*'|[^'|][^|]*|)\s*(\||$)")
_ESCAPES = {"\\n": "\n", "\\r": "\r", "\\\\": "\\", "''": "'"}
_ESCAPED = {meant: written for written, meant in _ESCAPES.items()}
_TOLERANCE = Tolerance()


def split_cells(text: str) -> list[str]:
    """The cells of a row, quotes kept.

    >>> split_cells("1 | 'a | b' | it's")
    ['1', "'a | b'", "it's"]
    """
    cells = []
    at = 0
    while True:
        found = _CELL.match(text, at)
        if found is None:
            msg = "a quoted string must end with a quote, right before the next | or the line's end"
            raise DataError(msg)
        cells.append(found[1].rstrip())
        at = found.end()
        if not found[2]:
            return cells


def read_cell(text: str, type_: Type, day: str | None = None) -> Value:
    """The value a cell stands for.

    >>> read_cell("'it''s'", STRING), read_cell("NULL", STRING), read_cell("'NULL'", STRING)
    ("it's", None, 'NULL')
    """
    if not text:
        msg = "a cell is empty"
        raise DataError(msg, hint="Write '' for the empty string, NULL for no value.")
    if text.startswith("'"):
        if type_ != STRING:
            msg = f"quotes are for strings; {text} stands in a column of type {type_}"
            raise DataError(msg)
        return re.sub(r"\\n|\\r|\\\\|''", lambda found: _ESCAPES[found[0]], text[1:-1])
    if type_ == TIMESTAMP and day and TIME_OF_DAY.fullmatch(text):
        text = f"{day} {text}"
    value = read_value(text, type_)
    if isinstance(value, Decimal) and value != Decimal(text):
        msg = f"{text} has more decimals than {type_}"
        raise DataError(msg)
    return value


def print_cell(value: Value, type_: Type, day: str | None = None) -> str:
    r"""The text of a value, such that `read_cell` gives the value back.

    >>> print_cell("a|b", STRING), print_cell("plain", STRING), print_cell("", STRING)
    ("'a|b'", 'plain', "''")
    """
    text = format_value(value, type_)
    if type_ == STRING and isinstance(value, str) and _ambiguous(value):
        return "'" + re.sub(r"[\n\r\\']", lambda found: _ESCAPED[found[0]], value) + "'"
    if type_ == TIMESTAMP and day:
        return text.removeprefix(f"{day} ")
    return text


def _ambiguous(text: str) -> bool:
    special = any(character in text for character in "|'\n\r")
    return special or not text or text != text.strip() or text[0] in "@+-#" or text in _RESERVED


_RESERVED = ("NULL", *NOTHING)


@dataclass(frozen=True, slots=True)
class ExpectedCell:
    """A cell of an expectation: a value, and how far from it a number may lie (None: default)."""

    text: str
    value: Value
    within: Decimal | None = None

    def accepts(self, actual: Value) -> bool:
        """A computed value is what was expected."""
        if self.within is None:
            return _TOLERANCE.same(self.value, actual)
        if actual is None or isinstance(actual, str):
            return False
        distance = abs(Decimal(actual) - Decimal(self.text.removesuffix("~")))
        # NaN compares with nothing.
        return not distance.is_nan() and distance <= self.within


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """A row of an expectation."""

    cells: tuple[ExpectedCell, ...]

    def accepts(self, actual: Row) -> bool:
        """A computed row is what was expected."""
        return all(cell.accepts(value) for cell, value in zip(self.cells, actual, strict=True))

    def __str__(self) -> str:
        """As written."""
        return " | ".join(cell.text for cell in self.cells)


def expected_cell(text: str, type_: Type, day: str | None = None) -> ExpectedCell:
    """The expectation a cell states.

    >>> [expected_cell(text, DOUBLE).accepts(19.767) for text in ("19.8~", "19.8")]
    [True, False]
    """
    if text.endswith("~") and (type_ == DOUBLE or type_.is_decimal):
        return ExpectedCell(text, read_value(text[:-1], DOUBLE), _half_a_digit(text[:-1]))
    return ExpectedCell(text, read_cell(text, type_, day))


def _half_a_digit(number: str) -> Decimal:
    try:
        exponent = Decimal(number).as_tuple().exponent
    except InvalidOperation:
        exponent = "n"
    if not isinstance(exponent, int):
        msg = f"'{number}~' is not a rounded number"
        raise DataError(msg)
    return Decimal(5).scaleb(exponent - 1)


def cells_of(text: str, schema: Schema) -> list[str]:
    """The cells of a row, as many as there are columns."""
    cells = split_cells(text)
    if len(cells) != len(schema):
        names = ", ".join(field.short_name for field in schema)
        msg = f"{_count(cells, 'value')}, expected {len(schema)}: {names}"
        raise DataError(msg)
    return cells


def _count(things: Sequence[object], noun: str) -> str:
    return f"{len(things)} {noun}" if len(things) == 1 else f"{len(things)} {noun}s"


def read_row(text: str, schema: Schema, day: str | None = None) -> Row:
    """A row of input."""
    cells = zip(cells_of(text, schema), schema.types, strict=True)
    return tuple(read_cell(cell, type_, day) for cell, type_ in cells)


def expected_row(text: str, schema: Schema, day: str | None = None) -> ExpectedRow:
    """A row of an expectation."""
    cells = zip(cells_of(text, schema), schema.types, strict=True)
    return ExpectedRow(tuple(expected_cell(cell, type_, day) for cell, type_ in cells))


def print_instant(instant: int, unit: TimeUnit, day: str | None = None) -> str:
    """An instant as written behind an `@`."""
    text = unit.format(instant)
    return text.removeprefix(f"{day} ") if day and unit is TimeUnit.TIMESTAMP else text
