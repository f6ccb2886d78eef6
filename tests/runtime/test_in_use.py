"""Orders of probes that joins have chosen while they run are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from connection.inside import batch_of
from penstock import connect_inline
from penstock.planner.physical.in_use import described_use
from penstock.runtime.operator_report import OperatorReport, ProbeReport

if TYPE_CHECKING:
    from penstock.connection.connection import Connection
    from penstock.connection.query import Query

NEGATED = """SELECT q.v, c.v AS w FROM (SELECT k, v FROM a [RANGE 9000] WHERE NOT EXISTS
             (SELECT * FROM b [RANGE 9000] WHERE b.v = a.v)) AS q
             JOIN c [RANGE 9000] c ON q.k = c.k"""
THREE = """SELECT a.v FROM a [RANGE 500], b [RANGE 500], c [RANGE 500]
           WHERE a.k = b.k AND b.k = c.k"""
ROWS = 1000


def connected() -> Connection:
    db = connect_inline()
    for name in "abc":
        db.execute(f"CREATE STREAM {name} (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts)")
    return db


def insert(db: Connection, stream: str, ts: np.ndarray, v: np.ndarray, keys: int) -> None:
    columns = {"k": (v % keys).astype(np.int32), "v": v.astype(np.int32)}
    db.insert(stream, pa.table({"ts": ts, **columns}))


def withdraw(db: Connection, number: int, share: float) -> None:
    """Rows of `a` come, and a share of those that came just before is taken away by `b`."""
    ts = np.arange(number * ROWS, (number + 1) * ROWS)
    insert(db, "a", ts, ts, 2)
    few = max(int(share * ROWS), 1)
    gone = ts[-few:] - (ROWS if share else -(10**6))
    insert(db, "b", ts[-few:], gone, 2)
    insert(db, "c", ts[-1:], ts[-1:], 2)


def structures(query: Query) -> set[tuple[str, ...]]:
    return {
        one.structures
        for lane in batch_of(query).lanes.lanes
        for one in lane.reports()
        if one.label.startswith("Join")
    }


def test_where_nothing_is_chosen_explain_does_not_speak_of_it() -> None:
    db = connected()
    query = db.query(NEGATED)
    withdraw(db, 0, 0.0)
    assert structures(query) == {("hashed", "fifo")}
    assert "In use" not in query.explain()


def test_orders_of_probes_are_told_and_how_often_they_changed() -> None:
    db = connected()
    db.execute("SET joins = multiway")
    query = db.query(THREE)

    def told() -> OperatorReport:
        (lane,) = batch_of(query).lanes.lanes
        (found,) = (one for one in lane.reports() if one.probes)
        return found

    def feed(number: int, **every: int) -> None:
        ts = np.arange(number * 4000, (number + 1) * 4000)
        for name, steps in every.items():
            insert(db, name, ts[::steps], ts[::steps] // 7, 400)

    feed(0, a=1, b=1, c=1)
    first = told()
    assert (first.reordered, len(first.probes)) == (0, 6)
    assert {(one.origin, one.target) for one in first.probes} == {
        (one, other) for one in "abc" for other in "abc" if one != other
    }
    assert sum(one.probes for one in first.probes) > 0
    assert sum(one.found for one in first.probes) > 0
    for number in range(1, 4):
        feed(number, a=1, b=1, c=100)
    second = told()
    assert second.reordered >= 1
    order = {(one.origin, one.target): place for place, one in enumerate(second.probes)}
    # What few rows come to is probed first.
    assert order["a", "c"] < order["a", "b"]
    assert order["b", "c"] < order["b", "a"]
    (line,) = (one for one in query.explain().splitlines() if one.startswith("In use"))
    assert line.startswith("In use: Join of 3 a.k = b.k = c.k: probing a: c b; b: c a; c: ")
    assert f", changed {second.reordered} time" in line


def test_where_lanes_differ_explain_says_on_how_many() -> None:
    def lane(*order: str, reordered: int = 0) -> list[OperatorReport]:
        probes = tuple(ProbeReport("a", one, 5, 7) for one in order)
        return [OperatorReport("Join of 3", 1, 1, 0, 0, 0.0, probes=probes, reordered=reordered)]

    lanes = [lane("b", "c"), lane("c", "b", reordered=1), lane("b", "c")]
    assert described_use(lanes) == [
        "In use: Join of 3: probing a: b c (2 of 3 lanes); or"
        " probing a: c b, changed 1 time (1 of 3 lanes)"
    ]
    assert described_use([]) == []
