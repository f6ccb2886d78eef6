"""Evaluation: only the failing part is NULL, lazy forms, laws of functions on random values."""

from __future__ import annotations

import itertools
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.expressions import Case, Cast, Column, Expression, Literal, Value
from penstock.algebra.failures import Failures
from penstock.algebra.types import BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, decimal
from penstock.algebra.values import NAN, format_date, format_timestamp
from penstock.catalog.functions import resolve_call
from penstock.catalog.functions.time_text import date_in_text, timestamp_in_text
from penstock.errors import InternalError
from penstock.reference.calendar import CYCLE_DAYS, CYCLE_YEARS, days_of, year_of
from penstock.reference.expressions import evaluate
from penstock.reference.failure import fit
from penstock.reference.functions import MEANING

X = Column("x", INT)
TENTH = resolve_call("div", (Literal(10, INT), X))
TRUTHS: tuple[Value, ...] = (True, False, None)


def value_of(expression: Expression, **row: Value) -> tuple[Value, dict[str, int]]:
    failures = Failures()
    return evaluate(expression, row, failures), dict(failures.by_function)


def test_only_the_failing_part_is_null() -> None:
    fallback = resolve_call("coalesce", (TENTH, Literal(-1, INT)))
    assert value_of(fallback, x=0) == (-1, {"div": 1})
    assert value_of(fallback, x=5) == (2, {})


def test_every_failure_is_counted() -> None:
    twice = resolve_call("+", (TENTH, resolve_call("%", (X, X))))
    assert value_of(twice, x=0) == (None, {"div": 1, "%": 1})
    failures = Failures()
    evaluate(twice, {"x": 0}, failures)
    assert failures.count == 2


def test_case_computes_only_what_it_needs() -> None:
    is_zero = resolve_call("=", (X, Literal(0, INT)))
    guarded = Case(((is_zero, Literal(None, TENTH.type)),), TENTH)
    assert value_of(guarded, x=0) == (None, {})
    assert value_of(guarded, x=4) == (2, {})
    unknown = Case(((Literal(None, BOOLEAN), TENTH),), Literal(7, TENTH.type))
    assert value_of(unknown, x=0) == (7, {})


def test_if_and_coalesce_compute_only_what_they_need() -> None:
    is_zero = resolve_call("=", (X, Literal(0, INT)))
    assert value_of(resolve_call("if", (is_zero, X, TENTH)), x=0) == (0, {})
    assert value_of(resolve_call("coalesce", (X, TENTH)), x=0) == (0, {})


def test_values_are_canonical() -> None:
    minus_zero, nan = float("-0.0"), float("nan")
    assert str(value_of(Column("f", DOUBLE), f=minus_zero)[0]) == "0.0"
    assert value_of(Literal(nan, DOUBLE))[0] is NAN
    product = resolve_call("*", (Column("f", DOUBLE), Literal(-1.0, DOUBLE)))
    assert str(value_of(product, f=0.0)[0]) == "0.0"


def test_unknown_expressions_are_our_bug() -> None:
    with pytest.raises(InternalError, match="does not know Expression"):
        evaluate(Expression(), {}, Failures())
    with pytest.raises(InternalError, match="not an integer"):
        fit("1", INT)


def test_bad_cast_in_a_row() -> None:
    assert value_of(Cast(Column("s", STRING), INT), s="x") == (None, {"cast": 1})


def test_three_valued_logic_has_its_laws() -> None:
    and_, or_, not_ = MEANING["and"], MEANING["or"], MEANING["not"]
    rank = {False: 0, None: 1, True: 2}
    for a, b in itertools.product(TRUTHS, TRUTHS):
        assert and_(a, b) == min(a, b, key=lambda truth: rank[truth])
        assert or_(a, b) == max(a, b, key=lambda truth: rank[truth])
        assert not_(and_(a, b)) == or_(not_(a), not_(b))


@given(st.none() | st.integers(0, 3), st.lists(st.none() | st.integers(0, 3), min_size=1))
def test_in_is_a_chain_of_equals_and_or(value: int | None, options: list[int | None]) -> None:
    args = tuple(Literal(option, INT) for option in (value, *options))
    chain = resolve_call("=", (args[0], args[1]))
    for option in args[2:]:
        chain = resolve_call("or", (chain, resolve_call("=", (args[0], option))))
    assert value_of(resolve_call("in", args)) == value_of(chain)


@given(st.text(max_size=6), st.integers(-8, 8), st.integers(-2, 8))
def test_substring_picks_the_characters_at_its_positions(text: str, start: int, size: int) -> None:
    first = start if start > 0 else len(text) + 1 + start if start < 0 else 1
    picked = [c for at, c in enumerate(text, 1) if first <= at < first + size]
    assert MEANING["substring"](text, start, size) == "".join(picked)


@given(st.text("ab%_\\", max_size=6), st.text("ab%_", max_size=6))
def test_like_finds_itself_escaped(text: str, other: str) -> None:
    escaped = "".join(f"\\{c}" if c in "%_\\" else c for c in text)
    assert MEANING["like"](text, escaped)
    assert MEANING["like"](other + text + other, f"%{escaped}%")
    assert MEANING["like"](other, escaped) == (other == text)


@given(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1).filter(bool))
def test_quotient_and_remainder_give_back_the_number(a: int, b: int) -> None:
    quotient, remainder = MEANING["div"](a, b), MEANING["%"](a, b)
    assert isinstance(quotient, int)
    assert isinstance(remainder, int)
    assert quotient * b + remainder == a
    assert abs(remainder) < abs(b)
    assert remainder * a >= 0


@given(st.decimals(-(10**8), 10**8, places=4), st.decimals(-(10**8), 10**8, places=2))
def test_decimals_are_rounded_once(a: Decimal, b: Decimal) -> None:
    context = Context(prec=100, rounding=ROUND_HALF_UP)
    args = (Literal(a, decimal(13, 4)), Literal(b, decimal(11, 2)))
    for name, exact in (("+", context.add), ("*", context.multiply), ("/", context.divide)):
        call = resolve_call(name, args)
        if name == "/" and b == 0:
            assert value_of(call) == (None, {"/": 1})
        else:
            rounded = exact(a, b).quantize(Decimal(1).scaleb(-call.type.scale), context=context)
            assert value_of(call) == (rounded, {})


@given(st.integers(-(2**31), 2**31 - 1 - CYCLE_DAYS))
def test_the_calendar_repeats_every_400_years(days: int) -> None:
    parts = (year_of(days), MEANING["month"](days), MEANING["day"](days))
    assert days_of(*parts) == days  # type: ignore[arg-type]  # all are integers
    assert year_of(days + CYCLE_DAYS) == parts[0] + CYCLE_YEARS
    assert MEANING["weekday"](days + CYCLE_DAYS) == MEANING["weekday"](days)


@given(st.dates())
def test_dates_are_read_as_they_are_written(day: date) -> None:
    days = (day - date(1970, 1, 1)).days
    assert date_in_text(format_date(days)) == days
    assert value_of(Cast(Cast(Literal(days, DATE), STRING), DATE)) == (days, {})


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_timestamps_are_read_as_they_are_written(micros: int) -> None:
    assert timestamp_in_text(format_timestamp(micros)) == micros
    assert value_of(Cast(Cast(Literal(micros, TIMESTAMP), STRING), TIMESTAMP)) == (micros, {})


@given(st.floats())
def test_doubles_are_read_as_they_are_written(number: float) -> None:
    expected = value_of(Literal(number, DOUBLE))
    assert value_of(Cast(Cast(Literal(number, DOUBLE), STRING), DOUBLE)) == expected
