"""Ranges of columns: the least and the greatest value, by which a piece may be left unread."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

INSTANT = "_ts"
"""The column with the event time of each row as a number; the others are those of the stream."""

Value = int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class ColumnRange:
    """The least and the greatest value of a column, NULLs aside; None where there is no value."""

    least: Value
    most: Value

    def meets(self, least: Value, most: Value) -> bool:
        """A value from `least` to `most` may be there; None: without that bound."""
        if self.least is None or self.most is None:
            return False
        # Both are values of one column, so they can be compared.
        below = most is not None and most < self.least  # type: ignore[operator]
        above = least is not None and least > self.most  # type: ignore[operator]
        return not below and not above


def ranges_of(table: pa.Table) -> dict[str, ColumnRange]:
    """The least and the greatest value of each column of numbers, times or short texts."""
    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_integer(column.type) or pa.types.is_string(column.type):
            ends = pc.min_max(column).as_py()
            found[name] = ColumnRange(ends["min"], ends["max"])
        elif pa.types.is_timestamp(column.type):
            ends = pc.min_max(column.cast(pa.int64())).as_py()
            found[name] = ColumnRange(ends["min"], ends["max"])
    return found
