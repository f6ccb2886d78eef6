"""The join of many inputs: windows of all kinds over up to sixteen streams, and many rows."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from operators.join_model import Element, block_of, check_edge, elements_of, sent, snapshot, step_of
from operators.multi_join_model import Class, Shape, combined, grouping
from operators.multi_join_steps import by_first, common, run
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.operators.join.join import JoinOperator
from penstock.operators.multi_join.multi_join import Evaluation, Expiration, MultiJoin
from penstock.operators.operator import stepped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from operators.join_model import Row
    from penstock.operators.block import Block

INSTANTS, STEP = 30, 6


def mixed(inputs: int) -> Shape:
    """Neighbours agree on a column, and some that are not agree on another one.

    Windows of time, of rows, and of rows with one value take turns.
    """
    classes = [Class(pa.int64() if one % 2 else pa.string(), False) for one in range(inputs - 1)]
    members = [{one, one + 1} for one in range(inputs - 1)]
    classes.append(Class(pa.float64(), True))
    members.append({0, inputs // 2, inputs - 1})
    agreements = [
        tuple(one for one, each in enumerate(members) if number in each) for number in range(inputs)
    ]
    patterns = [(Pattern.WKS, Pattern.STR, Pattern.STR)[number % 3] for number in range(inputs)]
    thetas = ((0, 3), (1, inputs // 2, inputs - 1))
    return Shape(tuple(classes), tuple(agreements), tuple(patterns), thetas)


def arrivals(shape: Shape, number: int, rng: np.random.Generator) -> list[tuple[int, Row]]:
    """Rows of a stream and when they come; most have the value that is frequent in all columns."""
    values = {pa.int64(): (7, 8, None), pa.string(): ("a", "b", None), pa.float64(): (0.5, None)}
    found = []
    for ts in np.flatnonzero(rng.random(INSTANTS) < 0.25).tolist():
        keys = (values[one] for one in shape.types(number)[:-1])
        row = (one[0] if rng.random() < 0.8 else one[rng.integers(len(one))] for one in keys)
        found.append((ts, (*row, int(rng.integers(3)))))
    return found


def windowed(number: int, rows: Sequence[tuple[int, Row]]) -> list[Element]:
    """The elements of the window over a stream: the last 12 instants, 3 rows, or 2 of a value."""
    if number % 3 == 0:
        return [Element(row, ts, ts + 12) for ts, row in rows]
    found = []
    last: dict[object, deque[Row]] = defaultdict(deque)
    for ts, row in rows:
        value = row[0] if number % 3 == 2 else None
        last[value].append(row)
        if len(last[value]) > (2 if number % 3 == 2 else 3):
            found.append(Element(last[value].popleft(), ts, INFINITY, -1))
        found.append(Element(row, ts, INFINITY))
    return found


@pytest.mark.parametrize("evaluation", ["eager", "lazy"])
@pytest.mark.parametrize("inputs", [7, 11, 16])
def test_many_windows_of_all_kinds(inputs: int, evaluation: Evaluation) -> None:
    rng = np.random.default_rng(inputs)
    shape = mixed(inputs)
    edges = [windowed(one, arrivals(shape, one, rng)) for one in range(inputs)]
    orders = [
        tuple(rng.permutation([one for one in range(inputs) if one != origin]).tolist())
        for origin in range(inputs)
    ]
    sides = [shape.side(number) for number in range(inputs)]
    join = MultiJoin(sides, shape.agreements, shape.conditions(), orders, evaluation=evaluation)
    found = []
    with grouping():
        for clock in range(STEP, INSTANTS + 1, STEP):
            blocks = []
            for port, edge in enumerate(edges):
                step = [one for one in edge if clock - STEP <= one.ts < clock]
                signed = shape.patterns[port] is Pattern.STR
                blocks.append(block_of(step, shape.types(port), signed))
            found += sent(join, clock, *blocks)
    check_edge(found, True)
    there = 0
    for instant in range(0, INSTANTS, 3):
        expected = combined(shape, [snapshot(edge, instant) for edge in edges])
        assert snapshot(found, instant) == expected
        there += expected.total()
    assert there > 50


def strict_steps(inputs: int, steps: int) -> list[list[Block]]:
    """Five hundred rows in each step; in every fourth, most of what is there is withdrawn."""
    rng = np.random.default_rng(11)
    made, live = [], [list[Element]() for _ in range(inputs)]
    for step in range(steps):
        blocks = []
        for one in range(inputs):
            share = 0.8 if step % 4 == 3 else 0.05
            there = [each for each in live[one] if each.te > 100 * step + 60]
            drawn = rng.random(len(there)) < share
            gone = [each for each, is_gone in zip(there, drawn, strict=True) if is_gone]
            live[one] = [each for each, is_gone in zip(there, drawn, strict=True) if not is_gone]
            times = np.sort(rng.integers(100 * step, 100 * step + 100, 500)).tolist()
            keys = rng.integers(0, 400, 500).tolist()
            new = [
                Element((key, ts), ts, INFINITY if key % 2 else ts + 150)
                for key, ts in zip(keys, times, strict=True)
            ]
            at = 100 * step + 50
            blocks.append(
                block_of(
                    [*new, *(Element(each.row, at, each.te, -1) for each in gone)],
                    [pa.int64()] * 2,
                    True,
                )
            )
            live[one] += new
        made.append(blocks)
    return made


def test_bursts_of_withdrawals() -> None:
    steps = strict_steps(3, 8)
    first = JoinOperator(by_first(Pattern.STR), by_first(Pattern.STR))
    second = JoinOperator(by_first(Pattern.STR, 4), by_first(Pattern.STR))
    expected: Counter[Element] = Counter()
    for number, blocks in enumerate(steps, 1):
        pairs = step_of(first, 100 * number, *blocks[:2])
        made = stepped(second, [pairs, blocks[2:]], 100 * number)
        expected.update(one for block in made for one in elements_of(block))
    ways: list[tuple[Evaluation, Expiration]] = [("eager", "lazy"), ("lazy", "eager")]
    for evaluation, expiration in ways:
        join = common(3, Pattern.STR, evaluation=evaluation, expiration=expiration, portion=400)
        with grouping():
            assert run(join, steps, 100) == expected
    assert sum(one.sign > 0 for one in expected) > 5_000
    assert sum(one.sign < 0 for one in expected) > 5_000
