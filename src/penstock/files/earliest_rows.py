"""The earliest event time in a file, for the order in which files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.types import Schema
from penstock.connectors.connector_list import source_format
from penstock.connectors.file_content import BrokenFileError
from penstock.errors import DataError
from penstock.runtime.arriving_columns import read_columns

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.catalog.definitions import StreamDefinition
    from penstock.state.arrays import Ints


def earliest_row(definition: StreamDefinition, path: Path) -> int:
    """The earliest event time in a file; INFINITY if there is none, BEGINNING if nobody knows."""
    try:
        times = event_times(definition, path)
    except (BrokenFileError, DataError):
        return BEGINNING
    return int(times.min()) if len(times) else INFINITY


def event_times(definition: StreamDefinition, path: Path) -> Ints:
    """The event times in a file, but those that are NULL.

    Raises:
        BrokenFileError: It is not of its format.
        DataError: It does not have the column, or not as it is declared.
    """
    read = source_format(definition.format).read
    assert read is not None
    (field,) = (one for one in definition.schema if one.name == definition.time_column)
    schema, source = Schema((field,)), f'stream "{definition.name}"'
    content = read(source, path, schema, definition.options)
    if field.name not in content.columns:
        msg = f'{source}: {path} has no column "{field.name}"'
        raise DataError(msg)
    table = pa.table({field.name: content.columns[field.name]})
    (times,) = read_columns(source, schema, table)
    steps = times if pa.types.is_integer(times.type) else times.cast(pa.int64())
    found: Ints = steps.cast(pa.int64()).drop_null().to_numpy(zero_copy_only=False)
    return found
