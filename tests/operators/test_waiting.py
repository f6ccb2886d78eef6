"""Rows that wait, against a list of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.operators.block import Block, arriving, concatenated
from penstock.operators.waiting import Waiting

TIMES = st.lists(st.integers(0, 30), max_size=12)


def block_of(rows: list[tuple[int, str]]) -> Block:
    ts = np.array([ts for ts, _ in rows], np.int64)
    return arriving((pa.array([text for _, text in rows], pa.string()),), ts)


def rows_of(blocks: list[Block]) -> list[tuple[int, str]]:
    if not blocks:
        return []
    block = concatenated(blocks).by_time()
    return list(zip(block.ts.tolist(), block.columns[0].to_pylist(), strict=True))


@given(st.lists(st.tuples(TIMES, st.integers(0, 32), st.booleans()), max_size=10))
@settings(deadline=None)
def test_rows_come_out_when_the_clock_has_passed_them(
    steps: list[tuple[list[int], int, bool]],
) -> None:
    waiting, model, count = Waiting(), [], 0
    for times, clock, save in steps:
        new = [(ts, f"{count + number}" * (number % 3)) for number, ts in enumerate(times)]
        count += len(times)
        waiting.push(block_of(new))
        model += new
        due = [row for row in model if row[0] < clock]
        ts, sizes = waiting.due(clock)
        assert sorted(zip(ts.tolist(), sizes.tolist(), strict=True)) == sorted(
            (ts, len(text)) for ts, text in due
        )
        # Of one instant in the order they came.
        assert rows_of(waiting.take(clock)) == sorted(due, key=lambda row: row[0])
        model = [row for row in model if row[0] >= clock]
        assert len(waiting) == len(model)
        assert sorted(waiting.instants().tolist()) == sorted(ts for ts, _ in model)
        assert waiting.text >= sum(len(text) for _, text in model)
        assert (waiting.nbytes > 0) == bool(model)
        if save:
            saved, waiting = waiting.segments(), Waiting()
            if saved:
                waiting.restore(saved)


def test_a_large_block_is_not_copied_at_every_step() -> None:
    waiting = Waiting()
    waiting.push(block_of([(ts, "text") for ts in range(1000)]))
    first = waiting.take(10)[0].columns[0].buffers()[2].address
    shared = [waiting.take(ts)[0].columns[0].buffers()[2].address for ts in range(20, 400, 10)]
    assert set(shared) == {first}
