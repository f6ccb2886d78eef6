"""The rows of a file with all columns that are declared, those among them that folders say."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from penstock.algebra.types import to_arrow
from penstock.errors import DataError

if TYPE_CHECKING:
    from penstock.algebra.types import Field, Schema
    from penstock.connectors.file_content import FileContent

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder whose rows have NULL."""


def declared_table(source: str, content: FileContent, name: str, schema: Schema) -> pa.Table:
    """The columns of a file, by their declared names.

    Args:
        source: What errors call it.
        content: What was read.
        name: The name of the file within its folder, such as `day=2026-01-31/part-0.parquet`.
        schema: The declaration.

    Raises:
        DataError: A folder says what is no value of its column.
    """
    by_name = dict(content.columns)
    values = _values_of(name)
    for one in schema:
        if one.name.lower() in values:
            by_name[one.name] = _repeated(source, values[one.name.lower()], one, content.rows)
        elif one.name not in by_name:
            # As Spark reads it: older files may not have a column yet.
            by_name[one.name] = pa.nulls(content.rows, to_arrow(one.type))
    return pa.table({one: by_name[one] for one in schema.names})


def _values_of(name: str) -> dict[str, str]:
    """The columns that the folders of a file say."""
    pairs = [folder.partition("=") for folder in name.split("/")[:-1]]
    return {unquote(column).lower(): unquote(value) for column, _, value in pairs}


def _repeated(source: str, text: str, field: Field, rows: int) -> pa.ChunkedArray:
    value = pa.scalar(None if text == _NO_VALUE else text, pa.string())
    try:
        return pa.chunked_array([pa.repeat(value.cast(to_arrow(field.type)), rows)])
    except pa.ArrowException as fault:
        msg = f'{source}: "{field.name}" is declared {field.type}, but its folder says "{text}"'
        raise DataError(msg) from fault
