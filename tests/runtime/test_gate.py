"""Rows that no filter lets pass are left out as they come; nothing but the time shows it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.operators.block import Block, arriving
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime import prefilter as gate
from penstock.runtime.lane import Lane
from penstock.session import Session

DECLARED = "CREATE STREAM a (ts BIGINT, k BIGINT, v BIGINT, WATERMARK FOR ts AS ts)"
FEW = "SELECT k, COUNT(*) AS n FROM a [RANGE 90] WHERE v = 3 GROUP BY k"
NARROW = "SELECT k FROM a [RANGE 90] WHERE k = 7"
COUNTED = "SELECT k, v FROM a [ROWS 3] WHERE v < 40"
MOST = "SELECT k FROM a [RANGE 90] WHERE v > 3"
FAILS = "SELECT k FROM a [RANGE 90] WHERE 100 / (v - 5) = 50"
WHOLE = "SELECT DISTINCT v FROM a [RANGE 90]"


def lane_of(*texts: str) -> Lane:
    session = Session()
    session.execute(DECLARED)
    plans = {f"q{number}": session.bind(text).plan for number, text in enumerate(texts)}
    return Lane(operator_graph(plans_to_run(plans)))


def rows(size: int, start: int) -> Block:
    """Rows out of order by up to 40 ticks, some of one instant."""
    random = np.random.default_rng(start)
    ts = np.arange(start, start + size) // 2 + random.integers(0, 40, size)
    columns = (ts, random.integers(0, 40, size), random.integers(0, 100, size))
    return arriving(tuple(pa.array(one) for one in columns), ts)


def feed(lane: Lane, saved_after: int = -1) -> dict[str, Counter[Any]]:
    """What comes of six feeds, each element with its interval and sign."""
    found: dict[str, Counter[Any]] = {}
    for number in range(7):
        start = 3000 * number
        results = (
            lane.feed({"a": rows(3000, start)}, {"a": start // 2}) if number < 6 else lane.finish()
        )
        for query, blocks in results.blocks.items():
            for one in blocks:
                values = zip(*(column.to_pylist() for column in one.columns), strict=True)
                elements = zip(
                    one.ts.tolist(), one.te.tolist(), one.signs.tolist(), values, strict=True
                )
                found.setdefault(query, Counter()).update(elements)
        if number == saved_after:
            again = Lane(lane.graph)
            again.restore(lane.segments())
            lane = again
    return found


@pytest.mark.parametrize(
    "texts",
    [(FEW,), (NARROW,), (COUNTED,), (MOST,), (FAILS,), (FEW, NARROW), (FEW, WHOLE), (FEW, FAILS)],
    ids=str,
)
def test_results_failures_and_counts_are_as_without(
    monkeypatch: pytest.MonkeyPatch, texts: tuple[str, ...]
) -> None:
    gated = lane_of(*texts)
    found = feed(gated)
    restored = feed(lane_of(*texts), saved_after=2)
    monkeypatch.setattr(gate, "LEAST_ROWS", 1_000_000)
    plain = lane_of(*texts)
    assert found == restored == feed(plain)
    assert any(found.values())
    for query in found:
        assert gated.failures(query) == plain.failures(query)
    counts = [
        [(one.label, one.rows_in, one.rows_out, one.state_rows) for one in lane.reports()]
        for lane in (gated, plain)
    ]
    assert counts[0] == counts[1]


def waiting(*texts: str) -> int:
    lane = lane_of(*texts)
    lane.feed({"a": rows(3000, 0)}, {"a": 0})
    return next(one.waiting for one in lane.reports() if one.label.startswith("Stream"))


def test_only_what_some_filter_lets_pass_waits() -> None:
    passed = int(np.count_nonzero(rows(3000, 0).columns[2].to_numpy() == 3))
    assert waiting(FEW) == passed
    assert passed < waiting(FEW, NARROW) < 300


def test_all_rows_wait_where_others_read_them_or_most_pass_or_some_fail() -> None:
    assert waiting(FEW, WHOLE) == 3000
    assert waiting(MOST) == 3000
    assert waiting(FAILS) == 3000
    assert waiting("SELECT k FROM a [RANGE 90] WHERE v = 3 AND k > 7") == 3000


def test_a_gate_is_there_again_when_the_query_that_read_all_rows_is_gone() -> None:
    lane = lane_of(FEW, WHOLE)
    lane.let_go(lane.graph.only(["q0"]))
    lane.feed({"a": rows(3000, 0)}, {"a": 0})
    reports = [one for one in lane.reports() if one.label.startswith("Stream")]
    assert reports[0].waiting < 100
