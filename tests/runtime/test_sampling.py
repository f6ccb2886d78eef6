"""What lanes say of the rows they see: counts exactly, values and parts of filters by samples."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

from connection.inside import batch_of
from penstock import connect_inline
from penstock.operators.block import Block, arriving
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.statistics.measuring import measured
from penstock.runtime import sampling
from penstock.runtime.lane import Lane
from penstock.runtime.sampling import SAMPLE, Budget, StreamMeter, sample
from penstock.session import Session

DECLARED = "CREATE STREAM a (ts BIGINT, k INT, v INT, s STRING, WATERMARK FOR ts AS ts)"


def lane_of(text: str) -> Lane:
    session = Session()
    session.execute(DECLARED)
    return Lane(operator_graph(plans_to_run({"q": session.bind(text).plan})))


def rows(size: int, start: int = 0) -> Block:
    """Two rows in a tick; 40 values of k, 100 of v, 7 of s and NULL in every eighth row."""
    number = np.arange(start, start + size)
    text = [None if n % 8 == 7 else f"t{n % 8}" for n in number.tolist()]
    columns = (
        pa.array(number // 2),
        pa.array((number % 40).astype(np.int32)),
        pa.array((number * 7919 % 100).astype(np.int32)),
        pa.array(text, pa.string()),
    )
    return arriving(columns, number // 2)


def test_rows_that_withdraw_are_counted() -> None:
    lane = lane_of("SELECT k, COUNT(*) AS n FROM a [RANGE 90] GROUP BY k")
    lane.feed({"a": rows(1000)}, {"a": 450})
    lane.feed({"a": rows(1000, 1000)}, {"a": 900})
    reports = {one.label.split()[0]: one for one in lane.reports()}
    assert reports["Stream"].withdrawn == 0
    assert 0 < reports["Aggregate"].withdrawn < reports["Aggregate"].rows_out
    assert reports["Stream"].waiting == 200


def test_streams_are_told_by_rows_instants_and_values() -> None:
    lane = lane_of("SELECT v FROM a [RANGE 10] WHERE v < 25 AND k < 10")
    for start in range(0, 30_000, 3000):
        lane.feed({"a": rows(3000, start)}, {"a": start // 2})
    found = measured([lane.reports()])
    assert found.rates == {"a": 2.0}
    assert found.values["a", "k"] == pytest.approx(40, rel=0.1)
    assert found.values["a", "v"] == pytest.approx(100, rel=0.1)
    assert found.values["a", "s"] == pytest.approx(7, rel=0.1)
    # Values that hardly repeat in a sample may be as many as rows.
    assert 10_000 < found.values["a", "ts"] <= 30_000
    assert found.selectivities["(a.v < 25)"] == pytest.approx(0.25, rel=0.15)
    assert found.selectivities["(a.k < 10)"] == pytest.approx(0.25, rel=0.15)


def test_late_rows_are_not_among_those_seen() -> None:
    lane = lane_of("SELECT v FROM a [RANGE 10]")
    lane.feed({"a": rows(100, 200)}, {"a": 120})
    lane.feed({"a": rows(300)}, {"a": 150})
    (entry,) = [one.stream for one in lane.reports() if one.stream is not None]
    assert (entry.first, entry.latest, entry.rows) == (100, 149, 100 + 60)


def test_a_lane_that_has_seen_nothing_says_nothing_of_streams() -> None:
    lane = lane_of("SELECT v FROM a [RANGE 10]")
    lane.feed({}, {"a": 7})
    assert all(one.stream is None for one in lane.reports())


def test_what_fails_in_a_sample_is_counted_once() -> None:
    lane = lane_of("SELECT v FROM a [RANGE 10] WHERE CAST(s AS INT) > 3 AND v < 50")
    lane.feed({"a": rows(80)}, {"a": 1000})
    lane.finish()
    assert lane.failures("q").by_function["cast"] == 70


def test_looking_stops_when_it_has_taken_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget()
    meter = StreamMeter("a", ("ts", "k", "v", "s"), budget)
    seen: list[int] = []
    monkeypatch.setattr(StreamMeter, "_look", lambda _, found: seen.append(len(found)))
    for _ in range(sampling.FREE_LOOKS):
        meter.take_in(rows(10), 0)
    budget.looked, budget.worked = 1.0, 499.0
    meter.take_in(rows(11), 0)
    budget.worked = 501.0
    meter.take_in(rows(12), 0)
    assert seen == [10] * sampling.FREE_LOOKS + [12]


def test_a_sample_is_taken_from_all_over_and_misses_nothing_periodic() -> None:
    for size in (SAMPLE * 2, SAMPLE * 3 - 1, SAMPLE * 40):
        found = sample(rows(size), np.random.default_rng(0))
        assert len(found) == SAMPLE
        assert set(found.columns[1].to_pylist()) == set(range(40))
        assert found.ts.min() < 100
        assert found.ts.max() > size // 2 - 100


def test_queries_that_run_together_are_explained_together() -> None:
    db = connect_inline()
    db.execute(DECLARED)
    counted = "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM a [RANGE 9] GROUP BY k) AS c"
    queries = f"""CREATE QUERY many AS {counted} WHERE n > 9;
                  CREATE QUERY few AS {counted} WHERE n < 3;"""
    told = db.execute(f"{queries} EXPLAIN few")
    assert told is not None
    about_to_run = told["plan"].to_pylist()
    assert any(one.endswith("shared with many") for one in about_to_run)
    text = db["few"].explain()
    assert [one for one in text.splitlines() if not one.startswith("Statistics")] == about_to_run
    told = db.execute("EXPLAIN few")
    assert told is not None
    assert told["plan"].to_pylist() == text.splitlines()
    db.execute("DROP QUERY many")
    assert db["few"].explain() == re.sub(", shared with many|; of that shared .*", "", text)


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_connection_explains_by_what_it_has_seen(lanes: int) -> None:
    db = connect_inline(lanes=lanes)
    db.execute(DECLARED)
    query = db.query("SELECT k, COUNT(*) AS n FROM a [RANGE 100] WHERE v < 5 GROUP BY k")
    assert "Statistics: nothing is measured yet\n" in query.explain()
    block = rows(20_000)
    names = ["ts", "k", "v", "s"]
    db.insert("a", pa.table(list(block.columns), names=names))
    text = query.explain()
    said = "rates of a; values of 4 columns; selectivities of 1 filter; outputs of 1 operator"
    assert f"Statistics: measured ({said})\n" in text
    assert "Filter v < 5  [MON] 0.1 rows/tick" in text
    operators = query.operators().to_pylist()
    (row,) = [one for one in operators if one["operator"] == "Filter v < 5"]
    assert row["selectivity"] == pytest.approx(0.05, rel=0.01)
    assert row["withdrawn"] == 0


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_connection_explains_having_by_what_it_has_seen(lanes: int) -> None:
    db = connect_inline(lanes=lanes)
    db.execute(DECLARED)
    text = (
        "SELECT k, SUM(v) AS n FROM a [RANGE 100] GROUP BY k HAVING SUM(v) > 200 AND COUNT(*) > 1"
    )
    query = db.query(text)

    def share() -> float:
        sent = r"\[STR\] ([0-9.]+) rows/tick"
        runs = query.explain().partition("Runs as")[2]
        found = [re.search(rf"{name} .*{sent}", runs) for name in ("Filter", "Aggregate")]
        passed, came = (float(one[1]) for one in found if one is not None)
        return passed / came

    assert share() == pytest.approx(1 / 9, rel=0.05)
    db.insert("a", pa.table(list(rows(20_000).columns), names=["ts", "k", "v", "s"]))
    counted = [one for one in query.operators().to_pylist() if one["operator"].startswith("Filter")]
    assert counted[0]["selectivity"] > 0.2
    assert share() == pytest.approx(counted[0]["selectivity"], rel=0.1)
    assert "selectivities of 1 filter; outputs of 1 operator)" in query.explain()


@pytest.mark.parametrize("lanes", [1, 3])
def test_a_connection_explains_a_join_by_the_pairs_it_has_seen(lanes: int) -> None:
    db = connect_inline(lanes=lanes)
    db.execute(DECLARED)
    db.execute("CREATE STREAM b (ts BIGINT, k INT, x INT, y INT, WATERMARK FOR ts AS ts)")
    query = db.query(
        """SELECT a.v FROM a [RANGE 20], b [RANGE 20]
           WHERE a.k = b.k AND a.v < b.x AND a.v <> b.y"""
    )
    random = np.random.default_rng(3)
    ts = np.arange(4000) // 2

    def drawn(least: int, most: int) -> pa.Array:
        return pa.array(random.integers(least, most, 4000).astype(np.int32))

    b = {"k": drawn(0, 40), "x": drawn(10, 11), "y": drawn(10, 11)}
    db.insert("b", pa.table({"ts": ts, **b}))
    a = {"k": drawn(0, 40), "v": drawn(0, 100), "s": pa.nulls(4000, pa.string())}
    db.insert("a", pa.table({"ts": ts, **a}))
    reports = [one for lane in batch_of(query).lanes.lanes for one in lane.reports() if one.pairs]
    tested, held = (sum(one.pairs[n] for one in reports if one.pairs) for n in range(2))
    assert held == sum(one.rows_out for one in reports)
    assert 0 < held < tested / 5
    found = measured([lane.reports() for lane in batch_of(query).lanes.lanes]).selectivities
    less, other_than = "(a [RANGE 20].v < b [RANGE 20].x)", "(a [RANGE 20].v <> b [RANGE 20].y)"
    assert found[f"{less} AND {other_than}"] == pytest.approx(held / tested, rel=0.01)
    assert found[less] == pytest.approx(0.1, rel=0.3)
    assert found[other_than] > 0.9
    text = query.explain()
    assert "selectivities of 1 join)" in text
    sent = re.search(r"Join .*\[WK\] ([0-9.]+) rows/tick", text.partition("Runs as")[2])
    assert sent is not None
    assert float(sent[1]) == pytest.approx(held / 2000, rel=0.3)


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("SELECT k / 20 AS half, COUNT(*) AS n FROM a [RANGE 50] GROUP BY k / 20", "Aggregate"),
        ("SELECT DISTINCT k FROM a [RANGE 50]", "Distinct"),
        ("SELECT DISTINCT MAX(v) AS n FROM a [RANGE 50] GROUP BY k", "Distinct"),
    ],
)
def test_what_aggregates_and_distinct_send_is_measured(text: str, operator: str) -> None:
    db = connect_inline()
    db.execute(DECLARED)
    query = db.query(text)
    db.insert("a", pa.table(list(rows(4000).columns), names=["ts", "k", "v", "s"]))
    counted = [one for one in query.operators().to_pylist() if operator in one["operator"]]
    sent = re.search(
        rf"{operator}.*\] ([0-9.]+) rows/tick", query.explain().partition("Runs as")[2]
    )
    assert sent is not None
    assert float(sent[1]) == pytest.approx(counted[0]["rows_out"] / 2000, rel=0.1, abs=0.01)


def test_rows_that_go_to_all_lanes_are_counted_once() -> None:
    db = connect_inline(lanes=3)
    db.execute(DECLARED)
    db.execute("CREATE STREAM b (ts BIGINT, x INT, WATERMARK FOR ts AS ts)")
    text = """SELECT a.k, COUNT(*) AS n FROM a [RANGE 5], b [NOW]
              WHERE a.v < b.x GROUP BY a.k"""
    query = db.query(text)
    others = pa.table({"ts": np.arange(500), "x": pa.array(np.arange(500) % 3, pa.int32())})
    db.insert("b", others)
    db.insert("a", pa.table(list(rows(1000).columns), names=["ts", "k", "v", "s"]))
    if len(batch_of(query).lanes.lanes) > 1:
        assert batch_of(query).graph.streams.keys() == {"a", "b"}
    found = measured([lane.reports() for lane in batch_of(query).lanes.lanes])
    assert found.rates == {"a": 2.0, "b": 1.0}
    assert found.values["b", "x"] == pytest.approx(3, abs=0.1)
