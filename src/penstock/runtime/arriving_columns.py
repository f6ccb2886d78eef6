"""Columns that arrive, read as they are declared: another width or unit, never another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.types import to_arrow
from penstock.errors import DataError, did_you_mean
from penstock.operators.saved_tables import one_array

if TYPE_CHECKING:
    from penstock.algebra.types import Field, Schema, Type


def read_columns(source: str, schema: Schema, table: pa.Table) -> tuple[pa.Array, ...]:
    """The declared columns of a table, in the declared types; other columns are not looked at.

    Args:
        source: What errors call it, such as `stream "trades"`.
        schema: The declaration.
        table: What arrived.

    Raises:
        DataError: A column is missing, there twice, or cannot be read as declared.
    """
    return tuple(_read_column(source, table, one) for one in schema)


def _read_column(source: str, table: pa.Table, field: Field) -> pa.Array:
    there, name = table.column_names, field.name
    if there.count(name) != 1:
        many = "no column" if name not in there else f"{there.count(name)} columns called"
        msg = f'{source}: the rows that came have {many} "{name}"'
        otherwise = f"Columns there: {', '.join(there) or 'none'}."
        hint = None if name in there else did_you_mean(name, there, otherwise=otherwise)
        raise DataError(msg, hint=hint)
    column = table.column(name)
    try:
        if column.type != to_arrow(field.type):
            column = _converted(f'{source}, column "{name}"', column, field.type)
        return _checked(canonical(one_array(column)))
    except pa.ArrowException as fault:
        msg = (
            f'{source}, column "{name}": declared {field.type}, but a value that came does not fit'
        )
        raise DataError(msg, hint=f"{fault}.") from fault


def _converted(source: str, column: pa.ChunkedArray, declared: Type) -> pa.ChunkedArray:
    found, wanted = column.type, to_arrow(declared)
    if pa.types.is_dictionary(found):
        column = column.cast(found.value_type)
    if not _is_compatible(column.type, wanted):
        msg = f"{source}: declared {declared}, but {found} came"
        raise DataError(msg, hint=_hint(column.type, wanted))
    if pa.types.is_integer(column.type) and pa.types.is_decimal(wanted):
        # Arrow asks whether any integer would fit; whether these do is seen in the second step.
        column = column.cast(pa.decimal128(38, wanted.scale))
    return column.cast(wanted)


def _hint(found: pa.DataType, wanted: pa.DataType) -> str:
    if pa.types.is_timestamp(wanted) and pa.types.is_integer(found):
        return "Make times of the numbers, as pandas.to_datetime(numbers, unit='s') does."
    if pa.types.is_integer(wanted) and pa.types.is_floating(found):
        return (
            "Declare it DOUBLE, or bring integers; pandas makes doubles of integers with gaps, and"
            ' .astype("Int64") takes that back.'
        )
    return "Declare the column with the type that comes, or cast it."


def _is_compatible(found: pa.DataType, wanted: pa.DataType) -> bool:
    """One type is another width or unit of the other; text never becomes a number."""
    if pa.types.is_null(found):
        return True
    kinds = (pa.types.is_boolean, _is_text, pa.types.is_timestamp, pa.types.is_date)
    if any(kind(found) and kind(wanted) for kind in kinds):
        return True
    numbers = [_number_rank(found), _number_rank(wanted)]
    ranks = [rank for rank in numbers if rank is not None]
    return len(ranks) == 2 and ranks[0] <= ranks[1]


def _is_text(one: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(kind(one) for kind in kinds)


def _number_rank(one: pa.DataType) -> int | None:
    """Integers, decimals, floats: each can be read as those after it. None: not a number."""
    kinds = (pa.types.is_integer, pa.types.is_decimal, pa.types.is_floating)
    return next((rank for rank, kind in enumerate(kinds) if kind(one)), None)


def _checked(column: pa.Array) -> pa.Array:
    """Text that is UTF-8: a file or a buffer may bring any bytes, and functions rely on it."""
    if pa.types.is_string(column.type):
        column.validate(full=True)
    return column


def canonical(column: pa.Array) -> pa.Array:
    """Doubles with one zero and one NaN, so that equal values have equal bits."""
    if not pa.types.is_floating(column.type):
        return column
    plain = pc.add(column, 0.0)
    is_nan = pc.is_nan(plain)
    if pc.any(is_nan).as_py():
        plain = pc.if_else(is_nan, pa.scalar(float("nan")), plain)
    return plain
