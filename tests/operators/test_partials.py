"""What rows amount to that are put together: nothing is lost by it, whatever the numbers are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from penstock.operators.aggregate.partials import Whole, partial_for

DECIMAL = pa.decimal128(19, 2)
DOUBLES = some.lists(
    some.none() | some.floats() | some.floats(-100, 100) | some.integers(-5, 5).map(float),
    min_size=1,
    max_size=20,
)
WORDS = some.lists(
    some.none() | some.integers(-(10**18) + 1, 10**18 - 1) | some.integers(-9, 9),
    min_size=1,
    max_size=20,
)


def cut(data: some.DataObject, size: int) -> list[int]:
    """Where stretches of so many rows begin."""
    return sorted({0, *data.draw(some.lists(some.integers(0, size - 1), max_size=4))})


def stretches(values: list[Any], starts: list[int]) -> list[list[Any]]:
    return [values[a:b] for a, b in zip(starts, [*starts[1:], len(values)], strict=True)]


def exact(whole: Whole, number: int) -> Fraction | None:
    """A sum with what is left of it."""
    value, rest = whole.values[number].as_py(), whole.rests[number].as_py()
    assert whole.has_rest[number] == bool(rest)
    return None if value is None else Fraction(value) + Fraction(rest or 0)


def expected(values: list[Any]) -> Fraction | None:
    known = [Fraction(one) for one in values if one is not None]
    return sum(known, Fraction(0)) if known else None


@given(some.data(), DOUBLES)
def test_sums_of_doubles_are_exact(data: some.DataObject, values: list[float | None]) -> None:
    starts = cut(data, len(values))
    sums = partial_for("sum", (), pa.float64())
    whole = sums.together(pa.array(values, pa.float64()), np.array(starts))
    if whole is not None:
        for number, one in enumerate(stretches(values, starts)):
            assert exact(whole, number) == expected(one)


def test_usual_doubles_are_put_together() -> None:
    values = np.random.default_rng(1).normal(60, 20, 10_000)
    starts = np.arange(0, 10_000, 50)
    whole = partial_for("sum", (), pa.float64()).together(pa.array(values), starts)
    assert whole is not None
    assert exact(whole, 7) == sum(map(Fraction, values[350:400]))


@given(some.data(), WORDS)
def test_sums_of_decimals_and_integers(data: some.DataObject, words: list[int | None]) -> None:
    starts = np.array(cut(data, len(words)))
    values = [None if one is None else Decimal(one).scaleb(-2) for one in words]
    for known, of in ((words, pa.int64()), (values, DECIMAL)):
        whole = partial_for("sum", (), of).together(pa.array(known, of), starts)
        if whole is None:
            assert sum(abs(one) for one in words if one is not None) > 2**61
            continue
        for number, one in enumerate(stretches(known, starts.tolist())):
            assert exact(whole, number) == expected(one)


@given(some.data(), some.lists(some.none() | some.booleans(), min_size=1, max_size=20))
def test_truth_is_chosen(data: some.DataObject, values: list[bool | None]) -> None:
    starts = cut(data, len(values))
    for function, meaning in (("bool_and", all), ("bool_or", any)):
        partial = partial_for(function, (), pa.bool_())
        whole = partial.together(pa.array(values, pa.bool_()), np.array(starts))
        assert whole is not None
        for number, one in enumerate(stretches(values, starts)):
            known = [truth for truth in one if truth is not None]
            assert whole.values[number].as_py() == (meaning(known) if known else None)
