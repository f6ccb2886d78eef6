"""How the tables of function results are written: plain Python values with their types."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Column, Expression, Literal, Value
from penstock.algebra.failures import Failures
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.algebra.values import parse_date, parse_timestamp
from penstock.catalog.functions import resolve_call
from penstock.reference.expressions import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

Plain = Value | Literal
FAILS = Literal("fails", STRING)
"""The expected result of a row that gives NULL and is counted as a failure."""

MIN_INT, MAX_INT = -(2**31), 2**31 - 1
MIN_BIGINT, MAX_BIGINT = -(2**63), 2**63 - 1
INF, NAN = float("inf"), float("nan")


def big(value: int) -> Literal:
    return Literal(value, BIGINT)


def day(text: str) -> Literal:
    return Literal(parse_date(text), DATE)


def at(text: str) -> Literal:
    return Literal(parse_timestamp(text), TIMESTAMP)


def null(type_: Type) -> Literal:
    return Literal(None, type_)


def dec(text: str, precision: int | None = None) -> Literal:
    """A DECIMAL with just the digits that are written, or with a precision given."""
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    scale = -int(exponent)
    return Literal(value, decimal(precision or max(len(digits), scale), scale))


def literal(value: Plain) -> Literal:
    """A plain value with the type it is usually of."""
    if isinstance(value, Literal):
        return value
    if isinstance(value, Decimal):
        return dec(str(value))
    types = {bool: BOOLEAN, int: INT, float: DOUBLE, str: STRING, type(None): STRING}
    return Literal(value, types[type(value)])


AN_ERROR = "an error even without ANSI"
REFUSES = "does not take arguments of these types"
TOO_LONG = "makes a text of gigabytes"
"""Notes on rows that Spark cannot compute together with the others."""


@dataclass(frozen=True)
class Row:
    """A call with its result; `spark` says in which way Spark's answer is another one."""

    args: tuple[Plain, ...]
    expected: Plain
    spark: str = ""


def row(*parts: Plain, spark: str = "") -> Row:
    """The arguments, and the result at the end."""
    return Row(parts[:-1], parts[-1], spark)


Table = dict[str, list[Row]]


class Constant(Literal):
    """An argument that has to be a literal in this row."""


def const(value: Value) -> Constant:
    plain = literal(value)
    return Constant(plain.value, plain.of)


CONSTANT = {("round", 1), ("date_trunc", 0), ("trunc", 1), ("date_format", 1), ("like", 2)}
"""Arguments that always have to be literals, by function and index."""


def is_constant(function: str, index: int, arg: Literal) -> bool:
    kept = isinstance(arg, Constant) or arg.type == INTERVAL
    return kept or (function, index) in CONSTANT


def as_columns(function: str, args: Sequence[Literal]) -> tuple[Expression, ...]:
    """The arguments as columns c0, c1, ..., where they need not be constants."""
    return tuple(
        arg if is_constant(function, index, arg) else Column(f"c{index}", arg.type)
        for index, arg in enumerate(args)
    )


def compute(function: str, args: Sequence[Literal]) -> tuple[Expression, Value, Failures]:
    """The call on columns holding the arguments: resolved, its value, its failures."""
    call = resolve_call(function, as_columns(function, args))
    failures = Failures()
    values = {f"c{index}": arg.value for index, arg in enumerate(args)}
    return call, evaluate(call, values, failures), failures
