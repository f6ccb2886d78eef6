"""Files of declared sources, fed to the engine of this process as a pipeline would read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.algebra.types import to_arrow
from penstock.connectors.connector_list import source_format
from penstock.connectors.file_content import BrokenFileError
from penstock.errors import DataError, InternalError
from penstock.files.backlog import Backlog
from penstock.files.declared_table import declared_table
from penstock.files.folders import declared_folder
from penstock.files.relation_rows import relation_rows
from penstock.runtime.arriving_columns import read_columns
from penstock.runtime.intake import RejectedRows
from penstock.runtime.lateness import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.connection.engines.local.local_engine import LocalEngine


@dataclass(frozen=True)
class FileShare:
    """Rows of a file.

    Attributes:
        rows: Those that can be read as declared.
        place_of: Where the row of a number stands.
        unreadable: Of each other row where it stands, its text, and why it cannot be read.
    """

    rows: pa.Table
    place_of: Callable[[int], str]
    unreadable: tuple[tuple[str, str, str], ...] = ()


def feed_relations(engine: LocalEngine, relations: Sequence[RelationDefinition]) -> None:
    """Let relations hold what their files have.

    Raises:
        DataError: A file is not there, or a row cannot be read as declared.
    """
    for one in relations:
        rows = relation_rows(one)
        signs = pa.array(np.ones(len(rows), np.int8))
        engine.update(one, rows.append_column("_sign", signs))


def feed_streams(engine: LocalEngine, streams: Sequence[StreamDefinition]) -> Iterator[None]:
    """Feed what is there of streams, a micro-batch at a time; each is fed when the next is asked.

    Raises:
        DataError: A path is not there, or an option is no number.
    """
    backlogs = [Backlog(declared_folder(one), frozenset[str](), one) for one in streams]
    for backlog in backlogs:
        backlog.look()
    while any(map(len, backlogs)):
        for stream, backlog in zip(streams, backlogs, strict=True):
            names = backlog.next_files(look=False)
            if names:
                files = [_rows(stream, backlog.folder.path_of(name), name) for name in names]
                engine.insert_files(stream, files, backlog.hold if len(backlog) else INFINITY)
        yield


def _rows(stream: StreamDefinition, path: Path, name: str) -> FileShare:
    """The rows of a file; one that is broken, or has other columns, is a row that says so."""
    read = source_format(stream.format).read
    assert read is not None
    source = f'stream "{stream.name}"'
    try:
        content = read(source, path, stream.schema, stream.options)
        table = declared_table(source, content, name, stream.schema)
        columns = read_columns(f"{source}, file {path}", stream.schema, table)
    except (BrokenFileError, DataError) as fault:
        return FileShare(_nothing(stream), str, ((str(path), fault.message, ""),))
    return FileShare(
        pa.table(list(columns), names=stream.schema.names),
        lambda row: f"{path}, {content.place_of(row)}",
        tuple((f"{path}, {one.place}", one.text, one.why) for one in content.unreadable),
    )


def place_among(files: Sequence[FileShare], row: int) -> str:
    """The place of the row of a number, of all rows of files."""
    for one in files:
        if row < len(one.rows):
            return one.place_of(row)
        row -= len(one.rows)
    msg = f"there are {row} rows less"
    raise InternalError(msg)


def unreadable_rows(stream: StreamDefinition, files: Sequence[FileShare]) -> list[RejectedRows]:
    """The rows of files that cannot be read as declared."""
    found = [one for file in files for one in file.unreadable]
    if not found:
        return []
    places, texts, why = (pa.array(one, pa.string()) for one in zip(*found, strict=True))
    reasons = [f"{UNREADABLE}: {one}" if one else UNREADABLE for one in why.to_pylist()]
    nulls = [pa.nulls(len(found), to_arrow(one)) for one in stream.schema.types]
    rows = pa.table(nulls, names=stream.schema.names)
    return [RejectedRows(stream.name, UNREADABLE, pa.array(reasons), rows, places, texts)]


def _nothing(stream: StreamDefinition) -> pa.Table:
    empty = [pa.array([], to_arrow(one)) for one in stream.schema.types]
    return pa.table(empty, names=stream.schema.names)
