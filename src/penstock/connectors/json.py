"""JSON: files with one object a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from penstock.connectors.connector import IN_UTC, Connector, SinkFormat, SourceFormat
from penstock.connectors.json_reading import UNDERSTOOD, read_json
from penstock.connectors.odd_numbers import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONTROL = [chr(code) for code in range(32)]
_AT_ONCE = 65_536
"""Rows whose text is made at once: Arrow's texts end at 2 GB."""
WORDS = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
"""Numbers that are none, and infinite ones, as Spark writes and reads them."""


def write_json(table: pa.Table, file: BinaryIO, options: Mapping[str, str]) -> None:
    """Write rows as objects, one a line."""
    del options
    for rows in table.to_batches(max_chunksize=_AT_ONCE):
        file.write(json_lines(rows))


def json_lines(rows: pa.RecordBatch) -> memoryview:
    """Each row as a JSON object in a line, NULLs included, without a loop over rows."""
    parts: list[object] = []
    for number, name in enumerate(rows.schema.names):
        start = "{" if number == 0 else ","
        parts += [f"{start}{_quoted(pa.array([name]))[0].as_py()}:", _values(rows[number])]
    lines = pc.binary_join_element_wise(
        *parts, "}\n", "", null_handling="replace", null_replacement="null"
    )
    return memoryview(lines.buffers()[2])[: pc.sum(pc.binary_length(lines)).as_py() or 0]


def _values(column: pa.Array) -> pa.Array:
    """Values as JSON; NULL stays NULL."""
    kind = column.type
    if pa.types.is_string(kind):
        return _quoted(column)
    if pa.types.is_temporal(kind):
        plain = column.cast(pa.timestamp("us")) if pa.types.is_timestamp(kind) else column
        return _quoted(plain.cast(pa.string()))
    if pa.types.is_floating(kind):
        return in_words(column, WORDS)
    return column.cast(pa.string())


def _quoted(text: pa.Array) -> pa.Array:
    escaped = pc.replace_substring(text, "\\", "\\\\")
    escaped = pc.replace_substring(escaped, '"', '\\"')
    if pc.any(pc.match_substring_regex(escaped, r"[\x00-\x1f]")).as_py():
        for code, character in enumerate(_CONTROL):
            escaped = pc.replace_substring(escaped, character, f"\\u{code:04x}")
    return pc.binary_join_element_wise('"', escaped, '"', "")


JSON = Connector(
    "json",
    SourceFormat(
        is_files=True,
        read=read_json,
        understood=UNDERSTOOD,
        options=IN_UTC,
        keeps_unreadable=True,
        place="file",
    ),
    SinkFormat("files", ("path",), frozenset({"path"}), write_json),
)
