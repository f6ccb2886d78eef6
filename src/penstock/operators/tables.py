"""Saved state read back: the columns of a table as whole arrays."""

from __future__ import annotations

import pyarrow as pa


def arrays_of(table: pa.Table) -> list[pa.Array]:
    """The columns of a table, each as one array."""
    return [_one_array(column) for column in table.columns]


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
