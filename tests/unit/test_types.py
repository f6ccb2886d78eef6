"""Types: how they are spelled, and the Arrow types that hold their values."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Field,
    Schema,
    Type,
    decimal,
    to_arrow,
)
from penstock.algebra.values import format_value, read_value
from penstock.errors import DataError, InternalError
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value

MAPPING = [
    ("BOOLEAN", BOOLEAN, pa.bool_(), True, "TRUE"),
    ("INT", INT, pa.int32(), -7, "-7"),
    ("INTEGER", INT, pa.int32(), 2**31 - 1, "2147483647"),
    ("BIGINT", BIGINT, pa.int64(), -(2**63), "-9223372036854775808"),
    ("DOUBLE", DOUBLE, pa.float64(), 0.1, "0.1"),
    ("DECIMAL(38, 6)", decimal(38, 6), pa.decimal128(38, 6), Decimal("1.500000"), "1.500000"),
    ("DECIMAL", decimal(10, 0), pa.decimal128(10, 0), Decimal(3), "3"),
    ("STRING", STRING, pa.string(), "žluť", "žluť"),
    ("VARCHAR", STRING, pa.string(), "", ""),
    ("DATE", DATE, pa.date32(), -1, "1969-12-31"),
    ("TIMESTAMP", TIMESTAMP, pa.timestamp("us"), 1_500_000, "1970-01-01 00:00:01.5"),
]


@pytest.mark.parametrize(("spelling", "type_", "arrow", "value", "text"), MAPPING)
def test_a_declared_type_has_an_arrow_type_that_holds_its_values(
    spelling: str, type_: Type, arrow: pa.DataType, value: Value, text: str
) -> None:
    session = Session()
    session.execute(f"CREATE RELATION r (c {spelling})")
    (field,) = session.bind("SELECT c FROM r").plan.schema
    assert field.type == type_
    assert to_arrow(field.type) == arrow
    array = pa.array([value, None], type=arrow)
    # DATE and TIMESTAMP are the integers that Arrow stores.
    integers = {DATE: pa.int32(), TIMESTAMP: pa.int64()}
    stored = array.cast(integers[type_]) if type_ in integers else array
    assert stored.to_pylist() == [value, None]
    assert format_value(value, type_) == text


@pytest.mark.parametrize(("_spelling", "type_", "_arrow", "value", "text"), MAPPING)
def test_the_text_of_a_value_reads_back(
    _spelling: str, type_: Type, _arrow: pa.DataType, value: Value, text: str
) -> None:
    assert read_value(text, type_) == value


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("2147483648", INT),
        ("9223372036854775808", BIGINT),
        ("1.5", INT),
        ("yes", BOOLEAN),
        ("1e40", decimal(38, 0)),
        ("2024-02-30", DATE),
        ("25:00", TIMESTAMP),
        ("", DOUBLE),
    ],
)
def test_a_text_that_does_not_fit_is_refused(text: str, type_: Type) -> None:
    with pytest.raises(DataError, match="is not a value of type"):
        read_value(text, type_)


def test_decimals_round_half_up_to_their_scale() -> None:
    assert read_value("1.005", decimal(10, 2)) == Decimal("1.01")
    assert read_value("9" * 38, decimal(38, 0)) == Decimal("9" * 38)


def test_a_schema_has_no_two_columns_of_one_name() -> None:
    with pytest.raises(InternalError, match="duplicate column"):
        Schema((Field("a", INT), Field("a", STRING)))
