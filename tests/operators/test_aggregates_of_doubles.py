"""Sums of doubles are exact whatever came and went: huge, tiny, infinite."""

from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.accumulating import Element, Run, call_of, emptied, run_elements
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.types import DOUBLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.aggregate.accumulators.extremes import Extremes

SUMS = ("sum", "avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop")
HUGE = [1e300, -1e300, 1.7976931348623157e308, 1e200, 1e155, 5e-324, 1e-310, 1e-40, -1e-36]


def passing(rows: Sequence[tuple[float, int, int]]) -> list[Element]:
    """Elements (value, enters, leaves) of one group."""
    return [Element(0, (value,), start, stop, stop) for value, start, stop in rows]


@pytest.mark.parametrize("function", SUMS)
@pytest.mark.parametrize("visitor", [*HUGE, math.inf, -math.inf, math.nan])
def test_a_visitor_leaves_no_error_behind(function: str, visitor: float) -> None:
    random = Random(1)
    small = [(random.uniform(-1, 1), t, t + 20) for t in range(60)]
    visits = [(visitor, t, t + 3) for t in (5, 6, 30, 38)]
    run = Run(call_of(function, DOUBLE), Pattern.WK)
    run_elements(run, passing([*small, *visits]), [7, 31, 33], {1, 2})
    emptied(run.accumulator)


@pytest.mark.parametrize("function", SUMS)
@settings(max_examples=60)
@given(data=st.data())
def test_extreme_doubles(function: str, data: st.DataObject) -> None:
    """Around the borders between limbs and big integers, and of the type."""
    border = st.builds(
        math.ldexp,
        st.sampled_from([1.0, -1.0, 1.5, 1.0000000000000002]),
        st.sampled_from([-1074, -1022, -119, -118, -117, -101, -100, 0, 146, 147, 172, 173, 1023]),
    )
    value = border | st.floats() | st.sampled_from(HUGE)
    rows = data.draw(st.lists(st.tuples(value, st.integers(0, 9), st.integers(1, 6)), max_size=12))
    run = Run(call_of(function, DOUBLE), Pattern.WK)
    cuts = sorted(data.draw(st.sets(st.integers(0, 12), max_size=3)))
    elements = passing([(x, start, start + length) for x, start, length in rows])
    run_elements(run, elements, cuts, data.draw(st.sets(st.integers(0, 3))))
    emptied(run.accumulator)


def test_variance_keeps_its_digits_beside_a_large_mean() -> None:
    rows = [(1e15 + t % 3, t, t + 9) for t in range(40)]
    run_elements(Run(call_of("var_samp", DOUBLE), Pattern.WKS), passing(rows), [20], {1})


@pytest.mark.parametrize("value", [0.1, 1e15 + 0.3, 1e-30, 1e30])
def test_variance_of_equal_values_is_zero(value: float) -> None:
    rows = [(value, t, t + 9) for t in range(40)]
    run_elements(Run(call_of("stddev_pop", DOUBLE), Pattern.WKS), passing(rows), [20], {1})


def test_thousands_of_roundings_do_not_add_up() -> None:
    """0.1 enters and leaves so often that a plain sum would drift."""
    rows = [(0.1, t, t + 2) for t in range(4000)] + [(1e16, t, t + 1) for t in range(0, 4000, 3)]
    run = Run(call_of("sum", DOUBLE), Pattern.WK)
    run_elements(run, passing(rows), [1000], {1})
    assert run.points == 4002


def test_extreme_doubles_are_forgotten() -> None:
    run = Run(call_of("var_pop", DOUBLE), Pattern.STR)
    extremes: Extremes = run.accumulator.extremes  # type: ignore[attr-defined]
    run.prepare(rows := passing([(1e300, 0, 5), (-1e300, 1, 5), (1.0, 0, INFINITY)]))
    run.block(rows, [])
    assert run.accumulator.state_bytes > 0
    assert extremes.groups[0].rows == 2
    run.block([], rows[:2])
    assert not extremes.groups
