"""Texts of files as the values of declared columns; those that are none are explained."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.failures import Failures
from penstock.algebra.types import DATE, STRING, TIMESTAMP, decimal, to_arrow
from penstock.compute.cast_texts import from_text
from penstock.connectors.time_layouts import layouts_that_read, strptime_layout
from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.algebra.types import Field, Schema, Type

TIME_UNIT, TIMESTAMP_FORMAT, DATE_FORMAT = "time_unit", "timestampformat", "dateformat"
"""Options, in lower case, that say how times are written."""
EXPONENT = {"s": 6, "ms": 3, "us": 0}
"""Decimal digits of a unit of epoch times, in microseconds."""
_NUMBER = r"\A\s*[+-]?[0-9]+(\.[0-9]*)?\s*\z"
_TIME = re.compile(r"[0-9]+(\.[0-9]*)?")
_EPOCH_DIGITS = {"s": (9, 10), "ms": (12, 13), "us": (15, 16)}
"""Digits of the numbers that are times of our days."""


@dataclass(frozen=True)
class TextReader:
    """Reads texts as values of declared types.

    Args:
        options: The options of the source, with keys in lower case.
    """

    options: Mapping[str, str]

    def column(self, type_: Type, texts: pa.Array) -> pa.Array:
        """Texts as values; what cannot be read becomes NULL."""
        if type_ == STRING:
            return texts
        if type_ == TIMESTAMP and self.options.get(TIME_UNIT, "").lower() in EXPONENT:
            return self._with_epochs(texts)
        return self._plain(type_, texts)

    def _plain(self, type_: Type, texts: pa.Array) -> pa.Array:
        pattern = self.options.get({TIMESTAMP: TIMESTAMP_FORMAT, DATE: DATE_FORMAT}.get(type_, ""))
        if pattern is not None:
            layout = strptime_layout(pattern)
            times = pc.strptime(texts, format=layout, unit="us", error_is_null=True)
            return times.cast(to_arrow(type_))
        return from_text(type_)(texts, Failures())

    def _with_epochs(self, texts: pa.Array) -> pa.Array:
        """Numbers are times since 1970, other texts are dates and times."""
        is_number = pc.match_substring_regex(texts, _NUMBER)
        others = pc.if_else(is_number, pa.scalar(None, pa.string()), texts)
        dates = self._plain(TIMESTAMP, others)
        exponent = EXPONENT[self.options[TIME_UNIT].lower()]
        digits = pc.if_else(is_number, texts, pa.scalar(None, pa.string()))
        # So many digits are microseconds of some 30,000 years.
        numbers = from_text(decimal(18, exponent))(digits, Failures())
        micros = pc.multiply(numbers, pa.scalar(10**exponent, pa.decimal128(7, 0)))
        epochs = micros.cast(pa.int64()).cast(pa.timestamp("us"))
        return pc.if_else(is_number, epochs, dates)

    def why_not(self, field: Field, text: str) -> str:
        """The reason why a text is no value of a column, and the option that would read it."""
        said = f'column "{field.name}": "{text}" is no {field.type}'
        option = self._option_for(field.type, text.strip())
        return f"{said}; OPTIONS ({option}) reads it" if option else said

    def _option_for(self, type_: Type, text: str) -> str | None:
        if type_ == TIMESTAMP and _TIME.fullmatch(text) and TIME_UNIT not in self.options:
            whole = text.partition(".")[0]
            fits = (unit for unit, digits in _EPOCH_DIGITS.items() if len(whole) in digits)
            unit = next(fits, None)
            if unit is not None:
                return f"time_unit '{unit}'"
        if type_ not in (TIMESTAMP, DATE):
            return None
        layouts = " or ".join(f"'{one}'" for one in layouts_that_read(text))
        name = "timestampFormat" if type_ == TIMESTAMP else "dateFormat"
        return f"{name} {layouts}" if layouts else None


@dataclass(frozen=True)
class ReadTexts:
    """Columns made of texts, and the rows in which one of them could not be read.

    Attributes:
        columns: The values, by declared name.
        bad: Numbers of the rows that cannot be read.
        why: Of each of these, why.
    """

    columns: dict[str, pa.Array]
    bad: np.ndarray[tuple[int], np.dtype[np.int64]]
    why: list[str]


def read_texts(reader: TextReader, schema: Schema, texts: Mapping[str, pa.Array]) -> ReadTexts:
    """The values of declared columns, of all rows."""
    columns: dict[str, pa.Array] = {}
    reasons: dict[int, str] = {}
    for field in schema:
        if field.name not in texts:
            continue
        given = texts[field.name]
        columns[field.name] = made = reader.column(field.type, given)
        if made.null_count > given.null_count:
            failed = pc.and_(pc.is_null(made), pc.is_valid(given))
            for row in np.flatnonzero(np.asarray(failed)).tolist():
                reasons.setdefault(row, reader.why_not(field, given[row].as_py()))
    bad = np.array(sorted(reasons), np.int64)
    return ReadTexts(columns, bad, [reasons[row] for row in bad.tolist()])


def without_rows(
    columns: Mapping[str, pa.Array], bad: np.ndarray[tuple[int], np.dtype[np.int64]], rows: int
) -> tuple[dict[str, pa.Array], Callable[[int], int]]:
    """Columns without some rows, and which row each of the others was."""
    if not len(bad):
        return dict(columns), lambda row: row
    left = np.setdiff1d(np.arange(rows), bad)
    chosen = pa.array(left)
    return {name: one.take(chosen) for name, one in columns.items()}, lambda row: int(left[row])


def refuse_options(source: str, options: Mapping[str, str]) -> None:
    """See that options have values that can be understood.

    Raises:
        DataError: One has not.
    """
    for name in (TIMESTAMP_FORMAT, DATE_FORMAT):
        if name in options and strptime_layout(options[name]) is None:
            msg = f"{source}: the pattern '{options[name]}' is not understood"
            hint = (
                "Letters are yyyy, MM, dd, HH, mm and ss; with reader 'spark' it may have others."
            )
            raise DataError(msg, hint=hint)
