"""Casts against their table, and which casts there are."""

from __future__ import annotations

import pytest

from penstock.algebra.expressions import NULL_LITERAL, Cast, Column, Literal
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
from penstock.catalog.functions import can_cast, coerce, resolve_cast
from penstock.errors import TypeMismatch
from penstock.reference.expressions import evaluate
from unit.functions.rows import Row, dec, literal
from unit.functions.table_casts import CASTS
from unit.test_functions import check, shown

ROWS = [(to, row) for to, rows in CASTS.items() for row in rows]
TYPES = (INT, BIGINT, DOUBLE, decimal(5, 2), STRING, BOOLEAN, DATE, TIMESTAMP)
REFUSED = (
    {(number, DATE) for number in TYPES[:4]}
    | {(DATE, number) for number in TYPES[:4]}
    | {(BOOLEAN, DATE), (BOOLEAN, TIMESTAMP), (DATE, BOOLEAN), (TIMESTAMP, BOOLEAN)}
)


@pytest.mark.parametrize(("to", "row"), ROWS, ids=shown)
def test_cast(to: Type, row: Row) -> None:
    arg = literal(row.args[0])
    call = resolve_cast(Column("c", arg.type), to)
    failures = Failures()
    check(evaluate(call, {"c": arg.value}, failures), call.type, failures, literal(row.expected))
    assert set(failures.by_function) <= {"cast"}


def test_every_pair_of_types_is_in_the_table_or_refused() -> None:
    shown_pairs = {
        (literal(row.args[0]).type.name, to.name)
        for to, row in ROWS
        if literal(row.args[0]).value is not None
    }
    for source in TYPES:
        for to in TYPES:
            assert can_cast(source, to) == ((source, to) not in REFUSED)
            if source != to and can_cast(source, to):
                assert (source.name, to.name) in shown_pairs


def test_a_cast_that_changes_nothing_is_no_cast() -> None:
    column = Column("c", INT)
    assert resolve_cast(column, INT) is column
    assert resolve_cast(NULL_LITERAL, DATE) == Literal(None, DATE)
    assert resolve_cast(Literal(1, INT), BIGINT) == Cast(Literal(1, INT), BIGINT)


@pytest.mark.parametrize(
    ("source", "to", "text"),
    [
        (BOOLEAN, DATE, "cannot cast a BOOLEAN to a DATE"),
        (DATE, INT, "cannot cast a DATE to an INT\n"
                    "  Write DATEDIFF(c, DATE '1970-01-01') for the number of its day."),
        (INT, DATE, "cannot cast an INT to a DATE\n  Write DATE_ADD(DATE '1970-01-01', c)."),
        (DOUBLE, DATE, "cannot cast a DOUBLE to a DATE"),
        (INTERVAL, STRING, "cannot cast an INTERVAL to a STRING"),
        (TIMESTAMP, BOOLEAN, "cannot cast a TIMESTAMP to a BOOLEAN"),
    ],
)  # fmt: skip
def test_refused_casts(source: Type, to: Type, text: str) -> None:
    with pytest.raises(TypeMismatch) as caught:
        resolve_cast(Column("c", source), to)
    assert str(caught.value) == text


def test_coerce_converts_literals_where_that_is_exact() -> None:
    assert coerce(Literal(2, INT), DOUBLE) == Literal(2.0, DOUBLE)
    assert coerce(Literal(2, INT), BIGINT) == Literal(2, BIGINT)
    assert str(coerce(Literal(2, INT), decimal(5, 2))) == "2.00"
    assert coerce(Literal(1, DATE), TIMESTAMP) == Literal(86_400_000_000, TIMESTAMP)
    assert coerce(Literal(2**60 + 1, BIGINT), DOUBLE) == Cast(Literal(2**60 + 1, BIGINT), DOUBLE)
    assert coerce(Literal(2**40, BIGINT), INT) == Cast(Literal(2**40, BIGINT), INT)
    assert str(coerce(dec("1.5"), decimal(5, 2))) == "1.50"
    assert str(coerce(dec("9" * 30), decimal(38, 8))) == "9" * 30 + "." + "0" * 8
    assert coerce(dec("1.55"), decimal(5, 1)) == Cast(dec("1.55"), decimal(5, 1))
    assert coerce(dec("1.5"), DOUBLE) == Literal(1.5, DOUBLE)
    assert coerce(Literal(100, INT), decimal(3, 2)) == Cast(Literal(100, INT), decimal(3, 2))
    assert coerce(Literal("2", STRING), INT) == Cast(Literal("2", STRING), INT)
    assert coerce(Literal(None, INT), STRING) == Literal(None, STRING)
