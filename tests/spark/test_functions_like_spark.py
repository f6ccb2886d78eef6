"""The tables of function results, computed by Spark itself in two SELECTs.

A row of a table that says how Spark differs has to differ: no such note outlives its reason.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from penstock.algebra.expressions import INFIX, POSTFIX, Value
from penstock.algebra.types import BIGINT, DATE, DOUBLE, INTERVAL, STRING, TIMESTAMP, Type
from penstock.catalog.functions import resolve_call
from penstock.spark.spark_session import start_session
from unit.functions.rows import AN_ERROR, FAILS, REFUSES, TOO_LONG, Plain, Row, literal
from unit.functions.table_aggregates import AGGREGATES, Group
from unit.functions.table_casts import CASTS
from unit.functions.tables import TABLE
from unit.test_aggregates import resolved
from unit.test_functions import same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

Answers = dict[str, tuple[Any, str]]
"""Value and type by the text of the expression."""

HOUR = 3_600_000_000


def sql_of_value(value: Value, type_: Type) -> str:
    """A literal of Spark; texts in hexadecimal, so that nothing in them needs an escape."""
    if value is None:
        return f"CAST(NULL AS {type_})"
    if type_ == STRING:
        return f"CAST(unhex('{str(value).encode().hex()}') AS STRING)"
    if type_ == DATE:
        return f"date_from_unix_date({value})"
    if type_ == TIMESTAMP:
        return f"timestamp_micros({value}L)"
    if type_ == DOUBLE:
        finite = isinstance(value, float) and math.isfinite(value)
        return f"{value!r}D" if finite else f"double('{value!r}')"
    if type_ == INTERVAL:
        hours = int(str(value)) // HOUR
        return f"INTERVAL '{hours // 24}' DAY" if hours >= 24 else f"INTERVAL '{hours}' HOUR"
    return f"{value}{'BD' if type_.is_decimal else 'L' if type_ == BIGINT else ''}"


def sql_of(arg: Plain) -> str:
    return sql_of_value(literal(arg).value, literal(arg).type)


def sql_of_call(name: str, row: Row) -> str:
    args = [sql_of(arg) for arg in row.args]
    if name == "like" and len(args) == 3:
        return f"{args[0]} LIKE {args[1]} ESCAPE '{row.args[2]}'"
    if name in INFIX:
        return f"({args[0]}) {INFIX[name]} ({args[1]})"
    if name in POSTFIX:
        return f"({args[0]}) {POSTFIX[name]}"
    if name == "in":
        return f"({args[0]}) IN ({', '.join(args[1:])})"
    called = {"negate": "-", "not": "NOT "}.get(name, name)
    return f"{called}({', '.join(args)})"


def sql_of_aggregate(number: int, name: str, group: Group) -> str:
    """The aggregate over the rows that have the group's number in the table of all groups."""
    columns = [COLUMN_OF[type_] for type_ in group.types]
    constant = [] if group.constant is None else [repr(group.constant)]
    called = {"quantile": "percentile"}.get(name, name)
    distinct = "DISTINCT " if group.distinct else ""
    args = ", ".join([*columns, *constant]) or "*"
    return f"{called}({distinct}{args}) FILTER (WHERE number = {number})"


def sql_of_groups() -> str:
    """The rows of all groups in one table, with a column for every type."""
    rows = [
        [str(number), *(sql_of_value(values.get(type_), type_) for type_ in COLUMN_OF)]
        for number, (_, group) in enumerate(GROUPS)
        for values in (dict(zip(group.types, row, strict=True)) for row in group.rows)
    ]
    listed = ", ".join(f"({', '.join(row)})" for row in rows)
    return f"VALUES {listed} AS groups(number, {', '.join(COLUMN_OF.values())})"


