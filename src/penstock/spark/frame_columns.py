"""The columns of DataFrames and tables: as a declaration says them, and as declared ones.

Whatever a declared column can hold is taken, as from files: a narrower number, another unit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Type,
    decimal,
)
from penstock.connectors.connector import IN_UTC
from penstock.errors import DataError, QueryError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType

    from penstock.algebra.types import Schema

TYPES: dict[str, Type] = {
    "boolean": BOOLEAN,
    "tinyint": INT,
    "smallint": INT,
    "int": INT,
    "bigint": BIGINT,
    "float": DOUBLE,
    "double": DOUBLE,
    "string": STRING,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "timestamp_ntz": TIMESTAMP,
}
"""Types of Spark's that a column may have, and what it is declared as."""


def columns_text(source: str, frame: DataFrame) -> str:
    """The columns of a DataFrame as a declaration has them.

    Raises:
        QueryError: A column has a type that there is none for.
    """
    columns = []
    for field in frame.schema:
        type_ = _type_of(field.dataType)
        if type_ is None:
            msg = (
                f'{source}: column "{field.name}" of the DataFrame is'
                f" {field.dataType.simpleString().upper()}, which no column can be"
            )
            hint = "Leave it out, cast it, or take its parts out with select()."
            raise QueryError(msg, hint=hint)
        columns.append(f"{quoted(field.name)} {type_}")
    return ", ".join(columns)


def declared_columns(source: str, schema: Schema, frame: DataFrame) -> DataFrame:
    """A DataFrame with the declared columns in the declared types, and no others.

    Raises:
        DataError: A column is missing, there twice, or of a type that the declared one cannot hold.
    """
    return frame.select(*(_column(source, frame, one.name, one.type) for one in schema))


def quoted(name: str) -> str:
    """A name as statements have it, whatever is in it."""
    return f"`{name.replace('`', '``')}`"


def _column(source: str, frame: DataFrame, name: str, declared: Type) -> SparkColumn:
    found = [one for one in frame.schema if one.name.lower() == name.lower()]
    if len(found) != 1:
        many = "no column" if not found else f"{len(found)} columns called"
        msg = f'{source}: the DataFrame has {many} "{name}"'
        otherwise = f"Columns there: {', '.join(frame.columns) or 'none'}."
        hint = None if found else did_you_mean(name, frame.columns, otherwise=otherwise)
        raise DataError(msg, hint=hint)
    type_ = _type_of(found[0].dataType)
    if type_ is None or not _holds(declared, type_):
        there = found[0].dataType.simpleString().upper()
        msg = f'{source}: column "{name}" is declared {declared}, but the DataFrame has {there}'
        raise DataError(msg, hint="Declare the column with the type that comes, or cast it.")
    column = frame[quoted(found[0].name)]
    if found[0].dataType.simpleString() == "timestamp_ntz":
        return _in_utc(column).alias(name)
    return (column if type_ == declared else column.cast(str(declared).lower())).alias(name)


def _in_utc(column: SparkColumn) -> SparkColumn:
    """A time without a zone as the instant that it is in UTC, whatever zone the session has."""
    from pyspark.sql import functions as F

    zone = F.lit(f" {IN_UTC['timeZone']}")
    return F.to_timestamp(F.concat(column.cast("string"), zone))


def _type_of(type_: DataType) -> Type | None:
    """The declared type of a column; None if there is none for it."""
    from pyspark.sql.types import CharType, DecimalType, StringType, VarcharType

    if isinstance(type_, DecimalType):
        return decimal(type_.precision, type_.scale)
    if isinstance(type_, StringType | VarcharType | CharType):
        return STRING
    return TYPES.get(type_.simpleString())


def _holds(declared: Type, found: Type) -> bool:
    """Whatever a column has fits into the declared type."""
    if declared == found:
        return True
    if declared == DOUBLE:
        return found.is_numeric
    if declared == BIGINT:
        return found == INT
    if declared.is_decimal and found.is_numeric and found != DOUBLE:
        digits = {INT: 10, BIGINT: 19}.get(found, found.precision - found.scale)
        return declared.precision - declared.scale >= digits and declared.scale >= found.scale
    return False
