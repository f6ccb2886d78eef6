"""Shedding: which rows stay, what they weigh, and when the input monitor decides so."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from penstock.reference.shedding import useful, weighed
from penstock.shedding.columns import NO_COLUMNS, SheddingColumns
from penstock.shedding.input_monitor import LEAST_ROWS, InputMonitor
from penstock.shedding.intake_rules import IntakeRules
from penstock.shedding.shedding import MOST_ONE_IN, Shedding, shedding_from

ROWS = 4000


def columns(draw: random.Random, rows: int = ROWS) -> tuple[pa.Array, ...]:
    """Few different values, so that many rows are equal."""
    return (
        pa.array([draw.choice([1, 2, None]) for _ in range(rows)], pa.int64()),
        pa.array([draw.choice(["a", "b", None]) for _ in range(rows)]),
        pa.array([draw.choice([True, False, None]) for _ in range(rows)]),
        pa.array([draw.choice([0.0, 0.5, 1.0, float("nan"), None]) for _ in range(rows)]),
    )


def bag(rows: tuple[pa.Array, ...], which: np.ndarray) -> list[str]:
    table = pa.table(list(rows), names=list("abcd")).filter(pa.array(which))
    return sorted(map(str, table.to_pylist()))


@pytest.mark.parametrize("one_in", [2, 8, 64])
def test_about_as_many_rows_stay_by_chance_as_should(one_in: int) -> None:
    draw = random.Random(one_in)
    kept = [
        int(Shedding("random", one_in).stay(columns(draw), ROWS, NO_COLUMNS, seed).sum())
        for seed in range(20)
    ]
    expected, deviation = 20 * ROWS / one_in, np.sqrt(20 * ROWS * (1 - 1 / one_in) / one_in)
    assert abs(sum(kept) - expected) < 4 * deviation


def test_equal_rows_stay_or_not_each_by_itself() -> None:
    equal = (pa.array([7] * ROWS), pa.array([None] * ROWS, pa.string()))
    kept = Shedding("random", 4).stay(equal, ROWS, NO_COLUMNS, 0)
    assert abs(int(kept.sum()) - ROWS / 4) < 4 * np.sqrt(ROWS * 3 / 16)


def test_weights_estimate_counts_and_sums_on_average_and_say_by_how_much_they_are_off() -> None:
    draw = np.random.default_rng(5)
    own = SheddingColumns(utility=None, weight=2)
    off: dict[str, list[float]] = {"count": [], "sum": []}
    variance: dict[str, list[float]] = {"count": [], "sum": []}
    for seed in range(600):
        exact, found = np.zeros(2), np.zeros((0, 2))
        for batch in range(6):
            rows, shedding = int(draw.integers(20, 200)), Shedding("random", 2 ** (batch % 5))
            values = draw.integers(0, 30, rows)
            block = (pa.array(draw.integers(0, 9, rows)), pa.array(values), pa.array([1] * rows))
            stay = pa.array(shedding.stay(block, rows, own, 10_000 * seed + batch))
            kept = shedding.weighed(tuple(one.filter(stay) for one in block), own)
            exact += (rows, values.sum())
            found = np.vstack([found, np.column_stack([kept[2], kept[1]])])
        weights = found[:, 0].astype(float)
        for name, value, true in zip(off, (np.ones(len(found)), found[:, 1]), exact, strict=True):
            off[name].append((weights * value).sum() - true)
            variance[name].append((weights * (weights - 1) * value * value).sum())
    for name, errors in off.items():
        deviation = np.std(errors)
        assert abs(np.mean(errors)) < 4 * deviation / np.sqrt(len(errors)), name
        # Of 600 errors the variance is known to 6 percent.
        assert deviation**2 / np.mean(variance[name]) == pytest.approx(1, abs=0.24), name


def test_rows_that_stay_depend_on_no_order_and_no_division_by_key() -> None:
    draw = random.Random(5)
    rows, shedding = columns(draw), Shedding("random", 4)
    whole = bag(rows, shedding.stay(rows, ROWS, NO_COLUMNS, 3))
    order = np.array(draw.sample(range(ROWS), ROWS))
    turned = tuple(one.take(pa.array(order)) for one in rows)
    assert bag(turned, shedding.stay(turned, ROWS, NO_COLUMNS, 3)) == whole
    apart: list[str] = []
    for key in ("a", "b", None):
        chosen = pa.array([one == key for one in rows[1].to_pylist()])
        part = tuple(one.filter(chosen) for one in rows)
        apart += bag(part, shedding.stay(part, len(part[0]), NO_COLUMNS, 3))
    assert sorted(apart) == whole
    assert bag(rows, shedding.stay(rows, ROWS, NO_COLUMNS, 4)) != whole


@pytest.mark.parametrize("one_in", [1, 2, 4, 1024])
def test_rows_stay_by_their_utility_as_the_reference_says(one_in: int) -> None:
    draw = random.Random(one_in)
    values = [draw.choice([None, -1.0, 0.0, 0.5, 0.75, 1023 / 1024, 1.0, 7.0]) for _ in range(ROWS)]
    rows = (pa.array(range(ROWS)), pa.array(values))
    kept = Shedding("semantic", one_in).stay(rows, ROWS, SheddingColumns(utility=1), 0)
    expected = useful(list(enumerate(values)), 1, one_in)
    assert kept.tolist() == (expected if one_in > 1 else [True] * ROWS)
    assert not all(expected)


def test_a_stream_that_says_nothing_of_utility_keeps_all_rows() -> None:
    rows = columns(random.Random(1))
    assert Shedding("semantic", 1024).stay(rows, ROWS, NO_COLUMNS, 0).all()


@pytest.mark.parametrize("type_", [pa.int64(), pa.float64()])
def test_rows_that_stay_weigh_more_as_the_reference_says(type_: pa.DataType) -> None:
    largest = 2**62 if pa.types.is_integer(type_) else 2**50
    weights = pa.array([1, 3, None, largest], type_)
    names = pa.array(["a", "b", "c", "d"])
    own = SheddingColumns(weight=1)
    found = Shedding("random", 8).weighed((names, weights), own)
    rows = list(zip(names.to_pylist(), weights.to_pylist(), strict=True))
    made = zip(*(one.to_pylist() for one in found), strict=True)
    assert list(made) == weighed(rows, 1, 8)
    assert Shedding("semantic", 8).weighed((names, weights), own)[1].equals(weights)


def test_decisions_are_written_down() -> None:
    shedding = Shedding("semantic", 16, keeps_rows=True)
    assert shedding_from(shedding.to_json()) == shedding
    assert shedding_from(None) is None


def decisions(rules: IntakeRules, waiting: list[int]) -> list[int]:
    monitor = InputMonitor()
    found = [monitor.look(rules, one, 100_000) for one in waiting]
    return [1 if one is None else one.one_in for one in found]


def test_half_as_many_rows_stay_while_more_waits_than_may() -> None:
    rules = IntakeRules(shedding="random", bound=1000)
    assert decisions(rules, [0, 1001, 5000, 1000, 600, 500, 499, 1001, 0]) == [
        *(1, 2, 4, 4, 4, 4, 2, 4, 1),
    ]
    assert decisions(rules, [2000] * 20)[-1] == MOST_ONE_IN


def test_nothing_is_shed_unless_told_to() -> None:
    assert decisions(IntakeRules(queue_limit=10), [10_000] * 3) == [1, 1, 1]
    assert decisions(IntakeRules(shedding="random"), [10_000] * 3) == [1, 1, 1]
    assert decisions(IntakeRules(bound=10), [10_000] * 3) == [1, 1, 1]


def test_fewer_rows_are_taken_in_at_once_while_more_waits_than_may() -> None:
    rules, monitor = IntakeRules(queue_limit=1000), InputMonitor()
    seen = []
    for waiting in [10, 1001, 1001, 700, 400, 400, *[2000] * 20]:
        monitor.look(rules, waiting, 100_000)
        seen.append(monitor.most_rows)
    assert seen[:6] == [None, 50_000, 25_000, 25_000, 50_000, 100_000]
    assert seen[-1] == LEAST_ROWS
    for _ in range(20):
        monitor.look(rules, 0, 100_000)
    assert monitor.most_rows is None
