"""Rows as people have them: tables and data frames, or lists of dicts and tuples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.failures import Failures
from penstock.algebra.types import DATE, TIMESTAMP, to_arrow
from penstock.algebra.values import parse_date, parse_timestamp
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.compute.cast_texts import from_text
from penstock.connection.moments import instant_of
from penstock.errors import DataError, UnknownName, count, did_you_mean
from penstock.operators.saved_tables import one_array
from penstock.runtime.arriving_columns import read_columns

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.algebra.time import TimeUnit
    from penstock.algebra.types import Field, Schema
    from penstock.catalog.definitions import Catalog
    from penstock.connection.moments import Moment

ACCEPTED = (
    "Give a list of tuples or of dicts, a pyarrow Table or RecordBatch, or a pandas or Polars"
    " DataFrame."
)

EXAMPLES = {
    "BOOLEAN": "True or False",
    "INT": "a whole number below 2**31",
    "BIGINT": "a whole number below 2**63",
    "DOUBLE": "a number",
    "DECIMAL": "a Decimal or a whole number that fits",
    "STRING": "a text",
    "DATE": "a date or '2024-05-01'",
    "TIMESTAMP": "a datetime or '2024-05-01 12:00:00'",
}
"""What to write for a value, by type."""


def source_of(catalog: Catalog, name: str, kind: str) -> StreamDefinition | RelationDefinition:
    """The stream, or the relation, of a name.

    Raises:
        UnknownName: There is none.
    """
    found = catalog.get(name)
    if found is not None and found.kind != kind and found.kind in ("stream", "relation"):
        instead = "insert" if found.kind == "stream" else "update"
        msg = f'"{found.name}" is a {found.kind}, not a {kind}'
        raise UnknownName(msg, hint=f"Use db.{instead}({found.name!r}, ...).")
    source = catalog.find(name, kind)
    assert isinstance(source, StreamDefinition | RelationDefinition)
    return source


def units_of(catalog: Catalog) -> set[TimeUnit]:
    """The meaning of one step of time, in all streams."""
    return {one.unit for one in catalog if isinstance(one, StreamDefinition)}


def declared_rows(stream: StreamDefinition, rows: object) -> pa.Table:
    """Rows of a stream as a table with the columns that are declared.

    Raises:
        DataError: These are no rows, or columns or values are at fault.
    """
    source = f'stream "{stream.name}"'
    table = read_times(source, stream.schema, table_of(source, stream.schema, rows))
    columns = read_columns(source, stream.schema, table)
    return pa.table(list(columns), names=list(stream.schema.names))


def read_times(source: str, schema: Schema, table: pa.Table) -> pa.Table:
    """A table whose texts in columns of dates and times are read, as they are in tuples.

    Raises:
        DataError: A text is none.
    """
    for field in schema:
        if field.type not in (DATE, TIMESTAMP) or table.column_names.count(field.name) != 1:
            continue
        texts = table[field.name]
        if pa.types.is_dictionary(texts.type):
            texts = texts.cast(texts.type.value_type)
        if any(kind(texts.type) for kind in (pa.types.is_string, pa.types.is_large_string)):
            place = table.column_names.index(field.name)
            times = _times_in(source, field, one_array(texts.cast(pa.string())))
            table = table.set_column(place, field.name, times)
    return table


def _times_in(source: str, field: Field, texts: pa.Array) -> pa.Array:
    times = from_text(field.type)(texts, Failures())
    wrong = pc.index(pc.and_(pc.is_null(times), pc.is_valid(texts)), True).as_py()
    if wrong < 0:
        return times
    msg = (
        f'{source}, column "{field.name}": {texts[wrong].as_py()!r} in row {wrong + 1} is not a'
        f" value of type {field.type}"
    )
    hint = f"No row was taken in. Write {EXAMPLES[field.type.name]}, or None for NULL."
    raise DataError(msg, hint=hint)


def changed_rows(
    relation: RelationDefinition,
    insert: object,
    delete: object,
    at: Moment | None,
    units: Collection[TimeUnit],
) -> pa.Table:
    """Rows that enter and leave a relation, with `_sign` and, if they are dated, `_at`.

    Raises:
        DataError: Rows or values are at fault, or the instant is none.
    """
    source = f'relation "{relation.name}"'
    names = [*relation.schema.names, "_sign"]
    parts = []
    for rows, sign in ((delete, -1), (insert, 1)):
        given = read_times(source, relation.schema, table_of(source, relation.schema, rows))
        columns = read_columns(source, relation.schema, given)
        parts.append(pa.table([*columns, pa.array([sign] * len(columns[0]), pa.int8())], names))
    table = pa.concat_tables(parts)
    if at is None:
        return table
    instant = instant_of(at, units)
    return table.append_column("_at", pa.array([instant] * len(table), pa.int64()))


def table_of(source: str, schema: Schema, rows: object) -> pa.Table:
    """Rows for a source as a table; that its columns are as declared is seen when it is read.

    Raises:
        DataError: These are no rows, or a row or value is at fault.
    """
    if isinstance(rows, pa.Table):
        return rows
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.table(rows)
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    if not isinstance(rows, Iterable) or isinstance(rows, Mapping | str | bytes):
        msg = f"{source}: rows are expected, but a {type(rows).__name__} came"
        raise DataError(msg, hint=ACCEPTED)
    tuples = [_values(source, schema, number, row) for number, row in enumerate(rows, start=1)]
    columns = [
        _column(source, field, [row[place] for row in tuples]) for place, field in enumerate(schema)
    ]
    return pa.table(columns, names=list(schema.names))


def _values(source: str, schema: Schema, number: int, row: object) -> Sequence[object]:
    """The values of a row in the order of the columns."""
    if isinstance(row, Mapping):
        return _in_order(source, schema, number, row)
    if not isinstance(row, Sequence) or isinstance(row, str | bytes):
        msg = f"{source}: row {number} is a {type(row).__name__}, not a tuple or a dict"
        raise DataError(msg, hint=ACCEPTED)
    if len(row) != len(schema):
        columns = count(len(schema), "column")
        msg = f"{source}: row {number} has {count(len(row), 'value')}, there are {columns}"
        raise DataError(msg, hint=f"Columns: {', '.join(schema.names)}. Write None for NULL.")
    return row


def _in_order(
    source: str, schema: Schema, number: int, row: Mapping[str, object]
) -> Sequence[object]:
    unknown = [name for name in row if name not in schema.names]
    if unknown:
        msg = f'{source}: row {number} has a value for "{unknown[0]}", which is no column'
        otherwise = f"Columns: {', '.join(schema.names)}."
        raise DataError(msg, hint=did_you_mean(unknown[0], schema.names, otherwise=otherwise))
    missing = [name for name in schema.names if name not in row]
    if missing:
        msg = f'{source}: row {number} has no value for column "{missing[0]}"'
        raise DataError(msg, hint="Write None for NULL.")
    return [row[name] for name in schema.names]


def _column(source: str, field: Field, values: list[object]) -> pa.Array:
    """Values as a column."""
    try:
        return _converted(field, values)
    except (pa.ArrowException, OverflowError, ValueError):
        number, value = _culprit(field, values)
        msg = (
            f'{source}, column "{field.name}": {value!r} in row {number} is not a value of'
            f" type {field.type}"
        )
        hint = f"No row was taken in. Write {EXAMPLES[field.type.name]}, or None for NULL."
        raise DataError(msg, hint=hint) from None


def _converted(field: Field, values: list[object]) -> pa.Array:
    """As Arrow converts values; dates and times may be text, fractions are no integers."""
    if field.type in (DATE, TIMESTAMP):
        parse = parse_date if field.type == DATE else parse_timestamp
        values = [parse(value) if isinstance(value, str) else value for value in values]
    wanted = to_arrow(field.type)
    if not field.type.is_integer:
        return pa.array(values, wanted)
    # Told to make integers, Arrow would cut 1.5 down to 1.
    column = pa.array(values)
    if not (pa.types.is_integer(column.type) or pa.types.is_null(column.type)):
        raise ValueError
    return column.cast(wanted)


def _culprit(field: Field, values: list[object]) -> tuple[int, object]:
    """The first value that cannot be converted, and the number of its row."""
    for number, value in enumerate(values, start=1):
        try:
            _converted(field, [value])
        except (pa.ArrowException, OverflowError, ValueError):
            return number, value
    return len(values), values[-1]
