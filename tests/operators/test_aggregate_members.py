"""MIN and MAX keep only rows that can still become the answer, in the operator as a whole."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from penstock.operators.block import Block, arriving
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.lane import Lane
from penstock.session import Session

ROWS, WINDOW, STEP = 20_000, 10_000, 100


def lane_of(text: str) -> Lane:
    session = Session()
    session.execute("CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT, WATERMARK FOR ts AS ts)")
    return Lane(operator_graph({"q": session.bind(text).plan}))


def block_of(ts: range, keys: list[int], values: list[int | None]) -> Block:
    columns = (pa.array(ts, pa.int64()), pa.array(keys, pa.int64()), pa.array(values, pa.int64()))
    return arriving(columns, np.array(ts, np.int64))


def state_rows(lane: Lane) -> int:
    return next(one.state_rows for one in lane.reports() if one.label.startswith("Aggregate"))


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        # Ten groups; of each one answer, which every row replaces.
        (f"SELECT k, MAX(ts) AS m FROM a [RANGE {WINDOW}] GROUP BY k", 250),
        # Values at random: of n rows about ln n can become the answer.
        (f"SELECT k, MAX(v) AS m, MIN(v) AS l FROM a [RANGE {WINDOW}] GROUP BY k", 1500),
        (f"SELECT MAX(v) AS m FROM a [RANGE {WINDOW}]", 200),
        # No value at all, or nothing asked of the rows: only the groups are known.
        (f"SELECT k, MAX(NULLIF(v, v)) AS m FROM a [RANGE {WINDOW}] GROUP BY k", 250),
        (f"SELECT k FROM a [RANGE {WINDOW}] GROUP BY k", 250),
    ],
)
def test_state_is_candidates_and_groups(text: str, limit: int) -> None:
    lane = lane_of(text)
    random = Random(5)
    most = 0
    for start in range(0, ROWS, STEP):
        ts = range(start, start + STEP)
        keys = [random.randrange(10) for _ in ts]
        lane.feed({"a": block_of(ts, keys, [random.randrange(10**6) for _ in ts])}, {"a": start})
        most = max(most, state_rows(lane))
    assert most < limit
    lane.finish()
    assert state_rows(lane) <= 1


def test_counting_needs_every_row() -> None:
    lane = lane_of(f"SELECT MAX(v) AS m, COUNT(*) AS n FROM a [RANGE {WINDOW}]")
    ts = range(5000)
    lane.feed({"a": block_of(ts, [1] * len(ts), list(ts))}, {"a": 5000})
    assert state_rows(lane) >= 5000


@pytest.mark.parametrize("value", [None, 7])
@pytest.mark.parametrize("call", ["MAX(v)", "MIN(v)"])
def test_a_group_goes_when_its_last_row_does(value: int | None, call: str) -> None:
    """Also if that row could never be the answer: it has no value, or a greater one ends before."""
    lane = lane_of(f"SELECT k, {call} AS m FROM a [RANGE 10] GROUP BY k")
    results = lane.feed({"a": block_of(range(1, 4), [1] * 3, [9, 8, value])}, {"a": 5})
    assert state_rows(lane) > 0
    results.extend(lane.feed({}, {"a": 14}))
    assert state_rows(lane) == 0
    there = [
        sum(int(one.signs[(one.ts <= at) & (at < one.te)].sum()) for one in results.blocks["q"])
        for at in range(15)
    ]
    assert there == [0] + [1] * 12 + [0, 0]
