"""The earliest event time in a file, for the order in which files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import Schema
from penstock.connectors.connector_list import source_format
from penstock.connectors.file_content import BrokenFileError
from penstock.errors import DataError
from penstock.runtime.arriving_columns import read_columns

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.catalog.definitions import StreamDefinition


def earliest_row(definition: StreamDefinition, path: Path) -> int:
    """The earliest event time in a file; INFINITY if there is none, BEGINNING if nobody knows."""
    read = source_format(definition.format).read
    assert read is not None
    (field,) = (one for one in definition.schema if one.name == definition.time_column)
    schema, source = Schema((field,)), f'stream "{definition.name}"'
    try:
        content = read(source, path, schema, definition.options)
        if field.name not in content.columns:
            return BEGINNING
        table = pa.table({field.name: content.columns[field.name]})
        (times,) = read_columns(source, schema, table)
    except (BrokenFileError, DataError):
        return BEGINNING
    least = pc.min(times if pa.types.is_integer(times.type) else times.cast(pa.int64()))
    return INFINITY if least.as_py() is None else int(least.as_py())
