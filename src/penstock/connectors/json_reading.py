"""JSON files as columns: an object in each line, whose keys are found whatever their case."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from penstock.algebra.types import BIGINT, BOOLEAN, INT, STRING, to_arrow
from penstock.algebra.values import INTEGER_RANGE
from penstock.connectors.file_content import FileContent, UnreadableRow
from penstock.connectors.file_texts import TextReader, read_texts, refuse_options, without_rows
from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from penstock.algebra.types import Field, Schema, Type

UNDERSTOOD = frozenset({"timestampformat", "dateformat"})
"""Options that mean here what they mean to Spark."""


def read_json(source: str, path: Path, schema: Schema, options: Mapping[str, str]) -> FileContent:
    """The declared columns of a file of JSON objects; a key that is missing is NULL."""
    reader = TextReader({key.lower(): one for key, one in options.items()})
    refuse_options(source, reader.options)
    with pa.input_stream(str(path)) as file:
        content = file.read()
    plain = _by_arrow(reader, schema, content)
    return plain if plain is not None else _by_line(reader, schema, content)


def _by_arrow(reader: TextReader, schema: Schema, content: bytes) -> FileContent | None:
    """The rows, if all of them are written as is usual; else None."""
    spelled = _spelling(schema, content)
    if spelled is None:
        return None
    wanted = pa.schema([(spelled[one.name], _written_as(one.type)) for one in schema])
    try:
        table = pj.read_json(
            pa.BufferReader(content),
            pj.ReadOptions(use_threads=False, block_size=max(len(content), 1)),
            pj.ParseOptions(explicit_schema=wanted, unexpected_field_behavior="infer"),
        )
    except pa.ArrowException:
        return None
    folded = [name.lower() for name in table.column_names]
    if any(folded.count(name.lower()) > 1 for name in schema.names):
        return None
    columns = {one.name: table[spelled[one.name]].combine_chunks() for one in schema}
    return _typed(reader, schema, columns, len(table))


def _spelling(schema: Schema, content: bytes) -> dict[str, str] | None:
    """The spelling of the declared columns in the first object."""
    try:
        first = json.loads(content.lstrip().partition(b"\n")[0] or b"{}")
    except ValueError:
        return None
    if not isinstance(first, dict):
        return None
    there = {key.lower(): key for key in first}
    return {name: there.get(name.lower(), name) for name in schema.names}


def _written_as(type_: Type) -> pa.DataType:
    if type_ in (INT, BIGINT):
        return pa.int64()
    is_text = type_.name in ("STRING", "TIMESTAMP", "DATE", "DECIMAL")
    return pa.string() if is_text else to_arrow(type_)


def _typed(
    reader: TextReader, schema: Schema, columns: Mapping[str, pa.Array], rows: int
) -> FileContent | None:
    """Columns as declared; None if a value is not."""
    made = {}
    for one in schema:
        column = columns[one.name]
        if pa.types.is_string(column.type):
            made[one.name] = reader.column(one.type, column)
        elif one.type == INT and _outside(column):
            return None
        else:
            made[one.name] = column.cast(to_arrow(one.type))
        if made[one.name].null_count > column.null_count:
            return None
    return FileContent(made, rows)


def _outside(column: pa.Array) -> bool:
    low, high = INTEGER_RANGE["INT"]
    beyond = pc.any(pc.or_(pc.less(column, low), pc.greater(column, high)))
    return bool(beyond.as_py())


def _by_line(reader: TextReader, schema: Schema, content: bytes) -> FileContent:
    """The rows, object by object: each that cannot be read is told apart."""
    numbers: list[int] = []
    lines: list[str] = []
    rows: list[list[str | None]] = []
    unreadable = []
    for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(_values(schema, line))
        except (ValueError, DataError) as fault:
            why = fault.message if isinstance(fault, DataError) else f"it is not JSON: {fault}"
            unreadable.append(UnreadableRow(f"line {number}", line.strip(), why))
        else:
            numbers.append(number)
            lines.append(line.strip())
    texts = {
        name: pa.array([row[place] for row in rows], pa.string())
        for place, name in enumerate(schema.names)
    }
    read = read_texts(reader, schema, texts)
    unreadable += [
        UnreadableRow(f"line {numbers[row]}", lines[row], why)
        for row, why in zip(read.bad.tolist(), read.why, strict=True)
    ]
    columns, row_of = without_rows(read.columns, read.bad, len(rows))
    return FileContent(
        columns,
        len(rows) - len(read.bad),
        tuple(unreadable),
        lambda row: f"line {numbers[row_of(row)]}",
    )


def _values(schema: Schema, line: str) -> list[str | None]:
    """The texts of the declared columns."""
    found = json.loads(line)
    if not isinstance(found, dict):
        msg = "an object with the columns as keys is expected"
        raise DataError(msg)
    folded = {key.lower(): value for key, value in found.items()}
    return [_text(one, folded.get(one.name.lower())) for one in schema]


def _text(field: Field, value: object) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    if field.type == STRING or isinstance(value, str):
        return text
    is_other = isinstance(value, bool) != (field.type == BOOLEAN)
    if is_other or (isinstance(value, float) and field.type.is_integer):
        msg = f'column "{field.name}": {text} is no {field.type}'
        raise DataError(msg)
    return text
