from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.algebra.instants import read_instant
from penstock.algebra.time import TimeUnit
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
)
from penstock.errors import DataError
from penstock.testing.expected_rows import (
    expected_cell,
    expected_row,
    print_cell,
    print_instant,
    read_cell,
    read_row,
    split_cells,
)

TWO_COLUMNS = Schema((Field("s.name", STRING), Field("s.price", DOUBLE)))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ("two words", "two words"),
        ("back\\slash", "back\\slash"),
        ("#late", "'#late'"),
        ("@home", "'@home'"),
        ("-5", "'-5'"),
        ("+5", "'+5'"),
        ("a-b", "a-b"),
        ("NULL", "'NULL'"),
        ("null", "null"),
        ("(empty)", "'(empty)'"),
        ("(none)", "'(none)'"),
        ("", "''"),
        (" x", "' x'"),
        ("it's", "'it''s'"),
        ("a|b", "'a|b'"),
        ("a\nb", "'a\\nb'"),
        ("\\\n", "'\\\\\\n'"),
        (None, "NULL"),
    ],
)
def test_strings_are_quoted_only_where_they_would_be_ambiguous(
    value: str | None, text: str
) -> None:
    assert print_cell(value, STRING) == text
    assert read_cell(text, STRING) == value


@given(some.lists(some.text(), min_size=1))
def test_any_row_of_strings_can_be_written_and_read(row: list[str]) -> None:
    schema = Schema(tuple(Field(f"c{i}", STRING) for i in range(len(row))))
    text = " | ".join(print_cell(value, STRING) for value in row)
    assert "\n" not in text
    assert read_row(text, schema) == tuple(row)


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (True, BOOLEAN),
        (-7, INT),
        (2**63 - 1, BIGINT),
        (0.1, DOUBLE),
        (1e-300, DOUBLE),
        (float("-inf"), DOUBLE),
        (Decimal("12.50"), decimal(10, 2)),
        (19_000, DATE),
        (1_700_000_000_123_456, TIMESTAMP),
    ],
)
def test_values_of_every_type_read_back(value: bool | int | float | Decimal, type_: Type) -> None:
    assert read_cell(print_cell(value, type_), type_) == value


def test_timestamps_of_the_given_day_are_written_without_it() -> None:
    assert read_cell("05:00:08", TIMESTAMP, day="1993-11-03") == 752302808000000
    assert print_cell(752302808000000, TIMESTAMP, day="1993-11-03") == "05:00:08"
    assert print_cell(752302808000000, TIMESTAMP, day="1993-11-04") == "1993-11-03 05:00:08"


def test_a_quote_inside_of_a_bare_string_is_just_a_quote() -> None:
    assert split_cells("it's | 'x | y' | z") == ["it's", "'x | y'", "z"]


@pytest.mark.parametrize(
    ("text", "type_", "message"),
    [
        ("", STRING, "a cell is empty\n  Write '' for the empty string, NULL for no value."),
        ("ten", INT, "'ten' is not a value of type INT"),
        ("'1'", INT, "quotes are for strings; '1' stands in a column of type INT"),
        ("1.239", decimal(5, 2), "1.239 has more decimals than DECIMAL(5, 2)"),
    ],
)
def test_what_a_column_cannot_hold_is_refused(text: str, type_: Type, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_cell(text, type_)
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["'open", "'closed' too early | 1"])
def test_a_quote_must_end_with_its_cell(text: str) -> None:
    with pytest.raises(DataError, match="a quoted string must end with a quote"):
        split_cells(text)


def test_a_row_has_a_value_for_every_column() -> None:
    with pytest.raises(DataError) as caught:
        read_row("tea", TWO_COLUMNS)
    assert str(caught.value) == "1 value, expected 2: name, price"


@pytest.mark.parametrize(
    ("text", "value", "accepted"),
    [
        ("0.3", 0.1 + 0.2, True),
        ("1.0", 1.00000001, False),
        ("19.767~", 19.7666, True),
        ("19.767~", 19.7664, False),
        ("20~", 19.5, True),
        ("20~", 19.4, False),
        ("1e3~", 1400.0, True),
        ("0.0~", -0.04, True),
        ("1.5~", None, False),
        ("1.5~", float("nan"), False),
        ("NaN", float("nan"), True),
        ("NULL", None, True),
        ("NULL", 0.0, False),
    ],
)
def test_doubles_are_compared_closely_or_at_the_decimals_written(
    text: str, value: float | None, accepted: bool
) -> None:
    assert expected_cell(text, DOUBLE).accepts(value) is accepted


def test_decimals_are_compared_exactly_unless_rounded() -> None:
    price = decimal(10, 3)
    assert expected_cell("1.5", price).accepts(Decimal("1.500"))
    assert not expected_cell("1.5", price).accepts(Decimal("1.501"))
    assert expected_cell("1.5~", price).accepts(Decimal("1.501"))


def test_the_mark_for_rounding_is_an_ordinary_character_in_a_string() -> None:
    assert expected_cell("about~", STRING).accepts("about~")


def test_rounding_something_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="'NaN~' is not a rounded number"):
        expected_cell("NaN~", DOUBLE)


def test_an_expected_row_prints_as_it_was_written() -> None:
    assert str(expected_row("'' | 1.50~", TWO_COLUMNS)) == "'' | 1.50~"


def test_instants_are_numbers_or_moments() -> None:
    assert read_instant("-5", TimeUnit.TICK) == -5
    assert read_instant("1970-01-01 00:00:01", TimeUnit.TIMESTAMP) == 1_000_000
    assert read_instant("00:00:01", None, day="1970-01-01") == 1_000_000
    assert print_instant(1_500_000, TimeUnit.TIMESTAMP, day="1970-01-01") == "00:00:01.5"
    assert print_instant(15, TimeUnit.SECONDS) == "15"


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        (
            "5",
            TimeUnit.TIMESTAMP,
            "the instants of this query are not written like @5, expected a date and time",
        ),
        (
            "05:00",
            TimeUnit.TIMESTAMP,
            "@05:00 does not say on which day\n"
            "  Write the date too, or a line such as: day 2024-01-31",
        ),
        ("2024-13-01", TimeUnit.TIMESTAMP, "there is no such date and time: 2024-13-01"),
    ],
)
def test_an_instant_must_suit_the_query(text: str, unit: TimeUnit, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_instant(text, unit)
    assert str(caught.value) == message
