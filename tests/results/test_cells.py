"""The text of columns is the text of their values, one by one."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from penstock.algebra.types import BIGINT, BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, decimal
from penstock.algebra.values import canonical
from penstock.reference.arrow_rows import column_of
from penstock.results.cells import cells
from penstock.testing.expected_rows import print_cell

if TYPE_CHECKING:
    from penstock.algebra.types import Type

LIMIT = 2**63
texts = st.text("ab 1|'\n\r\\@+-#\t\x0b\x1c\x85\xa0\u2003\u200b\u3000é漢", max_size=5)
words = st.sampled_from(["NULL", "(empty)", "(none)", "NULLs", "plain"])
near = st.sampled_from([1e-4, 9.9e-5, 1e10, 1e16, 123456789012.5, -0.0, 2.0])
moments = st.one_of(
    st.integers(-LIMIT, LIMIT - 1),
    st.integers(-63 * 10**15, 254 * 10**15),
    st.integers(0, 10**9).map(lambda seconds: seconds * 10**6),
)


def check(values: list[object], kind: Type) -> None:
    expected = [print_cell(canonical(one), kind) for one in values]  # type: ignore[arg-type]
    assert cells(column_of(values, kind)).to_pylist() == expected


@given(st.lists(st.none() | texts | words, max_size=8))
def test_strings(values: list[object]) -> None:
    check(values, STRING)


@given(st.lists(st.none() | st.floats() | near, max_size=8))
def test_doubles(values: list[object]) -> None:
    check(values, DOUBLE)


@given(st.lists(st.none() | moments, max_size=8))
@example([-62_135_596_800_000_001, 253_402_300_800_000_000])
def test_moments(values: list[object]) -> None:
    check(values, TIMESTAMP)


@given(st.lists(st.none() | st.integers(-(2**31), 2**31 - 1), max_size=8))
@example([-719_163, -719_162, 2_932_896, 2_932_897])
def test_days(values: list[object]) -> None:
    check(values, DATE)


@given(st.lists(st.none() | st.integers(-(10**9), 10**9), max_size=8), st.integers(0, 12))
def test_decimals(values: list[int | None], scale: int) -> None:
    exact = [None if one is None else Decimal(one).scaleb(-scale) for one in values]
    check(list(exact), decimal(24, scale))


@given(st.lists(st.none() | st.booleans()), st.lists(st.none() | st.integers(-LIMIT, LIMIT - 1)))
def test_the_rest(flags: list[object], numbers: list[object]) -> None:
    check(flags, BOOLEAN)
    check(numbers, BIGINT)
