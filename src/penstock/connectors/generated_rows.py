"""Rows that are made up: the row of a number is always the same, whoever makes it and when.

What is drawn for a row is a hash of the seed, the column and the number of the row. So any task can
make any rows, and after a restart those that follow are the ones that would have followed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    to_arrow,
)
from penstock.connectors.generate_options import BEGIN, generate_options

if TYPE_CHECKING:
    from fractions import Fraction

    from penstock.algebra.types import Field
    from penstock.catalog.definitions import StreamDefinition
    from penstock.connectors.generate_options import ColumnOptions
    from penstock.state.arrays import Ints, Words

FEW_VALUES = 1000
"""So many different values a column has, unless it is said otherwise."""
DAYS = 366
"""So many different dates."""
_SECOND = 1_000_000
_FIRST_DAY = BEGIN // (86_400 * _SECOND)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Generator:
    """The rows of a stream, by their numbers from 0 on.

    Raises:
        QueryError: An option is at fault.
    """

    def __init__(self, definition: StreamDefinition) -> None:
        self.options = generate_options(definition)
        self._definition = definition

    def due(self, seconds: float) -> int:
        """The number of rows that have come after so many seconds."""
        count = int(seconds * self.options.per_second)
        return count if self.options.rows is None else min(count, self.options.rows)

    def rows(self, start: int, stop: int) -> dict[str, pa.Array]:
        """The declared columns of the rows from one number to before another."""
        numbers = np.arange(start, stop, dtype=np.int64)
        return {
            field.name: self._event_times(numbers, field)
            if field.name == self._definition.time_column
            else self._values(numbers, place, field)
            for place, field in enumerate(self._definition.schema)
        }

    def _event_times(self, numbers: Ints, field: Field) -> pa.Array:
        options = self.options
        times = options.first + _scaled(numbers, options.step)
        if options.disorder:
            back = _drawn(options.seed, -1, numbers) % np.uint64(options.disorder + 1)
            times -= back.astype(np.int64)
        return _instants(times, field)

    def _values(self, numbers: Ints, place: int, field: Field) -> pa.Array:
        options = self.options.columns[place]
        drawn = _drawn(self.options.seed, 2 * place, numbers)
        values = _column(field, options, drawn)
        if not options.nulls:
            return values
        is_null = _share(_drawn(self.options.seed, 2 * place + 1, numbers)) < options.nulls
        return pc.if_else(pa.array(is_null), pa.scalar(None, values.type), values)


def _column(field: Field, options: ColumnOptions, drawn: Words) -> pa.Array:
    """The values of a column, for what was drawn."""
    type_ = field.type
    if type_ == DOUBLE:
        return pa.array(options.least + _share(drawn) * (options.most - options.least))
    if type_ == BOOLEAN:
        return pa.array(_index(drawn, 2, options.skew) == 0)
    if type_.is_decimal:
        index = _index(
            drawn, min(options.different or FEW_VALUES, 10**type_.precision), options.skew
        )
        # The digits of a DECIMAL are a number of 128 bits.
        digits = np.column_stack([index, np.zeros_like(index)])
        buffers = [None, pa.py_buffer(np.ascontiguousarray(digits))]
        return pa.Array.from_buffers(to_arrow(type_), len(index), buffers)
    if type_ == DATE:
        index = _index(drawn, options.different or DAYS, options.skew)
        return pa.array((_FIRST_DAY + index).astype(np.int32)).cast(pa.date32())
    index = _index(drawn, options.different or FEW_VALUES, options.skew)
    if type_ == TIMESTAMP:
        return pa.array(BEGIN + index * _SECOND).cast(pa.timestamp("us"))
    if type_ == STRING:
        return pc.binary_join_element_wise(field.name, pa.array(index).cast(pa.string()), "_")
    assert type_ in (INT, BIGINT)
    return pa.array(options.least + index).cast(to_arrow(type_))


def _instants(times: Ints, field: Field) -> pa.Array:
    """Event times in the type of their column."""
    if field.type == TIMESTAMP:
        return pa.array(times).cast(pa.timestamp("us"))
    return pa.array(times).cast(to_arrow(field.type))


def _scaled(numbers: Ints, step: Fraction) -> Ints:
    """Numbers times a fraction, rounded down, without a number in between that is too large."""
    whole, rest = np.divmod(numbers, step.denominator)
    return np.asarray(whole * step.numerator + rest * step.numerator // step.denominator)


def _drawn(seed: int, what: int, numbers: Ints) -> Words:
    """A word for each row, by SplitMix64; `what` tells the uses of a row from each other."""
    key = np.uint64((seed * 0x5851F42D4C957F2D + (what + 2) * 0x14057B7EF767814F) % 2**64)
    with np.errstate(over="ignore"):
        word = _mixed(key) + (numbers.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        return np.asarray(_mixed(word))


def _mixed(word: Words | np.uint64) -> Words:
    with np.errstate(over="ignore"):
        first = (word ^ (word >> np.uint64(30))) * _MIX[0]
        second = (first ^ (first >> np.uint64(27))) * _MIX[1]
        return np.asarray(second ^ (second >> np.uint64(31)))


def _share(drawn: Words) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Words as fractions from 0 to before 1."""
    return np.asarray((drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _index(drawn: Words, values: int, skew: float) -> Ints:
    """The number of the value that was drawn; with a skew, small ones are more frequent."""
    if not skew:
        return np.asarray((drawn % np.uint64(values)).astype(np.int64))
    found = np.searchsorted(_zipf(values, skew), _share(drawn), side="right")
    return np.minimum(found, values - 1).astype(np.int64)


@lru_cache(maxsize=16)
def _zipf(values: int, skew: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The share of draws that give one of the first values, for each: Zipf's law."""
    weights = np.arange(1, values + 1, dtype=np.float64) ** -skew
    total = np.cumsum(weights)
    return np.asarray(total / total[-1])
