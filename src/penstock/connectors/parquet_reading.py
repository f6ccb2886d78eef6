"""Parquet files as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.algebra.types import TIMESTAMP
from penstock.connectors.file_content import BrokenFileError, FileContent
from penstock.connectors.file_texts import EXPONENT, TIME_UNIT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from penstock.algebra.types import Schema


def read_parquet(
    source: str, path: Path, schema: Schema, options: Mapping[str, str]
) -> FileContent:
    """The declared columns that a Parquet file has.

    Raises:
        BrokenFileError: It is none, or not yet.
    """
    return read_row_groups(source, path, schema, options, None)


def read_row_groups(
    source: str, path: Path, schema: Schema, options: Mapping[str, str], groups: range | None
) -> FileContent:
    """The same of some of its groups of rows; None: of all.

    Raises:
        BrokenFileError: It is no Parquet file, or not yet.
    """
    try:
        # Threads would take the cores of other tasks.
        with pq.ParquetFile(path, memory_map=True, coerce_int96_timestamp_unit="us") as file:
            spelled = _spelled(file.schema_arrow.names, schema)
            wanted = list(spelled.values())
            if groups is None:
                first, table = 0, file.read(columns=wanted, use_threads=False)
            else:
                first = sum(_group_rows(file.metadata)[: groups.start])
                table = file.read_row_groups(list(groups), columns=wanted, use_threads=False)
    except (pa.ArrowException, OSError) as fault:
        if isinstance(fault, OSError) and fault.errno is not None:
            # The disk's, not the file's: it may pass.
            raise
        msg = f"{source}, file {path} cannot be read as Parquet: {str(fault).splitlines()[0]}"
        raise BrokenFileError(msg) from fault
    columns = {one.name: table[spelled[one.name]] for one in schema if one.name in spelled}
    unit = {key.lower(): one for key, one in options.items()}.get(TIME_UNIT, "").lower()
    if unit in EXPONENT:
        timed = {one.name for one in schema if one.type == TIMESTAMP}
        columns |= {one: _times(columns[one], unit) for one in timed & columns.keys()}
    return FileContent(columns, len(table), place_of=lambda row: f"row {first + row + 1}")


def row_groups(path: Path) -> list[int]:
    """The rows of each group of rows in a file; none, if it is not, or not yet, a Parquet file."""
    try:
        return _group_rows(pq.read_metadata(path))
    except (pa.ArrowException, OSError):
        return []


def _group_rows(metadata: pq.FileMetaData) -> list[int]:
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def _times(column: pa.ChunkedArray, unit: str) -> pa.ChunkedArray:
    """Numbers as times since 1970; what has another type stays as it is."""
    if not pa.types.is_integer(column.type):
        return column
    return column.cast(pa.int64()).cast(pa.timestamp(unit)).cast(pa.timestamp("us"))


def _spelled(there: Sequence[str], schema: Schema) -> dict[str, str]:
    """The spelling of each column that a file has; letters may differ in their case."""
    by_case = {name.lower(): name for name in there} | {name: name for name in there}
    spelled = {one: by_case.get(one, by_case.get(one.lower())) for one in schema.names}
    return {one: name for one, name in spelled.items() if name is not None}
