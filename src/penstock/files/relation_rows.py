"""The rows of a relation whose files can be read without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.types import to_arrow
from penstock.connectors.connector_list import source_format
from penstock.connectors.file_content import BrokenFileError
from penstock.errors import DataError
from penstock.files.declared_table import declared_table
from penstock.files.folders import declared_folder
from penstock.runtime.arriving_columns import read_columns

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.catalog.definitions import RelationDefinition


def relation_rows(definition: RelationDefinition) -> pa.Table:
    """All rows of a relation as its files have them now.

    Raises:
        DataError: A file is not there, or a row cannot be read as declared.
    """
    folder = declared_folder(definition)
    names = definition.schema.names
    found = [_rows(definition, folder.path_of(one.name), one.name) for one in folder.new_files(())]
    empty = [pa.array([], to_arrow(one)) for one in definition.schema.types]
    return pa.concat_tables([pa.table(empty, names=names), *found])


def _rows(definition: RelationDefinition, path: Path, name: str) -> pa.Table:
    read = source_format(definition.format).read
    assert read is not None
    source = f'relation "{definition.name}"'
    try:
        content = read(source, path, definition.schema, definition.options)
    except BrokenFileError as fault:
        raise DataError(fault.message) from fault
    if content.unreadable:
        first = content.unreadable[0]
        msg = f"{source}: {path}, {first.place}: {first.why}"
        raise DataError(msg, hint="A relation is read as a whole: mend the row.")
    table = declared_table(source, content, name, definition.schema)
    columns = read_columns(source, definition.schema, table)
    return pa.table(list(columns), names=definition.schema.names)
