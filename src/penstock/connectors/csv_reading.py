"""CSV files as columns: found by the names in the header, or by their place where there is none."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv

from penstock.algebra.types import to_arrow
from penstock.connectors.file_content import BrokenFileError, FileContent, UnreadableRow
from penstock.connectors.file_texts import TextReader, read_texts, refuse_options, without_rows
from penstock.errors import DataError, count, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from penstock.algebra.types import Schema
    from penstock.state.arrays import Ints

UNDERSTOOD = frozenset(
    {"header", "sep", "delimiter", "quote", "nullvalue", "timestampformat", "dateformat"}
)
"""Options that mean here what they mean to Spark."""
_BLOCK = 4 << 20
_SEPARATORS = (";", "\t", "|", ",")
"""What values are mostly apart by; one is proposed where it finds the declared column."""


@dataclass(frozen=True)
class CsvLayout:
    """The layout of a CSV file.

    Attributes:
        options: The options of its source, with keys in lower case.
    """

    options: Mapping[str, str]

    @property
    def has_header(self) -> bool:
        """A file whose first line names the columns."""
        return self.options.get("header", "true").lower() != "false"

    @property
    def separator(self) -> str:
        """The text between two values."""
        text = self.options.get("sep", self.options.get("delimiter", ","))
        return "\t" if text == "\\t" else text

    @property
    def quote(self) -> str:
        """The mark around values with a separator in them."""
        return self.options.get("quote", '"')

    @property
    def nulls(self) -> list[str]:
        """The texts that stand for NULL."""
        return ["", *([self.options["nullvalue"]] if "nullvalue" in self.options else [])]


class RowLines:
    """The lines of a file that has rows on all but its blank ones; read when one is asked for."""

    def __init__(self, path: Path, skipped: int) -> None:
        self._path = path
        self.skipped = skipped

    @cached_property
    def _content(self) -> bytes:
        with pa.input_stream(str(self._path)) as file:
            return bytes(file.read())

    @cached_property
    def _ends(self) -> Ints:
        content = np.frombuffer(self._content, np.uint8)
        return np.append(np.flatnonzero(content == ord("\n")), len(content))

    @cached_property
    def _of_rows(self) -> Ints:
        content, ends = np.frombuffer(self._content, np.uint8), self._ends
        lengths = np.diff(ends, prepend=-1) - 1
        last = content[np.maximum(ends - 1, 0)] if len(content) else np.zeros(1, np.uint8)
        is_blank = (lengths == 0) | ((lengths == 1) & (last == ord("\r")))
        numbers = np.flatnonzero(~is_blank) + 1
        return numbers[numbers > self.skipped]

    def __call__(self, row: int) -> str:
        """The place of the row of a number."""
        return f"line {self._of_rows[row]}"

    def text(self, row: int) -> str:
        """The line of a row."""
        line = int(self._of_rows[row]) - 1
        start = int(self._ends[line - 1]) + 1 if line else 0
        return self._content[start : int(self._ends[line])].decode("utf-8", "replace").strip()


def read_csv(source: str, path: Path, schema: Schema, options: Mapping[str, str]) -> FileContent:
    """The declared columns of a CSV file, whatever others it has, and the rows that do not fit.

    Raises:
        DataError: The header has not all the columns.
        BrokenFileError: It is no CSV file.
    """
    layout = _layout(source, options)
    try:
        first, skipped = _first_record(path, layout)
        if not first:
            return FileContent(_nothing(schema), 0)
        places = _places(source, path, layout, schema, first)
        skip = skipped if layout.has_header else 0
        table, odd = _table(path, layout, len(first), sorted(places.values()), skip)
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as fault:
        msg = f"{source}, file {path} cannot be read as CSV: {str(fault).splitlines()[0]}"
        raise BrokenFileError(msg) from fault
    texts = {name: pa.concat_arrays(table[str(place)].chunks) for name, place in places.items()}
    lines = RowLines(path, skipped if layout.has_header else 0)
    return _content(TextReader(layout.options), schema, texts, odd, lines)


def check_csv(source: str, path: Path, schema: Schema, options: Mapping[str, str]) -> None:
    """See that the first line of a CSV file has the declared columns.

    Raises:
        DataError: It has not, or it cannot be read.
    """
    layout = _layout(source, options)
    try:
        first, _ = _first_record(path, layout)
    except (OSError, pa.ArrowException, UnicodeDecodeError, csv.Error) as fault:
        msg = f"{source}: {path} cannot be read as CSV: {str(fault).splitlines()[0]}"
        raise DataError(msg) from fault
    if first:
        _places(source, path, layout, schema, first)


def _layout(source: str, options: Mapping[str, str]) -> CsvLayout:
    """The layout that options say.

    Raises:
        DataError: One has a value that cannot be understood.
    """
    layout = CsvLayout({key.lower(): one for key, one in options.items()})
    refuse_options(source, layout.options)
    for name, sign in (("sep", layout.separator), ("quote", layout.quote or '"')):
        if len(sign) != 1 or sign in "\r\n":
            msg = f"{source}: {name} is '{sign}', but must be one sign"
            raise DataError(msg, hint="A tab is '\\t'; with reader 'spark' it may be longer.")
    return layout


def _first_record(path: Path, layout: CsvLayout) -> tuple[list[str], int]:
    """The first line with something in it, and how many lines that takes."""
    with pa.input_stream(str(path)) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        lines = csv.reader(text, delimiter=layout.separator, quotechar=layout.quote or None)
        for record in lines:
            if record:
                return record, lines.line_num
    return [], 0


def _places(
    source: str, path: Path, layout: CsvLayout, schema: Schema, first: list[str]
) -> dict[str, int]:
    """At which place each declared column stands."""
    if not layout.has_header:
        if len(first) < len(schema):
            msg = f"{source}: {path} has {count(len(first), 'column')}, {len(schema)} are declared"
            raise DataError(msg, hint="Without a header, columns are found by their place.")
        return {name: place for place, name in enumerate(schema.names)}
    names = [name.strip() for name in first]
    folded = [name.lower() for name in names]
    for name in schema.names:
        if name.lower() not in folded:
            raise _missing(source, path, layout, name, first)
    return {name: folded.index(name.lower()) for name in schema.names}


def _missing(source: str, path: Path, layout: CsvLayout, name: str, first: list[str]) -> DataError:
    names = [one.strip() for one in first]
    listed = ", ".join(names)
    msg = f'{source}: {path} has no column "{name}" in its header'
    for other in _SEPARATORS:
        parts = layout.separator.join(first).split(other)
        if name.lower() in (one.strip(f" {layout.quote}").lower() for one in parts):
            shown = other.replace("\t", "\\t")
            return DataError(
                msg, hint=f"Its values are apart by '{shown}': OPTIONS (sep '{shown}')."
            )
    otherwise = f"Its first line is: {listed}. Without a header write OPTIONS (header 'false')."
    return DataError(msg, hint=did_you_mean(name, names, otherwise=otherwise))


def _table(
    path: Path, layout: CsvLayout, width: int, wanted: list[int], skipped: int
) -> tuple[pa.Table, list[pcsv.InvalidRow]]:
    """The wanted columns as texts, and the rows that have another number of them."""
    odd: list[pcsv.InvalidRow] = []

    def skip(row: pcsv.InvalidRow) -> str:
        odd.append(row)
        return "skip"

    names = [str(place) for place in range(width)]
    table = pcsv.read_csv(
        path,
        # Threads would take the cores of other tasks, and rows would have no numbers.
        pcsv.ReadOptions(
            use_threads=False, block_size=_BLOCK, column_names=names, skip_rows=skipped
        ),
        pcsv.ParseOptions(
            delimiter=layout.separator, quote_char=layout.quote or False, invalid_row_handler=skip
        ),
        pcsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=layout.nulls,
            strings_can_be_null=True,
            include_columns=[str(place) for place in wanted],
        ),
    )
    return table, odd


def _content(
    reader: TextReader,
    schema: Schema,
    texts: Mapping[str, pa.Array],
    odd: list[pcsv.InvalidRow],
    lines: RowLines,
) -> FileContent:
    rows = len(next(iter(texts.values())))
    read = read_texts(reader, schema, texts)
    odd_rows = np.array([int(one.number) for one in odd], np.int64) - (1 + lines.skipped)
    numbers = np.setdiff1d(np.arange(rows + len(odd)), odd_rows)
    columns, row_of = without_rows(read.columns, read.bad, rows)
    unreadable = [
        UnreadableRow(lines(number), lines.text(number), _other_width(one))
        for one, number in zip(odd, odd_rows.tolist(), strict=True)
    ]
    for row, why in zip(numbers[read.bad].tolist(), read.why, strict=True):
        unreadable.append(UnreadableRow(lines(row), lines.text(row), why))
    return FileContent(
        columns,
        rows - len(read.bad),
        tuple(unreadable),
        lambda row: lines(int(numbers[row_of(row)])),
    )


def _other_width(row: pcsv.InvalidRow) -> str:
    return f"{count(row.actual_columns, 'value')} where {row.expected_columns} are expected"


def _nothing(schema: Schema) -> dict[str, pa.Array]:
    return {one.name: pa.array([], to_arrow(one.type)) for one in schema}
