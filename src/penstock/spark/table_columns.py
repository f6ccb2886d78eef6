"""The columns of streams that are tables, filled in where a declaration leaves them out.

A home keeps statements that make the catalog without Spark, so they are written down with columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

from penstock.connectors.spark_tables import TABLE
from penstock.cql import syntax
from penstock.cql.dialect import parse_script
from penstock.errors import CqlSyntaxError, DataError
from penstock.spark.causes import cause_of
from penstock.spark.frame_columns import columns_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_table_columns(spark: SparkSession, text: str) -> str:
    """A script in which every `CREATE STREAM name (WATERMARK ...) FROM TABLE` has its columns.

    Raises:
        DataError: A table cannot be read.
        QueryError: A column of it has a type that there is none for.
    """
    if TABLE.name not in text.lower():
        return text
    try:
        parsed = parse_script(text)
    except CqlSyntaxError:
        return text  # Whoever runs it says what is wrong.
    for statement in reversed(parsed):
        if _lacks_columns(statement):
            place = text.index("(", statement.name.span.end) + 1
            text = f"{text[:place]}{_columns(spark, statement)}, {text[place:]}"
    return text


def _lacks_columns(statement: syntax.Statement) -> TypeGuard[syntax.CreateSource]:
    return (
        isinstance(statement, syntax.CreateSource)
        and statement.format == TABLE.name
        and not statement.columns
        and TABLE.name in statement.options
    )


def _columns(spark: SparkSession, statement: syntax.CreateSource) -> str:
    source, table = f'stream "{statement.name.text}"', statement.options[TABLE.name].text
    try:
        frame = spark.table(table)
    except Exception as fault:
        msg = f"{source}: table {table} cannot be read: {cause_of(fault).text}"
        raise DataError(msg, hint="See its name, or declare the columns.") from None
    return columns_text(source, frame)
