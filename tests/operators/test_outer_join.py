"""Outer joins against their definition on snapshots."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.join_model import (
    HORIZON,
    Element,
    Run,
    block_of,
    check_edge,
    edges,
    sent,
    snapshot,
)
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import InternalError
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.join.outer import OuterJoinOperator

if TYPE_CHECKING:
    from operators.join_model import Row

LEFT, RIGHT, FULL = (True, False), (False, True), (True, True)
KEYS = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["a", None]))
TYPES = ([pa.int64(), pa.string(), pa.int32()], [pa.int32(), pa.int64(), pa.string()])
LEFT_ROWS = st.tuples(KEYS, st.integers(0, 1)).map(lambda x: (*x[0], x[1]))
RIGHT_ROWS = st.tuples(KEYS, st.integers(0, 1)).map(lambda x: (x[1], *x[0]))


def outer(
    left: Counter[Row], right: Counter[Row], padded: tuple[bool, bool], nulls: tuple[bool, bool]
) -> Counter[Row]:
    """The definition: pairs, and rows without a partner beside NULLs."""

    def matches(one: Row, other: Row) -> bool:
        pairs = zip(one[:2], other[1:], nulls, strict=True)
        return all(a == b and (a is not None or null) for a, b, null in pairs)

    found: Counter[Row] = Counter()
    for one, copies in left.items():
        for other, others in right.items():
            if matches(one, other):
                found[(*one, *other)] += copies * others
        if padded[0] and not any(matches(one, other) for other in right):
            found[(*one, None, None, None)] += copies
    for other, others in right.items():
        if padded[1] and not any(matches(one, other) for one in left):
            found[(None, None, None, *other)] += others
    return found


@given(st.data())
@settings(deadline=None, max_examples=300)
def test_pairs_and_rows_alone(data: st.DataObject) -> None:
    patterns = data.draw(st.tuples(*[st.sampled_from(list(Pattern))] * 2))
    padded = data.draw(st.sampled_from([LEFT, RIGHT, FULL]))
    nulls = data.draw(st.tuples(st.booleans(), st.booleans()))
    at_once = data.draw(st.sampled_from([1, 2, 1000]))
    inputs = [
        data.draw(edges(pattern, rows))
        for pattern, rows in zip(patterns, (LEFT_ROWS, RIGHT_ROWS), strict=True)
    ]

    def make() -> OuterJoinOperator:
        left = JoinSide(TYPES[0], lambda block: block.columns[:2], nulls, patterns[0], 8, 4)
        right = JoinSide(TYPES[1], lambda block: block.columns[1:], nulls, patterns[1], 8, 4)
        return OuterJoinOperator(left, right, padded, at_once)

    run = Run(make, TYPES, [pattern is Pattern.STR for pattern in patterns])
    found = run.results(data, inputs)

    check_edge(found, signed=True)
    for instant in (BEGINNING, *range(-1, HORIZON)):
        left, right = (snapshot(edge, instant) for edge in inputs)
        assert snapshot(found, instant) == outer(left, right, padded, nulls), instant
    if all(one.te < INFINITY for edge in inputs for one in edge):
        assert run.last.state_rows == 0


def simple(pattern: Pattern, padded: tuple[bool, bool] = FULL) -> OuterJoinOperator:
    side = JoinSide([pa.int64()], lambda block: block.columns, (False,), pattern)
    return OuterJoinOperator(side, side, padded)


def fed(
    join: OuterJoinOperator, left: list[Element], right: list[Element], clock: int
) -> list[Element]:
    blocks = []
    for elements in (left, right):
        signed = any(one.sign < 0 for one in elements)
        blocks.append(block_of(elements, [pa.int64()], signed))
    found = sent(join, clock, *blocks)
    return sorted(found, key=lambda one: (one.ts, one.sign, str(one.row)))


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK, Pattern.STR])
def test_a_row_is_alone_before_and_after_its_partners(pattern: Pattern) -> None:
    found = fed(simple(pattern), [Element((1,), 0, 9)], [Element((1,), 2, 4)], 10)
    assert found == [
        Element((1, None), 0, 9),
        Element((1, None), 2, 9, -1),
        Element((1, 1), 2, 4),
        Element((1, None), 4, 9),
    ]


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK, Pattern.STR])
def test_one_partner_after_the_other_leaves_no_gap_across_steps(pattern: Pattern) -> None:
    join = simple(pattern, LEFT)
    assert fed(join, [Element((1,), 2, 9)], [Element((1,), 2, 5)], 5) == [Element((1, 1), 2, 5)]
    assert fed(join, [], [Element((1,), 5, 7)], 7) == [Element((1, 1), 5, 7)]
    assert fed(join, [], [], 8) == [Element((1, None), 7, 9)]


def test_rows_that_begin_together_are_never_alone() -> None:
    found = fed(simple(Pattern.WKS), [Element((1,), 3, 5)], [Element((1,), 3, 5)], 4)
    assert found == [Element((1, 1), 3, 5)]


def test_a_row_withdrawn_at_the_instant_its_partner_ends_does_not_stand_alone() -> None:
    left = [Element((1,), 0, 9), Element((1,), 3, 9, -1)]
    found = fed(simple(Pattern.STR), left, [Element((1,), 0, 3)], 10)
    assert found == [Element((1, 1), 0, 3)]


def test_the_end_of_a_withdrawn_row_is_not_that_of_the_row_in_its_place() -> None:
    join = simple(Pattern.STR)
    fed(join, [Element((1,), 0, 9), Element((1,), 2, 9, -1)], [], 3)
    fed(join, [Element((1,), 4, 20)], [], 5)
    assert fed(join, [], [], 10) == []
    assert fed(join, [], [Element((1,), 11, 20)], 12) == [
        Element((1, None), 11, 20, -1),
        Element((1, 1), 11, 20),
    ]


def test_a_row_with_a_null_key_is_alone_and_not_kept() -> None:
    join = simple(Pattern.STR, RIGHT)
    assert fed(join, [Element((None,), 0, 9)], [Element((None,), 1, 9)], 5) == [
        Element((None, None), 1, 9)
    ]
    assert join.state_rows == 0
    assert fed(join, [], [Element((None,), 6, 9, -1)], 8) == [Element((None, None), 6, 9, -1)]


def test_what_is_not_there_cannot_be_withdrawn() -> None:
    with pytest.raises(InternalError, match="not there"):
        fed(simple(Pattern.STR), [Element((1,), 3, 9, -1)], [], 10)


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK, Pattern.STR])
def test_each_row_is_kept_once_and_state_does_not_grow(pattern: Pattern) -> None:
    join, sizes, rows = simple(pattern), [], []
    for start in range(0, 20_000, 500):
        times = range(start, start + 500)
        left = [Element((t,), t, t + 100) for t in times]
        right = [Element((t + 50,), t, t + 100) for t in times]
        fed(join, left, right, start + 500)
        rows.append(join.state_rows)
        sizes.append(join.state_bytes)
    # Those that end at the clock are there until the next step.
    assert set(rows) == {2 * 100}
    assert max(sizes[20:]) <= max(sizes[:20])


def test_room_after_a_burst_is_given_back() -> None:
    join = simple(Pattern.WK)
    fed(join, [Element((t,), t % 10, 20) for t in range(50_000)], [], 10)
    large = join.state_bytes
    for clock in range(30, 130):
        fed(join, [Element((clock,), clock - 1, clock + 5)], [], clock)
    assert join.state_bytes < large / 10
