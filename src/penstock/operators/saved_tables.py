"""Saved state read back: the columns of a table as whole arrays."""

from __future__ import annotations

import pyarrow as pa

from penstock.state.arrays import joined


def arrays_of(table: pa.Table) -> list[pa.Array]:
    """The columns of a table, each as one array."""
    return [one_array(column) for column in table.columns]


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    found = column.combine_chunks()
    return joined(found.chunks) if isinstance(found, pa.ChunkedArray) else found
