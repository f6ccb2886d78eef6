"""What accumulators keep: overflow, wide decimals, big texts, growth, and memory given back."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.accumulating import Element, Run, call_of, emptied, run_elements
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.types import BIGINT, INT, STRING, Type, decimal
from penstock.catalog.functions.widening import scaled_decimal
from penstock.operators.aggregate.accumulators.codes import PooledCodes
from penstock.operators.aggregate.accumulators.events import GroupEvents
from penstock.operators.aggregate.accumulators.pool import Pool, binary_of
from penstock.operators.aggregate.accumulators.staircase import Staircase

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.expressions import Value


def fed(run: Run, rows: list[tuple[Value, int, int]], cuts: list[int]) -> None:
    elements = [Element(0, (value,), start, stop, stop) for value, start, stop in rows]
    run_elements(run, elements, cuts, {1})


@pytest.mark.parametrize("type_", [BIGINT, decimal(38, 0), decimal(38, 4)], ids=str)
@pytest.mark.parametrize("function", ["sum", "avg"])
def test_sums_pass_through_overflow_and_come_back(type_: Type, function: str) -> None:
    """The judge counts the failures; on the way the sum is far out of the type."""

    def value(number: int) -> Value:
        return scaled_decimal(number, type_.scale) if type_.is_decimal else number

    most = 10**38 - 1 if type_.is_decimal else 2**63 - 1
    rows = [(value(most), t, t + 20) for t in range(10)]
    rows += [(value(-most), t, t + 20) for t in range(15, 30)]
    run = Run(call_of(function, type_), Pattern.WKS)
    fed(run, rows, [4, 12, 22])
    emptied(run.accumulator)


def test_means_of_decimals_round_halves_away_from_zero() -> None:
    rows: list[tuple[Value, int, int]] = [
        (Decimal(n).scaleb(-2), t, t + 4) for t, n in enumerate([1, 0, 0, -1, -2, 7, 0, 3])
    ]
    fed(Run(call_of("avg", decimal(38, 2)), Pattern.WKS), rows, [3])


@pytest.mark.parametrize("call", [call_of("max", STRING), call_of("count", STRING, distinct=True)])
@pytest.mark.parametrize("pattern", [Pattern.WK, Pattern.STR])
def test_big_texts(call: object, pattern: Pattern) -> None:
    rows: list[tuple[Value, int, int]] = [
        (("x" * 300_000) + str(t % 7), t, t + 3 + t % 2) for t in range(20)
    ]
    run = Run(call, pattern)  # type: ignore[arg-type]
    fed(run, rows, [5, 10, 15])
    emptied(run.accumulator)
    assert run.accumulator.state_bytes < 200_000


CHANGING = [
    call_of("max", STRING),
    call_of("min", BIGINT),
    call_of("median", BIGINT),
    call_of("count", STRING, distinct=True),
    call_of("sum", decimal(38, 2), distinct=True),
]


@pytest.mark.parametrize("pattern", [Pattern.WK, Pattern.STR])
@pytest.mark.parametrize("call", CHANGING, ids=str)
def test_memory_does_not_grow_with_the_stream(call: object, pattern: Pattern) -> None:
    """Ever new values through a window: the state stays as large as the window."""
    run = Run(call, pattern)  # type: ignore[arg-type]
    of = run.call.args[0].type
    sizes = []
    kept: list[Element] = []
    for block in range(30):
        numbers = range(block * 50, block * 50 + 50)
        entering = [Element(n % 3, (value_of(of)(n),), n, n + 100, n + 100) for n in numbers]
        run.prepare(entering)
        leaving = [one for one in kept if one.leaves < block * 50 + 50]
        run.block(entering, leaving)
        kept = [one for one in [*kept, *entering] if one not in leaving]
        sizes.append(run.accumulator.state_bytes)
    assert max(sizes[5:]) <= 2 * max(sizes[2:5])
    run.block([], kept)
    emptied(run.accumulator)
    assert run.accumulator.state_bytes < 50_000


def value_of(type_: Type) -> Callable[[int], Value]:
    if type_ == STRING:
        return lambda n: f"text {n * 7919 % 10007}" * (1 + n % 3)
    if type_.is_decimal:
        return lambda n: Decimal(n * 7919 % 10007)
    return lambda n: n * 7919 % 10007


@pytest.mark.parametrize("function", ["min", "max", "median"])
@pytest.mark.parametrize("distinct", [False, True])
def test_many_values_in_a_group(function: str, distinct: bool) -> None:
    """Enough for a tree of several levels, which then thins out and is rebuilt."""
    random = Random(3)
    run = Run(call_of(function, INT, distinct=distinct), Pattern.STR, random)
    elements = [
        Element(0, (random.randrange(3000),), 0, n % 7 if n % 50 else 9, INFINITY)
        for n in range(1, 4000)
    ]
    random.shuffle(elements)
    run_elements(run, elements, [1, 2, 3, 4, 5, 6, 7], {3, 6, 7})
    emptied(run.accumulator)


@settings(max_examples=60)
@given(rows=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), min_size=1, max_size=30))
def test_staircase_keeps_only_what_can_become_the_answer(rows: list[tuple[int, int]]) -> None:
    """A candidate is a value at an end beyond which nothing is as great."""
    run = Run(call_of("max", INT), Pattern.WK)
    assert isinstance(run.accumulator, Staircase)
    assert not run.accumulator.needs_departures
    elements = [Element(0, (value,), 0, end, end) for value, end in rows]
    run.prepare(elements)
    run.block(elements, [])
    expected = {
        (end, value)
        for value, end in rows
        if not any((v, e) != (value, end) and v >= value and e >= end for v, e in rows)
    }
    table = run.accumulator.segments()["candidates"].to_pydict()
    assert list(zip(table["end"], table["code"], strict=True)) == sorted(expected)


def test_dropped_rows_are_forgotten() -> None:
    for call in (call_of("max", STRING), call_of("median", decimal(30, 2))):
        for pattern in (Pattern.WK, Pattern.STR):
            run = Run(call, pattern)
            column = pa.array(["a", None, "b"])
            if call.function == "median":
                column = pa.array([Decimal(1), None, Decimal(2)], pa.decimal128(30, 2))
            payload = run.accumulator.prepare([column], 3)
            run.accumulator.drop(payload)
            emptied(run.accumulator)


def test_no_events() -> None:
    nothing = np.zeros(0, np.int64)
    events = GroupEvents(nothing, nothing, nothing.astype(np.int8), nothing, nothing)
    for call in CHANGING:
        accumulator = Run(call, Pattern.STR).accumulator
        payload = tuple(np.zeros(0, dtype) for dtype in accumulator.payload_types)
        values, failed = accumulator.sweep(events, payload)
        assert (len(values), failed) == (0, 0)


@settings(max_examples=60)
@given(data=st.data())
def test_pool(data: st.DataObject) -> None:
    """Against a counter: numbers stay, equal texts share one, what nobody holds is gone."""
    pool, held = Pool(), []
    for _ in range(data.draw(st.integers(1, 8))):
        texts = data.draw(st.lists(st.text(max_size=40), max_size=40))
        array = pa.array(texts, pa.string())
        numbers = pool.hold(*binary_of(array), np.ones(len(texts), np.bool_))
        held += list(zip(numbers.tolist(), texts, strict=True))
        assert len({number for number, _ in held}) == len({text for _, text in held})
        gone = data.draw(st.sets(st.integers(0, max(len(held) - 1, 0)))) if held else set()
        pool.release(np.array([held[i][0] for i in gone], np.int64))
        held = [one for i, one in enumerate(held) if i not in gone]
        if data.draw(st.booleans()):
            table, pool = pool.table(), Pool()
            pool.restore(table)
        codes = PooledCodes(STRING)
        codes.pool = pool
        known = np.ones(len(held), np.bool_)
        decoded = codes.decode(np.array([number for number, _ in held], np.int64), known)
        assert decoded.to_pylist() == [text for _, text in held]
        assert len(pool.table()) == len({text for _, text in held})
