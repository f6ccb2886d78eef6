"""The anti-join against its definition on snapshots."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pyarrow as pa
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
from penstock.operators.join.anti import AntiJoinOperator
from penstock.operators.join.join_sides import JoinSide

KEYS = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["a", None]))
TYPES = [pa.int64(), pa.string()]


@st.composite
def coverage(draw: st.DrawFn, signed: bool) -> list[Element]:
    """Each key is covered in stretches, some of them cut, some withdrawn before their end."""
    found = []
    for key in draw(st.lists(KEYS, unique=True)):
        bounds = sorted(draw(st.sets(st.integers(0, 25), max_size=8)))
        bounds = [BEGINNING, *bounds] if signed and draw(st.booleans()) else bounds
        for begin, end in pairwise(bounds):
            kind = draw(st.sampled_from(["gap", "plain", "plain", "withdrawn"]))
            if kind == "gap":
                continue
            te = end
            if signed and kind == "withdrawn":
                te = draw(st.sampled_from([end + 3, INFINITY]))
                found.append(Element(key, end, te, -1))
            found.append(Element(key, begin, te))
    return found


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_rows_are_out_while_their_key_is_covered(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(list(Pattern)))
    signed = data.draw(st.booleans())
    nulls = data.draw(st.tuples(st.booleans(), st.booleans()))
    at_once = data.draw(st.sampled_from([1, 2, 1000]))
    types = [*TYPES, pa.int32()]
    left = data.draw(
        edges(pattern, st.tuples(KEYS, st.integers(0, 1)).map(lambda x: (*x[0], x[1])))
    )
    cover = data.draw(coverage(signed))

    def make() -> AntiJoinOperator:
        side = JoinSide(types, lambda block: block.columns[:2], nulls, pattern, 8, 4)
        right = JoinSide(TYPES, lambda block: block.columns, nulls, Pattern.STR, 8, 4)
        return AntiJoinOperator(side, right, at_once)

    run = Run(make, [types, TYPES], [pattern is Pattern.STR, signed])
    found = run.results(data, [left, cover])

    check_edge(found, signed=True)
    for instant in range(-1, HORIZON):
        covered = snapshot(cover, instant)
        assert set(covered.values()) <= {1}
        wanted = {
            row: copies
            for row, copies in snapshot(left, instant).items()
            if row[:2] not in covered
            or any(key is None and not null for key, null in zip(row, nulls, strict=False))
        }
        assert snapshot(found, instant) == Counter(wanted)
    if all(one.te < INFINITY for one in left + cover):
        assert run.last.state_rows == 0


def simple() -> AntiJoinOperator:
    side = JoinSide([pa.int64()], lambda block: block.columns, (False,), Pattern.STR)
    return AntiJoinOperator(side, side)


def fed(
    join: AntiJoinOperator, left: list[Element], cover: list[Element], clock: int
) -> list[Element]:
    return sent(join, clock, *(block_of(one, [pa.int64()], True) for one in (left, cover)))


def test_a_row_goes_when_its_key_is_covered_and_comes_back() -> None:
    join = simple()
    assert fed(join, [Element((1,), 0, 9)], [], 1) == [Element((1,), 0, 9)]
    assert fed(join, [], [Element((1,), 2, 4)], 3) == [Element((1,), 2, 9, -1)]
    assert fed(join, [], [], 10) == [Element((1,), 4, 9)]


def test_what_comes_and_goes_in_one_step_is_sent_with_its_interval() -> None:
    found = fed(simple(), [Element((1,), 0, 9)], [Element((1,), 2, 4)], 10)
    assert found == [Element((1,), 0, 2), Element((1,), 4, 9)]
    left = [Element((1,), 0, 9), Element((1,), 3, 9, -1)]
    assert fed(simple(), left, [], 10) == [Element((1,), 0, 3)]


def test_what_would_never_end_has_its_interval_or_is_withdrawn() -> None:
    join = simple()
    found = fed(join, [Element((1,), 0, INFINITY)], [Element((1,), 2, 4)], 10)
    assert found == [Element((1,), 0, 2), Element((1,), 4, INFINITY)]
    assert fed(join, [], [Element((1,), 12, 14)], 13) == [Element((1,), 12, INFINITY, -1)]


def test_one_cover_after_the_other_changes_nothing() -> None:
    join = simple()
    assert fed(join, [Element((1,), 2, 9)], [Element((1,), 2, 5)], 5) == []
    assert fed(join, [], [Element((1,), 5, 7)], 7) == []
    assert fed(join, [], [], 8) == [Element((1,), 7, 9)]


def test_a_row_withdrawn_at_the_instant_its_cover_ends_does_not_come_back() -> None:
    left = [Element((1,), 0, 9), Element((1,), 3, 9, -1)]
    assert fed(simple(), left, [Element((1,), 0, 3)], 10) == []


def test_state_does_not_grow_with_the_stream() -> None:
    """Covers that would end far off are withdrawn; keys are always new."""
    join, sizes = simple(), []
    for start in range(0, 20_000, 500):
        times = range(start, start + 500)
        left = [Element((t,), t, t + 100) for t in times]
        cover = [Element((t,), t, t + 10**9) for t in times]
        ends = [Element((t,), t + 1, t + 10**9, -1) for t in times if (t + 1) % 500]
        ends += [Element((start - 1,), start, start - 1 + 10**9, -1)] if start else []
        fed(join, left, cover + ends, start + 500)
        sizes.append(join.state_bytes)
    assert max(sizes[20:]) <= max(sizes[:20])
