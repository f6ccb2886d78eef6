"""Constants as written to typed literals: numbers, lengths of time, dates."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from penstock.algebra.expressions import Literal
from penstock.algebra.time import UNEVEN_UNITS, micros_of, unit_name
from penstock.algebra.types import (
    BIGINT,
    DATE,
    DOUBLE,
    INT,
    INTERVAL,
    MAX_PRECISION,
    decimal,
)
from penstock.algebra.values import INTEGER_RANGE, parse_date, parse_timestamp
from penstock.binder.types import type_of
from penstock.cql.syntax import span_of
from penstock.errors import Refused, TypeMismatch

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression


def number_literal(text: str) -> Literal:
    """INT, BIGINT or DECIMAL by size, DOUBLE with an exponent, as in Spark."""
    if "e" in text.lower():
        return Literal(_double(text), DOUBLE)
    digits = text.lstrip("-").replace(".", "").lstrip("0")
    scale = len(text.partition(".")[2])
    if "." not in text and len(digits) <= MAX_PRECISION:
        for type_ in (INT, BIGINT):
            low, high = INTEGER_RANGE[type_.name]
            if low <= int(text) <= high:
                return Literal(int(text), type_)
    if max(len(digits), scale) > MAX_PRECISION:
        msg = f"the number {text} has more than {MAX_PRECISION} digits"
        raise TypeMismatch(msg, hint="Write it with an exponent to make it a DOUBLE.")
    return Literal(Decimal(text), decimal(max(len(digits), scale, 1), scale))


def _double(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        msg = f"{text} is not a number"
        raise TypeMismatch(msg, hint="An exponent has digits: 1.5e3.") from None
    if math.isinf(value):
        msg = f"{text} is beyond what a DOUBLE holds"
        raise TypeMismatch(msg)
    return value


def interval_sum(left: Expression, right: Expression, sign: int) -> Literal:
    """Two lengths of time, added or subtracted."""
    assert isinstance(left, Literal)
    assert isinstance(right, Literal)
    assert isinstance(left.value, int)
    assert isinstance(right.value, int)
    return Literal(left.value + sign * right.value, INTERVAL)


def interval_literal(node: exp.Expr) -> Literal:
    """INTERVAL 5 SECONDS, in microseconds.

    Raises:
        Refused: A unit without a fixed length, or none.
        TypeMismatch: Not a number.
    """
    unit = unit_name(node.args["unit"].name) if node.args.get("unit") else None
    if unit is None or unit in UNEVEN_UNITS:
        msg = "an INTERVAL here has a fixed length"
        raise Refused(msg, hint="Write days or less, or use ADD_MONTHS(date, n).")
    try:
        micros = int(micros_of(Decimal(_count_text(node.this)), unit))
    except (ArithmeticError, AttributeError, ValueError):
        msg = "an INTERVAL takes a number and a unit"
        raise TypeMismatch(msg, hint="For example INTERVAL 5 SECONDS.") from None
    return Literal(micros, INTERVAL)


def _count_text(node: exp.Expr) -> str:
    """The number of an INTERVAL as written, with its sign."""
    if isinstance(node, exp.Neg):
        return f"-{_count_text(node.this)}"
    if not isinstance(node, exp.Literal):
        msg = "not a number"
        raise ValueError(msg)
    return node.name


def date_literal(node: exp.Expr) -> Literal:
    """DATE '...' and TIMESTAMP '...': a text that is none is a mistake, not a NULL.

    Raises:
        TypeMismatch: The text is not a date, or not a date and time.
    """
    target = type_of(node.args["to"], None)
    read = parse_date if target == DATE else parse_timestamp
    try:
        return Literal(read(node.this.name), target)
    except ValueError:
        msg = f"'{node.this.name}' is not a {target}"
        hint = f"For example {target} '2024-01-31{'' if target == DATE else ' 12:00:00'}'."
        raise TypeMismatch(msg, hint=hint, at=span_of(node.this)) from None
