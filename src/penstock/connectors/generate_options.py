"""The options of a stream that is generated: of all its rows, and of each column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP
from penstock.algebra.values import parse_timestamp
from penstock.catalog.definitions import StreamDefinition
from penstock.catalog.durations import seconds_of
from penstock.errors import QueryError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.types import Field, Type
    from penstock.catalog.definitions import RelationDefinition

OF_STREAM = ("rows_per_second", "rows_per_tick", "rows", "start", "disorder", "seed")
OF_COLUMN = ("different", "skew", "nulls", "min", "max")
OTHERS = ("time_unit", "idle_timeout", "utility", "weight")
"""Options that any stream has."""
BEGIN = 1_704_067_200_000_000
"""2024-01-01 in microseconds: the event time of the first row, unless another one is given."""
MOST_VALUES = 10_000_000
"""A column has no more different values, if some are more frequent than others."""
MOST_SKEW = 10.0
MOST_INT, MOST_BIGINT = 2**31 - 1, 2**62


@dataclass(frozen=True)
class ColumnOptions:
    """The way in which the values of a column are drawn.

    Attributes:
        different: How many different values there are; None: as many as usual for the type.
        skew: The exponent of Zipf's law; 0: all are equally frequent.
        nulls: The share of NULL.
        least: The least value.
        most: The most, of a column of fractions.
    """

    different: int | None
    skew: float
    nulls: float
    least: int
    most: int


@dataclass(frozen=True)
class GenerateOptions:
    """The way in which the rows of a stream are made up.

    Attributes:
        per_second: The rows that come in a second.
        rows: How many there are; None: there is no end.
        first: The event time of the first row.
        step: What a row adds to the event time, in the steps of the stream's time.
        disorder: By how much a row may be earlier than its turn, at the most.
        seed: What the rows depend on besides their number.
        columns: How each column is drawn.
    """

    per_second: Fraction
    rows: int | None
    first: int
    step: Fraction
    disorder: int
    seed: int
    columns: tuple[ColumnOptions, ...]


def generate_options(definition: StreamDefinition | RelationDefinition) -> GenerateOptions:
    """The options of a stream that is generated.

    Raises:
        QueryError: One is none, or has a value without meaning; or it is a relation.
    """
    return _Reading(definition).options()


class _Reading:
    """The options of a declaration, one after the other."""

    def __init__(self, definition: StreamDefinition | RelationDefinition) -> None:
        if not isinstance(definition, StreamDefinition):
            msg = f'relation "{definition.name}": only streams are generated'
            raise QueryError(msg, hint="A relation may be read from a file, or be changed by rows.")
        self._stream = definition
        self._columns = {one.name.lower(): one for one in definition.schema}
        self._given: Mapping[str, str] = {
            key.lower(): value for key, value in definition.options.items()
        }

    def options(self) -> GenerateOptions:
        """All of them."""
        for key in self._given:
            self._require_known(key)
        unit = self._stream.unit
        per_second = self._fraction("rows_per_second", "1000")
        if unit.micros is None:
            step = 1 / self._fraction("rows_per_tick", "1")
            disorder = self._whole("disorder", "0", 0)
        else:
            step = Fraction(1_000_000, unit.micros) / per_second
            given = self._given.get("disorder", "0 seconds")
            disorder = int(seconds_of("disorder", given) * 1_000_000) // unit.micros
        return GenerateOptions(
            per_second,
            self._whole("rows", "1", 1) if "rows" in self._given else None,
            self._first(),
            step,
            disorder,
            self._whole("seed", "0", 0),
            tuple(self._column(one) for one in self._stream.schema),
        )

    def _named(self, key: str) -> str:
        return f'stream "{self._stream.name}": {key}'

    def _refuse(self, key: str, wanted: str) -> NoReturn:
        msg = f"{self._named(key)} is '{self._given[key]}', not {wanted}"
        raise QueryError(msg)

    def _require_known(self, key: str) -> None:
        column, _, rest = key.rpartition(".")
        is_tick = self._stream.unit.micros is None
        known = [one for one in (*OF_STREAM, *OTHERS) if one != "rows_per_tick" or is_tick]
        time = self._stream.time_column.lower()
        allowed = {name: _allowed(one.type) for name, one in self._columns.items() if name != time}
        known += [f"{name}.{one}" for name, options in allowed.items() for one in options]
        if key in known:
            return
        msg = self._named(f'there is no option "{key}" for rows that are generated')
        otherwise = f"Options: {', '.join(OF_STREAM)}; of a column: {', '.join(OF_COLUMN)}."
        if column in allowed and rest in OF_COLUMN:
            kind = self._columns[column].type
            otherwise = f"A column of type {kind} has {', '.join(allowed[column])}."
            raise QueryError(msg, hint=otherwise)
        raise QueryError(msg, hint=did_you_mean(key, known, otherwise=otherwise))

    def _column(self, field: Field) -> ColumnOptions:
        name = field.name.lower()
        skew = self._number(f"{name}.skew", "0", MOST_SKEW)
        values = (
            self._whole(f"{name}.different", "1", 1) if f"{name}.different" in self._given else None
        )
        if skew and values is not None and values > MOST_VALUES:
            self._refuse(f"{name}.different", f"at most {MOST_VALUES:,} where there is a skew")
        least = self._whole(f"{name}.min", "0", None)
        most = self._whole(f"{name}.max", str(least + 1), None)
        if most <= least:
            self._refuse(f"{name}.max", f"above {least}, the min")
        room = MOST_INT if field.type == INT else MOST_BIGINT
        if field.type.is_integer and not -room <= least <= room - (values or 0):
            key = f"{name}.min" if f"{name}.min" in self._given else f"{name}.different"
            self._refuse(key, f"one that {field.type} has room for")
        return ColumnOptions(values, skew, self._number(f"{name}.nulls", "0", 1.0), least, most)

    def _first(self) -> int:
        unit, text = self._stream.unit, self._given.get("start")
        if text is None:
            return 0 if unit.micros is None else BEGIN // unit.micros
        try:
            if unit.micros is None or text.strip().lstrip("-").isdigit():
                first = int(text)
            else:
                first = parse_timestamp(text) // unit.micros
        except ValueError:
            self._refuse("start", "an instant of this stream")
        if not BEGINNING // 2 < first < INFINITY // 2:
            self._refuse("start", "an instant that rows can follow")
        return first

    def _whole(self, key: str, otherwise: str, least: int | None) -> int:
        text = self._given.get(key, otherwise).strip().replace("_", "")
        digits = text if least is not None else text.removeprefix("-")
        wanted = "a whole number" if least is None else f"a whole number from {least} on"
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 18):
            self._refuse(key, wanted)
        if least is not None and int(text) < least:
            self._refuse(key, wanted)
        return int(text)

    def _fraction(self, key: str, otherwise: str) -> Fraction:
        text = self._given.get(key, otherwise).strip().replace("_", "")
        digits = text.replace(".", "", 1)
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= 12
        if not is_number or Fraction(text) <= 0:
            self._refuse(key, "a number above 0")
        return Fraction(text)

    def _number(self, key: str, otherwise: str, most: float) -> float:
        text = self._given.get(key, otherwise).strip()
        digits = text.replace(".", "", 1)
        if not (digits.isascii() and digits.isdigit()) or float(text) > most:
            self._refuse(key, f"a number from 0 to {most:g}")
        return float(text)


def _allowed(type_: Type) -> tuple[str, ...]:
    """The options of a column of a type."""
    if type_ == DOUBLE:
        return ("min", "max", "nulls")
    if type_ in (INT, BIGINT):
        return ("min", "different", "skew", "nulls")
    if type_ in (STRING, DATE, TIMESTAMP) or type_.is_decimal:
        return ("different", "skew", "nulls")
    assert type_ == BOOLEAN
    return ("skew", "nulls")
