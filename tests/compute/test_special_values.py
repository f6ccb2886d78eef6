"""Every special value beside every other, in one block: what random values seldom meet."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from compute.against_oracle import check
from compute.generate_values import DECIMALS, ODD_DECIMALS, TEXTS, special
from penstock.algebra.expressions import Column, Literal
from penstock.algebra.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, decimal
from penstock.catalog.functions import resolve_call, resolve_cast
from penstock.catalog.functions.widening import scaled_decimal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from compute.against_oracle import Columns
    from penstock.algebra.expressions import Value
    from penstock.algebra.types import Type

ARITHMETIC = ["+", "-", "*", "/", "div", "%", "pmod"]
COMPARISONS = [
    "=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from", "in", "nullif",
    "greatest", "least",
]  # fmt: skip
OF_TEXTS = ["startswith", "endswith", "contains", "instr", "position", "replace", "like", "||"]
OF_DAYS = ["date_add", "date_sub", "add_months"]
NUMBERS = [
    (INT, INT),
    (INT, BIGINT),
    (BIGINT, BIGINT),
    (DOUBLE, DOUBLE),
    (INT, decimal(5, 2)),
    *itertools.product((*DECIMALS, *ODD_DECIMALS), repeat=2),
]
COMPARED = [BOOLEAN, INT, BIGINT, DOUBLE, STRING, DATE, TIMESTAMP, decimal(12, 4)]


def crossed(*columns: Sequence[Value]) -> list[list[Value]]:
    """All combinations, NULL among them, column by column."""
    rows = itertools.product(*([*column, None] for column in columns))
    return [list(column) for column in zip(*rows, strict=True)]


def check_crossed(name: str, types: Sequence[Type], *some: Sequence[Value]) -> None:
    """The function on columns of all combinations of values."""
    columns: Columns = {
        f"c{place}": (type_, held)
        for place, (type_, held) in enumerate(zip(types, crossed(*some), strict=True))
    }
    args = tuple(Column(column, type_) for column, (type_, _) in columns.items())
    check(resolve_call(name, args), columns, len(columns["c0"][1]))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(name: str) -> None:
    for left, right in NUMBERS:
        if (name, left) != ("div", DOUBLE):
            check_crossed(name, (left, right), special(left), special(right))


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str) -> None:
    for type_ in COMPARED:
        check_crossed(name, (type_, type_), special(type_), special(type_))


@pytest.mark.parametrize("name", ["power", "atan2", "log"])
def test_functions_of_two_doubles(name: str) -> None:
    check_crossed(name, (DOUBLE, DOUBLE), special(DOUBLE), special(DOUBLE))


@pytest.mark.parametrize("name", OF_TEXTS)
def test_functions_of_two_texts(name: str) -> None:
    check_crossed(name, (STRING, STRING), TEXTS, TEXTS)


@pytest.mark.parametrize("name", OF_TEXTS)
def test_functions_of_a_text_and_a_constant(name: str) -> None:
    """In both places, since constants have kernels of their own."""
    columns: Columns = {"c": (STRING, [*TEXTS, None])}
    for text in TEXTS:
        args = (Column("c", STRING), Literal(text, STRING))
        check(resolve_call(name, args), columns, len(TEXTS) + 1)
        check(resolve_call(name, args[::-1]), columns, len(TEXTS) + 1)


@pytest.mark.parametrize("name", OF_DAYS)
def test_moved_days(name: str) -> None:
    check_crossed(name, (DATE, INT), special(DATE), special(INT))


def test_substrings() -> None:
    some, places = TEXTS[:24], range(-5, 6)
    check_crossed("substring", (STRING, INT, INT), some, list(places), list(places))
    for name in ("left", "right", "lpad", "rpad", "repeat", "substring"):
        check_crossed(name, (STRING, INT), some, list(places))
    columns: Columns = {"c": (STRING, [*some, None])}
    for start, length in itertools.product(places, places):
        args = (Column("c", STRING), Literal(start, INT), Literal(length, INT))
        check(resolve_call("substring", args), columns, len(some) + 1)
        for name in ("left", "right", "lpad", "rpad"):
            check(resolve_call(name, args[:2]), columns, len(some) + 1)


def test_rounding() -> None:
    for type_ in (INT, BIGINT, DOUBLE, *DECIMALS, *ODD_DECIMALS):
        columns: Columns = {"c": (type_, [*special(type_), None])}
        for digits in (*range(-40, 41), -400, 400):
            call = resolve_call("round", (Column("c", type_), Literal(digits, INT)))
            check(call, columns, len(columns["c"][1]))


def near_words(precision: int, unit: int) -> list[int]:
    """Unscaled values at which a long division by the unit carries from word to word."""
    words = [2**bits * unit for bits in (31, 32, 33, 36, 40, 63, 64, 96)]
    tails = (0, 1, -1, unit // 2, -(unit // 2), unit - 1)
    found = {word + tail for word, tail in itertools.product(words, tails)}
    return sorted(number for number in found if abs(number) < 10**precision)


@pytest.mark.parametrize("scale", range(1, 38, 3))
def test_digits_are_dropped_exactly(scale: int) -> None:
    """Where Arrow's own division of decimals fails (seen in 26.0)."""
    type_ = decimal(38, scale)
    some = near_words(38, 10**scale)
    held = [scaled_decimal(number * sign, scale) for number in some for sign in (1, -1)]
    column = Column("c", type_)
    columns: Columns = {"c": (type_, [*held, None])}
    for call in (
        resolve_call("floor", (column,)),
        resolve_call("ceil", (column,)),
        resolve_call("round", (column, Literal(0, INT))),
        resolve_call("round", (column, Literal(-1, INT))),
        resolve_call("timestamp_seconds", (column,)),
        resolve_cast(column, BIGINT),
        resolve_cast(column, decimal(38, scale // 2)),
    ):
        check(call, columns, len(held) + 1)


@pytest.mark.parametrize(("left", "right"), [((28, 2), (18, 15)), ((38, 13), (18, 8))])
def test_long_division_is_exact(left: tuple[int, int], right: tuple[int, int]) -> None:
    types = decimal(*left), decimal(*right)
    by = [10**18 - 1, 10**17 - 1, 10**18 - 2**40, 3, 2**32 - 1, 2**32, 10**9]
    some = {number for unit in (1, *by) for number in near_words(left[0], unit)}
    some |= {(2**ones - 1) << zeros for ones in range(8, 64, 3) for zeros in range(0, 25, 4)}
    dividends = [scaled_decimal(number, left[1]) for number in sorted(some)]
    divisors = [scaled_decimal(number, right[1]) for number in by]
    for name in ("/", "*"):
        check_crossed(name, types, dividends, divisors)
