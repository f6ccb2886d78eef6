"""CAST to and from STRING: Arrow for the plain spellings, Python for all others."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import BOOLEAN, MAX_PRECISION, STRING, Type, to_arrow
from penstock.algebra.values import INTEGER_RANGE, format_value
from penstock.catalog.functions.time_text import date_in_text, timestamp_in_text
from penstock.catalog.functions.widening import DAY_MICROS
from penstock.compute.datum import (
    Truths,
    made_doubles,
    mended,
    numbers,
    truths,
    valid_in_all,
)
from penstock.compute.kernels import Failed
from penstock.compute.python_functions import per_distinct

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value
    from penstock.algebra.failures import Failures

Converter = Callable[[pa.Array, "Failures"], pa.Array]


# To texts


def to_text(source: Type) -> Converter:
    """Values as the texts that results show."""
    if source == BOOLEAN or source.is_integer:
        return lambda array, _: pc.cast(array, pa.string())
    spell = _SPELLED[source.name]

    def in_python(array: pa.Array, failures: Failures) -> pa.Array:
        return per_distinct(
            (array,), lambda value: format_value(value, source), STRING, "cast", failures
        )

    def convert(array: pa.Array, failures: Failures) -> pa.Array:
        texts, same = spell(array)
        return mended(texts, ~same, lambda some: in_python(some[0], failures), array)

    return convert


def _spelled_doubles(array: pa.Array) -> tuple[pa.Array, Truths]:
    """In this range Arrow writes the same digits as Python, but no point behind an integer."""
    values = numbers(array)
    size = np.abs(values)
    texts = pc.cast(array, pa.string())
    with np.errstate(invalid="ignore"):
        same: Truths = ((size >= 1e-4) & (size < 1e10)) | (values == 0)
        whole = pa.array(values == np.trunc(values))
    texts = pc.if_else(whole, pc.binary_join_element_wise(texts, ".0", ""), texts)
    return texts, same


def _spelled_decimals(array: pa.Array) -> tuple[pa.Array, Truths]:
    """Arrow takes to exponents where there are more than six zeros behind the point."""
    same = np.full(len(array), array.type.scale <= 6)
    return pc.cast(array, pa.string()), same


FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31, between which a time is written as a date."""


def _spelled_dates(array: pa.Array) -> tuple[pa.Array, Truths]:
    days = numbers(array)
    return pc.cast(array, pa.string()), (days >= FIRST_DAY) & (days <= LAST_DAY)


def _spelled_timestamps(array: pa.Array) -> tuple[pa.Array, Truths]:
    """Arrow writes six digits behind the second; ours end with the last that is not zero."""
    days = numbers(array) // DAY_MICROS
    texts = pc.ascii_rtrim(pc.cast(array, pa.string()), characters="0")
    return pc.ascii_rtrim(texts, characters="."), (days >= FIRST_DAY) & (days <= LAST_DAY)


_SPELLED: dict[str, Callable[[pa.Array], tuple[pa.Array, Truths]]] = {
    "DOUBLE": _spelled_doubles,
    "DECIMAL": _spelled_decimals,
    "DATE": _spelled_dates,
    "TIMESTAMP": _spelled_timestamps,
}


# From texts


def from_text(to: Type) -> Converter:
    """Texts as the values that they spell; others fail."""
    plain, read = _plain_spelling(to), _reader(to)
    type_ = to_arrow(to)

    def in_python(array: pa.Array, failures: Failures) -> pa.Array:
        return per_distinct((array,), read, to, "cast", failures)

    def convert(array: pa.Array, failures: Failures) -> pa.Array:
        if plain is None:
            return in_python(array, failures)
        is_plain = pc.match_substring_regex(array, pattern=plain)
        some = pc.if_else(is_plain, array, pa.scalar(None, pa.string()))
        try:
            values = pc.cast(some, type_)
        except pa.ArrowInvalid:  # a date that does not exist, in any row
            return in_python(array, failures)
        if pa.types.is_floating(type_):
            values = made_doubles(numbers(values), valid_in_all((values,)))
        others = ~truths(pc.fill_null(is_plain, True))
        return mended(values, others, lambda rest: in_python(rest[0], failures), array)

    return convert


def _plain_spelling(to: Type) -> str | None:
    """A regular expression of the texts that Arrow reads as we do, and that fit the type."""
    if to.is_decimal:
        return _plain_decimal(to)
    return {
        "INT": r"\A-?[0-9]{1,9}\z",
        "BIGINT": r"\A-?[0-9]{1,18}\z",
        "DOUBLE": r"\A-?[0-9]{1,15}(\.[0-9]{1,15})?\z",
        "DATE": r"\A[12][0-9]{3}-[0-9]{2}-[0-9]{2}\z",
        "TIMESTAMP": r"\A[12][0-9]{3}-[0-9]{2}-[0-9]{2}"
        r"[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?\z",
    }.get(to.name)


def _plain_decimal(to: Type) -> str | None:
    whole = to.precision - to.scale
    if whole == 0:
        return None
    fraction = rf"(\.[0-9]{{1,{to.scale}}})?" if to.scale else ""
    return rf"\A-?[0-9]{{1,{whole}}}{fraction}\z"


TRUE_TEXTS = ("t", "true", "y", "yes", "1")
FALSE_TEXTS = ("f", "false", "n", "no", "0")
LONGEST_INTEGER = 4000

_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,5})?", re.ASCII)
_SPECIAL = re.compile(r"nan|[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_DIGITS = Context(prec=MAX_PRECISION + 2)


def _reader(to: Type) -> Callable[[str], Value]:
    if to.is_decimal:
        return lambda text: _decimal(text.strip(), to)
    if to.is_integer:
        return lambda text: _integer(text.strip(), to)
    read = _READERS[to.name]

    def reader(text: str) -> Value:
        found = read(text.strip())
        if found is None:
            raise Failed
        return found

    return reader


def _boolean(text: str) -> bool | None:
    if text.lower() in TRUE_TEXTS:
        return True
    return False if text.lower() in FALSE_TEXTS else None


def _double(text: str) -> float | None:
    if not (_NUMBER.fullmatch(text) or _SPECIAL.fullmatch(text)):
        return None
    return float(text)


def _integer(text: str, to: Type) -> int:
    if not _INTEGER.fullmatch(text) or len(text) >= LONGEST_INTEGER:
        raise Failed
    low, high = INTEGER_RANGE[to.name]
    if not low <= int(text) <= high:
        raise Failed
    return int(text)


def _decimal(text: str, to: Type) -> Decimal:
    """Rounded from the exact number, of any length and exponent."""
    if not _NUMBER.fullmatch(text):
        raise Failed
    value, whole = Decimal(text), to.precision - to.scale
    # Only then is the rounded number short enough for the context.
    if value and value.adjusted() >= whole:
        raise Failed
    rounded = value.quantize(Decimal((0, (1,), -to.scale)), ROUND_HALF_UP, _DIGITS)
    if rounded and rounded.adjusted() >= whole:
        raise Failed
    return rounded


_READERS: dict[str, Callable[[str], Value]] = {
    "BOOLEAN": _boolean,
    "DOUBLE": _double,
    "DATE": date_in_text,
    "TIMESTAMP": timestamp_in_text,
}
