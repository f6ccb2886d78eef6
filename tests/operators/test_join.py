"""The join against its definition on snapshots."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.join_model import (
    HORIZON,
    Element,
    Row,
    Run,
    block_of,
    check_edge,
    edges,
    elements_of,
    plain,
    sent,
    snapshot,
    step_of,
)
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.errors import InternalError
from penstock.operators.block import Block
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_sides import JoinSide

if TYPE_CHECKING:
    from collections.abc import Sequence

Step = tuple[int, list[Element], list[Element]]
PATTERNS = st.sampled_from(list(Pattern))
POOLS: dict[pa.DataType, list[Any]] = {
    pa.int32(): [1, 2, None],
    pa.int64(): [1, 2**40, None],
    pa.float64(): [1.5, 0.0, -0.0, float("nan"), None],
    pa.string(): ["", "a", "a longer one", None],
    pa.decimal128(20, 2): [Decimal("1.25"), Decimal("-1.25"), None],
    pa.bool_(): [True, False, None],
}


def less(columns: Sequence[pa.Array], length: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The last column of the left side is less than the last of the right."""
    assert all(len(column) == length for column in columns)
    values = [column.to_numpy(zero_copy_only=False) for column in columns]
    return np.asarray(values[len(values) // 2 - 1] < values[-1])


def equal(left: Any, right: Any, null_matches: bool) -> bool:
    if left is None or right is None:
        return null_matches and left is right
    return plain((left,)) == plain((right,))


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_a_join_is_the_join_of_every_snapshot(data: st.DataObject) -> None:
    key_types = data.draw(st.lists(st.sampled_from(list(POOLS)), max_size=2))
    nulls = tuple(data.draw(st.booleans()) for _ in key_types)
    residual = less if data.draw(st.booleans()) else None
    types = [*key_types, pa.int64()]
    width = len(key_types)
    rows = st.tuples(*(st.sampled_from(POOLS[one]) for one in key_types), st.integers(0, 2))
    patterns = data.draw(st.tuples(PATTERNS, PATTERNS))
    one, other = (
        JoinSide(types, lambda block: block.columns[:width], nulls, pattern, 8, 4)
        for pattern in patterns
    )
    at_once = data.draw(st.sampled_from([1, 2, 1000]))
    strict = [pattern is Pattern.STR for pattern in patterns]
    run = Run(lambda: JoinOperator(one, other, residual, at_once), [types, types], strict)
    left, right = (data.draw(edges(pattern, rows)) for pattern in patterns)

    found = run.results(data, [left, right])

    check_edge(found, any(strict))
    for instant in range(-1, HORIZON):
        assert snapshot(found, instant) == joined(
            snapshot(left, instant), snapshot(right, instant), nulls, residual is not None
        )
    if all(element.te < INFINITY for element in left + right):
        assert run.last.state_rows == 0


def joined(
    left: Counter[Row], right: Counter[Row], nulls: tuple[bool, ...], residual: bool
) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for one, copies in left.items():
        for other, more in right.items():
            keys = zip(one[:-1], other[:-1], nulls, strict=True)
            if all(equal(*key) for key in keys) and (not residual or one[-1] < other[-1]):
                found[one + other] += copies * more
    return found


def by_first(pattern: Pattern, type_: pa.DataType | None = None) -> JoinSide:
    types = [type_ or pa.int64()]
    return JoinSide(types, lambda block: block.columns, (False,), pattern)


def test_no_result_is_signed_unless_an_input_is_strict() -> None:
    for right, signed in ((Pattern.WK, False), (Pattern.STR, True)):
        join = JoinOperator(by_first(Pattern.WKS), by_first(right))
        left_rows = block_of([Element((1,), 0, 5)], [pa.int64()], False)
        right_rows = block_of([Element((1,), 1, 3)], [pa.int64()], signed)
        (block,) = step_of(join, 4, left_rows, right_rows)
        assert (block.sign is not None) == signed
        assert elements_of(block) == [Element((1, 1), 1, 3)]


def test_a_product_comes_in_portions() -> None:
    sizes = []

    def condition(columns: Sequence[pa.Array], length: int) -> np.ndarray[Any, Any]:
        sizes.append(length)
        return np.zeros(length, np.bool_)

    side = JoinSide([pa.int64()], lambda _: (), (), Pattern.WKS)
    join = JoinOperator(side, side, condition, pairs_at_once=1000)
    rows = [Element((one,), one, one + 500) for one in range(100)]
    assert sent(join, 100, *[block_of(rows, [pa.int64()], False)] * 2) == []
    assert sum(sizes) == 100 * 100
    assert max(sizes) == 1000


def test_withdrawing_what_is_not_there_is_refused() -> None:
    for pattern in (Pattern.STR, Pattern.WKS):
        join = JoinOperator(by_first(pattern), by_first(Pattern.WKS))
        withdrawn = block_of([Element((1,), 0, 5, -1)], [pa.int64()], True)
        with pytest.raises(InternalError, match="not there"):
            step_of(join, 4, withdrawn, withdrawn.stretch(0, 0))


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK, Pattern.STR])
@pytest.mark.parametrize("type_", [pa.int64(), pa.string()])
def test_state_does_not_grow_with_the_stream(pattern: Pattern, type_: pa.DataType) -> None:
    """New keys all the time, a window of 100 ticks; strict rows are withdrawn, ending far off."""
    join = JoinOperator(by_first(pattern, type_), by_first(pattern, type_))
    sizes = []
    for start in range(0, 20_000, 500):
        step_of(join, start + 500, *[passing(pattern, type_, start)] * 2)
        sizes.append(join.state_bytes)
    assert 2 * 99 <= join.state_rows <= 2 * 100
    assert max(sizes[20:]) <= max(sizes[:20])


