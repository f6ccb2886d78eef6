"""Times as instants of UTC, for readers that would take them for local ones."""

from __future__ import annotations

import pyarrow as pa


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
