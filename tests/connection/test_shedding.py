"""Shedding on a connection: answers over the rows that stay, counts, estimates, saved state."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.connection.connection import Connection

SETTINGS = """
    SET lane_budget = '0.001 ms'; SET shedding = {kind}; SET shedding_bound = '0.1 kB';
    SET keep_shed = {keep};
"""
STREAM = """
    CREATE STREAM s (ts BIGINT, k INT, v DOUBLE, w BIGINT, WATERMARK FOR ts AS ts)
    OPTIONS (weight 'w', utility 'v')
"""
QUERY = "SELECT k, COUNT(*) AS n, SUM(w) AS whole FROM s [RANGE 1000] GROUP BY k"


def opened(kind: str = "random", keep: str = "true", lanes: int = 2) -> Connection:
    db = penstock.connect_inline(lanes=lanes)
    db.execute(SETTINGS.format(kind=kind, keep=keep) + STREAM)
    return db


def feed(db: Connection, first: int, last: int, rows: int = 40) -> None:
    for ts in range(first, last):
        db.insert("s", [(ts, i % 3, (i % 8) / 8, 1) for i in range(rows)])


@pytest.mark.parametrize("kind", ["random", "semantic"])
@pytest.mark.parametrize("lanes", [1, 3])
def test_an_answer_is_that_over_the_rows_that_stay(kind: str, lanes: int) -> None:
    db = opened(kind, lanes=lanes)
    query = db.query("SELECT k, COUNT(*) AS n FROM s [RANGE 1000] GROUP BY k", "q")
    feed(db, 0, 30)
    db.wait_idle()
    shed = db.late("s").to_arrow()
    assert 0 < len(shed) < 1200
    assert query.shed == {"s": len(shed)}
    assert db.progress()["streams"]["s"]["shed"] == len(shed)
    assert db.progress()["streams"]["s"]["aside"] == db.progress()["streams"]["s"]["late"] == 0
    came = Counter({0: 30 * 14, 1: 30 * 13, 2: 30 * 13})
    db.finish()
    found = {one["k"]: one["n"] for one in query.snapshot(at=29).to_pylist()}
    assert found == dict(came - Counter(shed["k"].to_pylist()))
    assert f"of a sample: {len(shed)} rows shed" in repr(query)
    if kind == "semantic":
        assert all(one < 1 for one in shed["v"].to_pylist())
        assert shed["_reason"][0].as_py() == "shed: its utility is below 0.5"


def test_shed_rows_are_only_counted_unless_they_are_to_be_kept() -> None:
    db = opened(keep="false")
    query = db.query(QUERY, "q")
    feed(db, 0, 20)
    assert query.shed["s"] > 0
    assert len(db.late("s")) == 0
    assert db.progress()["streams"]["s"]["forgotten"] == 0


def test_a_query_counts_what_was_shed_while_it_ran() -> None:
    db = opened()
    first = db.query(QUERY, "first")
    feed(db, 0, 20)
    second = db.query(QUERY, "second")
    assert second.shed == {}
    before = first.shed["s"]
    feed(db, 20, 30)
    assert first.shed["s"] - before == second.shed["s"] > 0
    db.execute("SET shedding = none")
    feed(db, 30, 40)
    assert second.shed["s"] == first.shed["s"] - before


def test_rows_that_are_shed_move_the_watermark() -> None:
    db = opened("semantic")
    query = db.query(QUERY, "q")
    feed(db, 0, 10)
    db.insert("s", [(500, 1, 0.0, 1)])
    assert query.shed["s"]
    db.insert("s", [(499, 1, 1.0, 1)])
    assert db.progress()["streams"]["s"]["late"] == 1


def test_what_was_shed_is_saved(tmp_path: Path) -> None:
    db = opened()
    db.query(QUERY, "q")
    feed(db, 0, 20)
    db.save(tmp_path / "saved")
    again = penstock.connect_inline(restore=tmp_path / "saved")
    for one in (db, again):
        one.execute("SET shedding = none")
        feed(one, 20, 25)
        one.wait_idle()
    assert again["q"].shed == db["q"].shed
    assert again.late("s").equals(db.late("s"))
    assert again["q"].snapshot().equals(db["q"].snapshot())


def test_sums_of_weights_estimate_counts_and_sums_within_their_errors() -> None:
    query = """
        SELECT ESTIMATED_COUNT(w) AS n, COUNT_STANDARD_ERROR(w) AS n_off,
               ESTIMATED_SUM(v, w) AS total, SUM_STANDARD_ERROR(v, w) AS total_off
        FROM s [RANGE 1000]
    """
    within = 0
    for trial in range(30):
        db = opened(keep="false", lanes=1)
        db.query(query, "q")
        rows = [(ts, i % 3, (i * trial % 16) / 8, 1) for ts in range(20) for i in range(100)]
        for first in range(0, 2000, 100):
            db.insert("s", rows[first : first + 100])
        assert db["q"].shed["s"] > 500
        db.finish()
        (found,) = db["q"].snapshot(at=19).to_pylist()
        for name, exact in (("n", 2000), ("total", sum(row[2] for row in rows))):
            within += abs(found[name] - exact) <= 2 * found[f"{name}_off"]
    # Of normal errors 95 in a hundred are within two standard errors.
    assert within >= 0.85 * 60


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("utility 'vv'", "there is no such column"),
        ("utility 'name'", "a utility is a number"),
        ("weight 'k'", "a weight is BIGINT or DOUBLE"),
        ("weight 'ts'", "is the event time"),
        ("utilty 'v'", 'Did you mean "utility"?'),
    ],
)
def test_columns_that_shedding_cannot_go_by_are_refused(options: str, said: str) -> None:
    db = penstock.connect_inline()
    columns = "ts BIGINT, k INT, v DOUBLE, name STRING, WATERMARK FOR ts AS ts"
    with pytest.raises(PenstockError, match="line 1, column") as refused:
        db.execute(f"CREATE STREAM s ({columns}) OPTIONS ({options})")
    assert said in str(refused.value)
    with pytest.raises(PenstockError, match="only rows of streams are shed"):
        db.execute("CREATE RELATION r (k INT) OPTIONS (utility 'k')")
