"""Results as the tables that people work with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import pyarrow as pa

from penstock.errors import QueryError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Format = Literal["arrow", "pandas", "polars", "spark"]
"""Which library a table is for."""


def converted(table: pa.Table, wanted: Format, spark: SparkSession) -> Any:
    """A table for a library.

    Raises:
        QueryError: There is no such format.
    """
    match wanted:
        case "arrow":
            return table
        case "pandas":
            return table.to_pandas()
        case "polars":
            # Here, because few need it.
            import polars

            return polars.from_arrow(table)
        case "spark":
            return spark.createDataFrame(with_zone(table))
    known = get_args(Format)
    msg = f'there is no format called "{wanted}"'
    hint = did_you_mean(str(wanted), known, otherwise=f"Formats: {', '.join(known)}.")
    raise QueryError(msg, hint=hint)


def with_zone(table: pa.Table) -> pa.Table:
    """Times as instants of UTC.

    Without a zone, Spark takes them for local times of whoever looks, or for a type of their own
    (TIMESTAMP_NTZ) if they are in a Parquet file.
    """
    schema = pa.schema(
        [
            field.with_type(pa.timestamp("us", "UTC"))
            if pa.types.is_timestamp(field.type)
            else field
            for field in table.schema
        ]
    )
    return table.cast(schema)
