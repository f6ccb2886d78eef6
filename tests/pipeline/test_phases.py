"""Aggregates of all rows in two phases, on several lanes, against the reference evaluator."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from penstock_fuzz.check import check
from penstock_fuzz.lane_hosts import LaneHostContender
from penstock_fuzz.trial import FileProgram, StreamInput, Trial

STREAM = """CREATE STREAM s (ts BIGINT, k INT, n BIGINT, p DECIMAL(18, 2), d DOUBLE, b BOOLEAN,
    WATERMARK FOR ts AS ts);"""
QUERIES = (
    "SELECT COUNT(*) AS a, COUNT(n) AS b, SUM(n) AS c, AVG(n) AS d FROM s [RANGE 3]",
    "SELECT SUM(d) AS a, AVG(d) AS b, COUNT(d) AS c, MIN(d) AS e, MAX(p) AS f FROM s [RANGE 3]",
    "SELECT SUM(p) AS a, AVG(p) AS b, SUM(d) AS c, SUM(k) AS d FROM s [RANGE 3 SLIDE 2]",
    "SELECT BOOL_AND(b) AS a, BOOL_OR(b) AS b, COUNT_IF(b) AS c, AVG(d) AS d FROM s [UNBOUNDED]",
    "SELECT COUNT(DISTINCT d) AS a, SUM(DISTINCT d) AS b FROM s [RANGE 3]",
    "SELECT k, QUANTILE(DISTINCT n, 0.25) AS a FROM s [RANGE 3] GROUP BY k",
    "SELECT n % 2 AS g, AVG(p) AS a, SUM(d) AS b, COUNT(*) AS c FROM s [RANGE 3] GROUP BY n % 2",
)
WORD = 10**18 - 1
ROWS = some.lists(
    some.tuples(
        some.integers(0, 3),
        some.integers(0, 9),
        some.none() | some.integers(-3, 3) | some.integers(-(2**63), 2**63 - 1),
        some.none() | some.integers(-WORD, WORD).map(lambda one: Decimal(one).scaleb(-2)),
        some.none() | some.floats(-100, 100) | some.floats(),
        some.none() | some.booleans(),
    ),
    max_size=24,
).map(lambda rows: tuple(sorted(rows, key=lambda row: row[0])))


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=25, deadline=None)
@given(rows=ROWS, lanes=some.integers(2, 4), data=some.data())
def test_two_phases_give_what_one_would(
    query: str, rows: tuple[tuple[object, ...], ...], lanes: int, data: some.DataObject
) -> None:
    feeds = sorted(data.draw(some.integers(0, 2)) for _ in rows)
    stream = StreamInput(rows, tuple(feeds), slack=0)  # type: ignore[arg-type]
    restored = frozenset({data.draw(some.integers(0, 2))})
    trial = Trial(FileProgram(STREAM, query), {"s": stream}, {}, 3, lanes, restored)
    failure = check(trial, LaneHostContender())
    assert failure is None, failure.text
