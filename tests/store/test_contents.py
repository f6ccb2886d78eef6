"""Folded results make the same snapshots from then on."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block
from penstock.store.contents import folded

ELEMENT = st.tuples(
    st.sampled_from(["a", "b", None]),
    st.integers(0, 9),
    st.integers(1, 6) | st.none(),
    st.none() | st.integers(0, 5),
)


def elements(drawn: list[tuple[str | None, int, int | None, int | None]]) -> Block:
    """Rows with intervals, some withdrawn before their end."""
    rows, ts, te, sign = [], [], [], []
    for row, start, length, withdrawn in drawn:
        end = INFINITY if length is None else start + length
        rows.append(row)
        ts.append(start)
        te.append(end)
        sign.append(1)
        if withdrawn is not None and start + withdrawn < end:
            rows.append(row)
            ts.append(start + withdrawn)
            te.append(end)
            sign.append(-1)
    columns = (pa.array(rows, pa.string()),)
    return Block(columns, np.array(ts, np.int64), np.array(te, np.int64), np.array(sign, np.int8))


def snapshot(block: Block | None, at: int) -> Counter[object]:
    found: Counter[object] = Counter()
    if block is not None:
        for row, ts, te, sign in zip(
            block.columns[0].to_pylist(), block.ts, block.te, block.signs, strict=True
        ):
            if ts <= at < te:
                found[row] += int(sign)
    return Counter({row: copies for row, copies in found.items() if copies})


@given(st.lists(ELEMENT, max_size=12), st.integers(1, 12), st.integers(0, 12))
@settings(deadline=None)
def test_snapshots_from_the_clock_on_stay(
    drawn: list[tuple[str | None, int, int | None, int | None]], clock: int, cut: int
) -> None:
    block = elements(drawn)
    # Results come in several files; where they are cut does not matter.
    parts = [
        block.take(np.flatnonzero(np.arange(len(block)) < cut)),
        block.take(np.flatnonzero(np.arange(len(block)) >= cut)),
    ]
    left = folded(parts, clock)
    for at in range(clock - 1, 20):
        assert snapshot(left, at) == snapshot(block, at)


def test_what_has_ended_is_left_out() -> None:
    block = elements([("a", 0, 3, None), ("b", 0, 9, 2), ("a", 1, None, None)])
    left = folded([block], 5)
    assert left is not None
    assert left.columns[0].to_pylist() == ["a"]
    assert folded([], 5) is None
    assert folded([elements([("a", 0, 3, None)])], 5) is None
