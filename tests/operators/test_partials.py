"""What rows amount to that are put together: nothing is lost by it, whatever the numbers are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as some

from penstock.operators.aggregate.partials import Whole, partial_for
from penstock.operators.aggregate.partials_loops import in_order_of_codes

if TYPE_CHECKING:
    from penstock.state.arrays import Places

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


def shuffled(data: some.DataObject, values: list[Any]) -> tuple[list[Any], Places]:
    """The values elsewhere, and the order in which they are these."""
    order = np.array(data.draw(some.permutations(range(len(values)))), np.int32)
    placed: list[Any] = [None] * len(values)
    for place, value in zip(order, values, strict=True):
        placed[place] = value
    return placed, order


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
    placed, order = shuffled(data, values)
    whole = sums.together(pa.array(placed, pa.float64()), order, np.array(starts))
    if whole is not None:
        for number, one in enumerate(stretches(values, starts)):
            assert exact(whole, number) == expected(one)


def test_usual_doubles_are_put_together() -> None:
    values = np.random.default_rng(1).normal(60, 20, 10_000)
    starts = np.arange(0, 10_000, 50)
    whole = partial_for("sum", (), pa.float64()).together(
        pa.array(values), np.arange(10_000), starts
    )
    assert whole is not None
    assert exact(whole, 7) == sum(map(Fraction, values[350:400]))


@given(some.data(), WORDS)
def test_sums_of_decimals_and_integers(data: some.DataObject, words: list[int | None]) -> None:
    starts = np.array(cut(data, len(words)))
    values = [None if one is None else Decimal(one).scaleb(-2) for one in words]
    for known, of in ((words, pa.int64()), (values, DECIMAL)):
        placed, order = shuffled(data, known)
        whole = partial_for("sum", (), of).together(pa.array(placed, of), order, starts)
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
        placed, order = shuffled(data, values)
        whole = partial.together(pa.array(placed, pa.bool_()), order, np.array(starts))
        assert whole is not None
        for number, one in enumerate(stretches(values, starts)):
            known = [truth for truth in one if truth is not None]
            assert whole.values[number].as_py() == (meaning(known) if known else None)


@given(some.data(), some.lists(some.none() | some.integers(-3, 3), min_size=1, max_size=20))
def test_the_least_and_the_greatest_are_chosen_and_rows_are_counted(
    data: some.DataObject, values: list[int | None]
) -> None:
    starts = cut(data, len(values))
    placed, order = shuffled(data, values)
    for function, meaning in (("min", min), ("max", max)):
        partial = partial_for(function, (), pa.int64())
        whole = partial.together(pa.array(placed, pa.int64()), order, np.array(starts))
        assert whole is not None
        for number, one in enumerate(stretches(values, starts)):
            known = [value for value in one if value is not None]
            assert whole.values[number].as_py() == (meaning(known) if known else None)
    ones = pa.array([1] * len(values), pa.int64())
    counted = partial_for("count", (), pa.int64()).together(ones, order, np.array(starts))
    assert counted is not None
    assert counted.values.to_pylist() == [len(one) for one in stretches(values, starts)]


@given(some.lists(some.integers(0, 9), min_size=1, max_size=40))
def test_an_order_of_small_keys_is_stable(keys: list[int]) -> None:
    counts, order = np.zeros(10, np.int64), np.empty(len(keys), np.int32)
    in_order_of_codes(np.array(keys, np.uint16), counts, order)
    assert order.tolist() == np.argsort(keys, kind="stable").tolist()
    assert counts.tolist() == np.bincount(keys, minlength=10).tolist()
