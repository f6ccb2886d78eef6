"""Numbers that are none, and infinite ones, in the words that a format has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from collections.abc import Mapping


def with_words(table: pa.Table, words: Mapping[str, str]) -> pa.Table:
    """A table with words in the place of such numbers; columns without any stay as they are."""
    columns = []
    for column in table.columns:
        is_odd = pa.types.is_floating(column.type) and not pc.all(pc.is_finite(column)).as_py()
        columns.append(in_words(column, words) if is_odd else column)
    return pa.table(columns, names=table.column_names)


def in_words(column: pa.Array, words: Mapping[str, str]) -> pa.Array:
    """A column of numbers as texts."""
    text = column.cast(pa.string())
    for found, meant in words.items():
        text = pc.if_else(pc.equal(text, found), meant, text)
    return text
