"""The bytes of a column, by its type and length."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from penstock.state.arrays import column_bytes

COLUMNS = [
    pa.array([1, 2, 3], pa.int32()),
    pa.array([1.5, 2.5]),
    pa.array([True] * 16),
    pa.array([Decimal("1.50")] * 3, pa.decimal128(10, 2)),
    pa.array([0, 1], pa.timestamp("us")),
    pa.array(range(100)).slice(10, 20),
    pa.array([], pa.int64()),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda one: str(one.type))
def test_columns_of_one_width_have_the_bytes_that_arrow_says(column: pa.Array) -> None:
    assert column_bytes(column) == column.nbytes


@pytest.mark.parametrize("column", [pa.array(["a", "bcd", ""]), pa.array(["x", "yz", "w"])[1:]])
def test_texts_have_their_bytes_and_where_each_begins(column: pa.Array) -> None:
    letters = sum(len(str(one)) for one in column.to_pylist())
    assert column_bytes(column) == letters + 4 * len(column)
