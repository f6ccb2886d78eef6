"""Rows of declared streams and relations from CSV and JSON files, for the oracle."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.algebra.types import BOOLEAN, STRING
from penstock.algebra.values import read_value
from penstock.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.expressions import Value
    from penstock.algebra.types import Schema, Type
    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.reference.timeline import Row

FORMATS = ("csv", "json")


def read_rows(source: StreamDefinition | RelationDefinition) -> list[Row]:
    """All rows of a file, in order, typed as declared.

    The option `path` names the file; a CSV file has a header line unless `header 'false'` says
    otherwise; a JSON file has one object per line. An empty CSV field and a missing key are NULL.

    Raises:
        DataError: There is no such file, or a row does not fit; says which line and column.
    """
    path = Path(_path_of(source))
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            reader = _csv_rows if source.format == "csv" else _json_rows
            header = source.options.get("header", "true").lower() != "false"
            return list(reader(path, lines, source.schema, header))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f'cannot read "{path}" of {source.kind} "{source.name}": {reason}'
        raise DataError(msg) from None


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


def _csv_rows(path: Path, lines: Iterator[str], schema: Schema, header: bool) -> Iterator[Row]:
    reader = csv.reader(lines)
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
            _typed(path, reader.line_num, name, type_, cell or None)
            for name, type_, cell in zip(schema.names, schema.types, cells, strict=True)
        )


def _position(path: Path, name: str, names: list[str]) -> int:
    if name.lower() in names:
        return names.index(name.lower())
    otherwise = f"Its columns are {', '.join(names)}."
    msg = f'{path} has no column "{name}"'
    raise DataError(msg, hint=did_you_mean(name, names, otherwise=otherwise))


def _json_rows(path: Path, lines: Iterator[str], schema: Schema, header: bool) -> Iterator[Row]:
    del header
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
            _typed(path, number, name, type_, folded.get(name.lower()))
            for name, type_ in zip(schema.names, schema.types, strict=True)
        )


def _typed(path: Path, number: int, name: str, type_: Type, value: object) -> Value:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    fits = isinstance(value, str) or isinstance(value, bool) == (type_ == BOOLEAN)
    try:
        if type_ == STRING:
            return text
        if not fits or (isinstance(value, float) and type_.is_integer) or not text.strip():
            raise DataError(text)
        return read_value(text.strip(), type_)
    except DataError:
        msg = f'{path}, line {number}, column "{name}": {text} is not a value of type {type_}'
        raise DataError(msg) from None