GROUPS = [(name, group) for name, groups in AGGREGATES.items() for group in groups]
COLUMN_OF = {
    type_: f"x{number}"
    for number, type_ in enumerate(dict.fromkeys(t for _, g in GROUPS for t in g.types))
}
CALLS = [(sql_of_call(name, row), name, row) for name, rows in TABLE.items() for row in rows]
BATCHED = [call for call in CALLS if call[2].spark not in (AN_ERROR, REFUSES, TOO_LONG)]
ALONE = [text for text, _, row in CALLS if row.spark in (AN_ERROR, REFUSES)]
CAST_CALLS = [
    (f"TRY_CAST({sql_of(row.args[0])} AS {to})", row) for to, rows in CASTS.items() for row in rows
]
AGGREGATE_CALLS = [
    (sql_of_aggregate(number, name, group), name, group)
    for number, (name, group) in enumerate(GROUPS)
]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session in which overflow and bad input are not errors, as TRY_ functions have it."""
    settings = {"spark.sql.ansi.enabled": "false", "spark.sql.shuffle.partitions": "1"}
    session = start_session("functions", master="local[1]", settings=settings)
    yield session
    # Whoever starts Spark next in this process must not get this session.
    session.stop()


@pytest.fixture(scope="module")
def answers(spark: SparkSession) -> Answers:
    texts = [text for text, _, _ in BATCHED] + [text for text, _ in CAST_CALLS]
    return computed(spark, texts) | computed(
        spark, [text for text, _, _ in AGGREGATE_CALLS], sql_of_groups()
    )


def computed(spark: SparkSession, texts: list[str], table: str = "") -> Answers:
    types = [field.dataType.simpleString() for field in select(spark, texts, table).schema]
    numbers = [as_number(text, type_) for text, type_ in zip(texts, types, strict=True)]
    [values] = select(spark, numbers, table).collect()
    return dict(zip(texts, zip(values, types, strict=True), strict=True))


def select(spark: SparkSession, texts: list[str], table: str = "") -> DataFrame:
    columns = ", ".join(f"{text} AS c{number}" for number, text in enumerate(texts))
    return spark.sql(f"SELECT {columns}" + (f" FROM {table}" if table else ""))


def as_number(text: str, spark_type: str) -> str:
    """The expression, a time as the number that stands for it here."""
    inside = {"date": "unix_date", "timestamp": "unix_micros"}.get(spark_type)
    return f"{inside}({text})" if inside else text


def differences(answer: tuple[Any, str], expected: Plain, note: str) -> str:
    """What is wrong: the answer differs and no note says so, or a note says so and it does not."""
    ours = None if expected is FAILS else literal(expected).value
    agree = same(answer[0], ours)
    if agree and note:
        return f"Spark's answer is {answer[0]!r} too, and the table says: {note}"
    return "" if agree or note else f"Spark's answer is {answer[0]!r}, ours {ours!r}"


def test_calls(answers: Answers) -> None:
    wrong = [
        (text, found)
        for text, _, row in BATCHED
        if (found := differences(answers[text], row.expected, row.spark))
    ]
    assert wrong == []


def test_types_of_calls(answers: Answers) -> None:
    wrong = []
    for text, name, row in BATCHED:
        if "(" in row.args or row.spark == "gives an INTERVAL":
            continue
        ours = spelled(resolve_call(name, tuple(map(literal, row.args))).type)
        if ours != answers[text][1]:
            wrong.append((text, ours, answers[text][1]))
    assert wrong == []


def spelled(type_: Type) -> str:
    return str(type_).lower().replace(", ", ",")


def test_casts(answers: Answers) -> None:
    wrong = [
        (text, found)
        for text, row in CAST_CALLS
        if (found := differences(answers[text], row.expected, row.spark))
    ]
    assert wrong == []


def test_aggregates(answers: Answers) -> None:
    wrong = [
        (text, found)
        for text, _, group in AGGREGATE_CALLS
        if (found := differences(answers[text], group.expected, group.spark))
    ]
    assert wrong == []


def test_types_of_aggregates(answers: Answers) -> None:
    for text, name, group in AGGREGATE_CALLS:
        assert spelled(resolved(name, group).of) == answers[text][1], text


@pytest.mark.parametrize("text", ALONE, ids=range(len(ALONE)))
def test_what_spark_does_not_compute(spark: SparkSession, text: str) -> None:
    with pytest.raises(PySparkException):
        select(spark, [text]).collect()