def passing(pattern: Pattern, type_: pa.DataType, start: int) -> Block:
    values, ts = np.arange(start, start + 500), np.arange(start, start + 500)
    column = pa.array(values).cast(type_)
    if pattern is not Pattern.STR:
        return Block((column,), ts, ts + 100)
    old = values[values >= 100] - 100
    both = pa.concat_arrays([column, pa.array(old).cast(type_)])
    sign = np.repeat(np.array([1, -1], np.int8), [len(ts), len(old)])
    begin, born = np.concatenate([ts, old + 100]), np.concatenate([ts, old])
    return Block((both,), begin, born + 10**9, sign)


def fed(join: JoinOperator, steps: Sequence[Step]) -> list[Element]:
    """What comes of steps: the clock, left rows (signed) and right rows."""
    found = []
    for clock, left, right in steps:
        blocks = block_of(left, [pa.int64()], True), block_of(right, [pa.int64()], False)
        found += sent(join, clock, *blocks)
    return found


def test_a_place_taken_over_is_not_given_up_when_the_former_row_would_have_ended() -> None:
    join = JoinOperator(by_first(Pattern.STR), by_first(Pattern.WKS))
    found = fed(
        join,
        [
            (3, [Element((1,), 0, 10), Element((1,), 2, 10, -1)], []),
            (12, [Element((2,), 3, 20)], []),
            (14, [], [Element((2,), 13, 15)]),
        ],
    )
    assert found == [Element((2, 2), 13, 15)]


def test_rows_leave_the_middle_of_a_chain() -> None:
    join = JoinOperator(by_first(Pattern.WK), by_first(Pattern.WKS))
    steps: list[Step] = [(1, [Element((1,), 0, te) for te in (20, 4, 30, 8, 12)], [])]
    steps += [(t + 1, [], [Element((1,), t, t + 1)]) for t in (3, 5, 9, 15, 25, 35)]
    found = fed(join, steps)
    counts = Counter(one.ts for one in found)
    assert counts == {3: 5, 5: 4, 9: 3, 15: 2, 25: 1}


def test_rows_that_begin_together_may_end_apart_in_a_fifo() -> None:
    """As under RANGE w SLIDE s, whatever their order in the block."""
    for ends in ((6, 9), (9, 6)):
        join = JoinOperator(by_first(Pattern.WKS), by_first(Pattern.WKS))
        found = fed(join, [(8, [Element((1,), 3, te) for te in ends], [Element((1,), 7, 8)])])
        assert found == [Element((1, 1), 7, 8)]
