"""Tables as files for others to read: Parquet, CSV, and JSON with one object a line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.parquet as pq

from penstock.errors import DataError
from penstock.spark.zones import with_zone
from penstock.store.files import sync_folder, writing_to

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE_SINKS = ("parquet", "csv", "json")
"""Formats that are written as files, one for each commit."""
_CONTROL = [chr(code) for code in range(32)]
_AT_ONCE = 65_536
"""Rows whose text is made at once: Arrow's texts end at 2 GB."""
CSV_WORDS = {"nan": "NaN", "inf": "Inf", "-inf": "-Inf"}
JSON_WORDS = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
"""What Spark writes for numbers that are none, and reads again."""


class FolderSink:
    """Writes one file for each commit, named by its record, whole or not at all.

    A commit that is written again takes the place of its file, so each counts once.
    """

    def __init__(self, folder: Path, form: str, options: Mapping[str, str]) -> None:
        self._folder = folder
        self._format = form
        self._header = options.get("header", "true").lower() != "false"

    def begin(self) -> None:
        """Take the folder for a new sink.

        Raises:
            DataError: There are files in it, or it cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            taken = any(self._folder.iterdir())
        except OSError as fault:
            msg = f"the folder {self._folder} cannot be written: {fault.strerror}"
            raise DataError(msg, hint="Choose another path.") from None
        if taken:
            msg = f"there are files in {self._folder} already"
            hint = "Name a folder that is empty or not there yet: those files are of another sink."
            raise DataError(msg, hint=hint)

    def write(self, number: int, table: pa.Table) -> None:
        """Put the results of a commit into its file.

        Raises:
            DataError: The disk is full.
        """
        path = self._path(number)
        # Spark and others do not look at names with a dot before them.
        draft = path.with_name(f".{path.name}")
        with writing_to(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                self._write(table, file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
            sync_folder(self._folder)

    def withdraw(self, number: int) -> None:
        """Remove the results of a commit, which count no more."""
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number:012d}.{self._format}"

    def _write(self, table: pa.Table, file: BinaryIO) -> None:
        match self._format:
            case "parquet":
                pq.write_table(with_zone(table), file)
            case "csv":
                options = pcsv.WriteOptions(include_header=self._header)
                pcsv.write_csv(_with_words(table, CSV_WORDS), file, options)
            case "json":
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


def _with_words(table: pa.Table, words: Mapping[str, str]) -> pa.Table:
    """A table whose numbers that are none, and infinite ones, are the words for them."""
    columns = []
    for column in table.columns:
        is_odd = pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column)).as_py()
        columns.append(_in_words(column, words) if is_odd else column)
    return pa.table(columns, names=table.column_names)


def _in_words(column: pa.Array, words: Mapping[str, str]) -> pa.Array:
    text = column.cast(pa.string())
    for found, meant in words.items():
        text = pc.if_else(pc.equal(text, found), meant, text)
    return text


def _values(column: pa.Array) -> pa.Array:
    """Values as JSON; NULL stays NULL."""
    kind = column.type
    if pa.types.is_string(kind):
        return _quoted(column)
    if pa.types.is_temporal(kind):
        plain = column.cast(pa.timestamp("us")) if pa.types.is_timestamp(kind) else column
        return _quoted(plain.cast(pa.string()))
    if pa.types.is_floating(kind):
        return _in_words(column, JSON_WORDS)
    return column.cast(pa.string())


def _quoted(text: pa.Array) -> pa.Array:
    escaped = pc.replace_substring(text, "\\", "\\\\")
    escaped = pc.replace_substring(escaped, '"', '\\"')
    if pc.any(pc.match_substring_regex(escaped, r"[\x00-\x1f]")).as_py():
        for code, character in enumerate(_CONTROL):
            escaped = pc.replace_substring(escaped, character, f"\\u{code:04x}")
    return pc.binary_join_element_wise('"', escaped, '"', "")
