"""Rows of declared streams and relations from CSV and JSON files, for the oracle."""

from __future__ import annotations

import csv
import json
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.algebra.types import BOOLEAN, DATE, STRING, TIMESTAMP
from penstock.algebra.values import EPOCH, read_value
from penstock.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.expressions import Value
    from penstock.algebra.types import Schema, Type
    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.reference.timeline import Row

FORMATS = ("csv", "json")
_SECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds of the units of epoch times."""
_LETTERS = {"yyyy": "%Y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}


def read_rows(source: StreamDefinition | RelationDefinition) -> list[Row]:
    """All rows of a file, in order, typed as declared.

    The option `path` names the file, a folder, or files by a pattern; a CSV file has a header line
    unless `header 'false'` says otherwise; a JSON file has one object per line. An empty CSV field
    and a missing key are NULL.

    Raises:
        DataError: There is no such file, or a row does not fit; says which line and column.
    """
    path = Path(_path_of(source))
    try:
        return [row for file in _files(path) for row in _rows_of(file, source)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f'cannot read "{path}" of {source.kind} "{source.name}": {reason}'
        raise DataError(msg) from None


def _files(path: Path) -> list[Path]:
    """The file itself; those of a folder, or that fit a pattern, the oldest first."""
    if path.is_file():
        return [path]
    found = path.iterdir() if path.is_dir() else path.parent.glob(path.name)
    files = [one for one in found if one.is_file() and not one.name.startswith(("_", "."))]
    if not files and not path.is_dir():
        return [path]  # Whoever opens it says that it is not there.
    return sorted(files, key=lambda one: (one.stat().st_mtime_ns // 1_000_000, one.name))


def _rows_of(path: Path, source: StreamDefinition | RelationDefinition) -> Iterator[Row]:
    options = {key.lower(): value for key, value in source.options.items()}
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = _csv_rows if source.format == "csv" else _json_rows
        yield from reader(path, lines, source.schema, options)


def _path_of(source: StreamDefinition | RelationDefinition) -> str:
    if source.format not in FORMATS:
        what = f"format {source.format}" if source.format else "no format"
        msg = f'{source.kind} "{source.name}" has {what}, and rows come from csv or json files'
        hint = "Declare it with USING csv OPTIONS (path 'rows.csv')."
        raise DataError(msg, hint=hint)
    if "path" not in source.options:
        msg = f'{source.kind} "{source.name}" does not say where its rows are'
        raise DataError(msg, hint="Add OPTIONS (path 'rows.csv').")
    return source.options["path"]


def _csv_rows(
    path: Path, lines: Iterator[str], schema: Schema, options: dict[str, str]
) -> Iterator[Row]:
    separator = options.get("sep", options.get("delimiter", ",")).replace("\\t", "\t")
    reader = csv.reader(lines, delimiter=separator, quotechar=options.get("quote", '"'))
    header = options.get("header", "true").lower() != "false"
    positions = list(range(len(schema)))
    if header:
        names = [name.strip().lower() for name in next(reader, [])]
        positions = [_position(path, name, names) for name in schema.names]
    for record in reader:
        if not record:
            continue
        if len(record) <= max(positions):
            msg = f"{path}, line {reader.line_num}: {len(record)} values, expected {len(schema)}"
            raise DataError(msg)
        cells = [record[position] for position in positions]
        yield tuple(
            _typed(path, reader.line_num, name, type_, _given(cell, options), options)
            for name, type_, cell in zip(schema.names, schema.types, cells, strict=True)
        )


def _position(path: Path, name: str, names: list[str]) -> int:
    if name.lower() in names:
        return names.index(name.lower())
    otherwise = f"Its columns are {', '.join(names)}."
    msg = f'{path} has no column "{name}"'
    raise DataError(msg, hint=did_you_mean(name, names, otherwise=otherwise))


def _given(cell: str, options: dict[str, str]) -> str | None:
    return None if cell in ("", options.get("nullvalue", "")) else cell


def _json_rows(
    path: Path, lines: Iterator[str], schema: Schema, options: dict[str, str]
) -> Iterator[Row]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            msg = f"{path}, line {number}: not JSON: {error.msg}"
            raise DataError(msg) from None
        if not isinstance(record, dict):
            msg = f"{path}, line {number}: expected an object with the columns as keys"
            raise DataError(msg)
        folded = {key.lower(): value for key, value in record.items()}
        yield tuple(
            _typed(path, number, name, type_, folded.get(name.lower()), options)
            for name, type_ in zip(schema.names, schema.types, strict=True)
        )


def _typed(
    path: Path, number: int, name: str, type_: Type, value: object, options: dict[str, str]
) -> Value:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    fits = isinstance(value, str) or isinstance(value, bool) == (type_ == BOOLEAN)
    try:
        if type_ == STRING:
            return text
        if not fits or (isinstance(value, float) and type_.is_integer) or not text.strip():
            raise DataError(text)
        return _read(text.strip(), type_, options)
    except (DataError, ValueError):
        msg = f'{path}, line {number}, column "{name}": {text} is not a value of type {type_}'
        raise DataError(msg) from None


def _read(text: str, type_: Type, options: dict[str, str]) -> Value:
    """A value: times may be numbers since 1970, or be written by a pattern."""
    if type_ == TIMESTAMP and options.get("time_unit", "").lower() in _SECONDS:
        with suppress(InvalidOperation):
            return int((Decimal(text) * _SECONDS[options["time_unit"].lower()]).to_integral_value())
    pattern = {TIMESTAMP: "timestampformat", DATE: "dateformat"}.get(type_, "")
    if pattern in options:
        layout = re.sub("|".join(_LETTERS), lambda found: _LETTERS[found[0]], options[pattern])
        moment = datetime.strptime(text, layout).replace(tzinfo=UTC)
        micros = (moment - EPOCH) // timedelta(microseconds=1)
        return micros if type_ == TIMESTAMP else micros // 86_400_000_000
    return read_value(text, type_)
