"""Rows that were not taken in: each is kept with its reason, until there are very many of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.types import to_arrow
from penstock.store.bundles import Bundle, write_bundle
from penstock.store.records import RejectedFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.algebra.types import Schema
    from penstock.store.layout import Home

POSITION, TEXT, REASON = "_position", "_raw", "_reason"
"""The columns behind those of the stream: where a row stands, what could not be read, and why it
was not taken in."""
MOST_FILES = 64
"""So many files with such rows are there at the most; then those of like size are put together."""
MOST_BYTES = 256 << 20
"""So much of them is kept; beyond it the oldest are forgotten, and counted."""


def kept_with(
    home: Home, record: int, before: Sequence[RejectedFile], files: Iterable[str]
) -> tuple[tuple[RejectedFile, ...], Mapping[str, int]]:
    """The files that a record names when more have come, oldest first; the rows forgotten for them.

    When there are many files, those of like size are put together, so that a row is written a few
    times only, however many come. Rows that are forgotten are counted by stream.
    """
    known = [*before, *(_file(home, one) for one in files)]
    if len(known) > MOST_FILES:
        known, together = known[: MOST_FILES // 2], known[MOST_FILES // 2 :]
        while known and known[-1].bytes <= 2 * sum(one.bytes for one in together):
            together.insert(0, known.pop())
        segment = home.new_segment(record, 0, "aside")
        write_bundle(home.segments / segment, _joined(home, together), durable=True)
        known.append(_file(home, segment))
    forgotten: Counter[str] = Counter()
    while len(known) > 1 and sum(one.bytes for one in known) > MOST_BYTES:
        for stream, table in _tables(home, known.pop(0)):
            forgotten[stream] += len(table)
    return tuple(known), forgotten


def rejected_part(stream: str, number: int = 0) -> str:
    """The name of a table with rows of a stream; several, if it was declared anew between."""
    return f"{number}/{stream}"


def rejected_schema(schema: Schema) -> pa.Schema:
    """The columns of a source, and what is said of rows that were not taken in."""
    columns = [(one.name, to_arrow(one.type)) for one in schema]
    return pa.schema([*columns, *((name, pa.string()) for name in (POSITION, TEXT, REASON))])


def read_rejected(
    home: Home, files: Sequence[RejectedFile], stream: str, schema: Schema
) -> pa.Table:
    """The rows of a stream that were not taken in, oldest first.

    Those that came when the stream was declared with other columns are not among them.
    """
    wanted = rejected_schema(schema)
    found = [wanted.empty_table()]
    for one in files:
        found += [
            table
            for name, table in _tables(home, one)
            if name == stream and table.schema.equals(wanted)
        ]
    return pa.concat_tables(found)


def _file(home: Home, segment: str) -> RejectedFile:
    return RejectedFile(segment, (home.segments / segment).stat().st_size)


def _tables(home: Home, file: RejectedFile) -> Iterator[tuple[str, pa.Table]]:
    """The tables of a file, each with its stream."""
    bundle = Bundle(home.segments / file.file)
    for part in bundle.names:
        yield part.split("/", 1)[1], bundle.table(part)


def _joined(home: Home, files: Iterable[RejectedFile]) -> dict[str, pa.Table]:
    """The rows of several files; tables of one stream that have the same columns become one."""
    found: dict[str, list[pa.Table]] = {}
    for one in files:
        for stream, table in _tables(home, one):
            tables = found.setdefault(stream, [])
            if tables and tables[-1].schema.equals(table.schema):
                tables[-1] = pa.concat_tables([tables[-1], table])
            else:
                tables.append(table)
    return {
        rejected_part(stream, number): table.combine_chunks()
        for stream, tables in found.items()
        for number, table in enumerate(tables)
    }
