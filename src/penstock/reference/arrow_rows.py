"""Rows of the reference evaluator as Arrow: days and microseconds, which it counts, get types."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.types import to_arrow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.types import Schema, Type
    from penstock.reference.timeline import Row


def arrow_columns(schema: Schema, rows: Sequence[Row]) -> tuple[pa.Array, ...]:
    """The columns of rows."""
    return tuple(column_of([row[n] for row in rows], one.type) for n, one in enumerate(schema))


def stream_table(schema: Schema, rows: Sequence[Row]) -> pa.Table:
    """Rows as a table."""
    return pa.table(list(arrow_columns(schema, rows)), names=list(schema.names))


def column_of(values: Sequence[object], type_: Type) -> pa.Array:
    """Values of one column."""
    wanted = to_arrow(type_)
    if pa.types.is_date(wanted):
        return pa.array(values, pa.int32()).cast(wanted)
    if pa.types.is_timestamp(wanted):
        return pa.array(values, pa.int64()).cast(wanted)
    return pa.array(values, wanted)
