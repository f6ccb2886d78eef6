"""Streams that are generated, on Spark: read by tasks, and going on where they were."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.pipeline import generated_cuts
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.connection.connection import Connection

DECLARED = """
    CREATE STREAM s (ts BIGINT, k INT, v DOUBLE, WATERMARK FOR ts AS ts - 3) USING generate
    OPTIONS (rows {rows}, rows_per_second {pace}, rows_per_tick 50, disorder 3, k.different 40,
        k.skew '1.1', seed 1);
    CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts) USING generate
    OPTIONS (rows {rows}, rows_per_second {pace}, rows_per_tick 50, k.different 60, seed 2);
    CREATE QUERY joined AS
    SELECT s.k, COUNT(*) AS n, MAX(v) AS most FROM s [RANGE 2] JOIN t [RANGE 2] ON s.k = t.k
    GROUP BY s.k;
"""
PATIENCE = 120.0


def answer(db: Connection) -> list[str]:
    return sorted(map(repr, db["joined"].changes().to_pylist()))


def test_rows_go_on_where_they_were(
    connect: Callable[..., Connection], db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated_cuts, "MOST_ROWS", 400)
    db.execute(DECLARED.format(rows=6_000, pace=4_000))
    while db.progress()["streams"]["s"]["rows"] < 800:
        time.sleep(0.02)
    db.close()
    again = connect(lanes=3)
    before = again.progress()["streams"]["s"]["rows"]
    assert before < 6_000
    deadline = time.monotonic() + PATIENCE
    while any(one["rows"] < 6_000 for one in again.progress()["streams"].values()):
        assert time.monotonic() < deadline
        # Whoever waits does not wait for rows that come later.
        again.wait_idle()
    assert spark_engine(again).running.record.files["s"].begun == ("generated", 6_000)
    again.finish()
    with penstock.connect_inline() as inline:
        inline.execute(DECLARED.format(rows=6_000, pace=4_000))
        inline.finish()
        assert answer(again) == answer(inline)


def test_rows_are_made_by_all_tasks_and_none_is_missing(db: Connection) -> None:
    rows, found = 100_000, list[Any]()
    db.execute(f"""
        CREATE STREAM s (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts)
        USING generate OPTIONS (rows {rows}, rows_per_second 10000000, rows_per_tick 1);
        CREATE QUERY sums AS SELECT COUNT(*) AS n, SUM(ts) AS total FROM s [UNBOUNDED];
    """)
    db.wait_idle()
    db.finish()
    found = db["sums"].snapshot().to_pylist()
    assert found == [{"n": rows, "total": rows * (rows - 1) // 2}]
    assert "each by one task" in spark_engine(db).running.pipeline.reading


def test_a_run_that_is_to_end_needs_an_end(db: Connection) -> None:
    db.execute("""
        CREATE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts) USING generate;
        CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [RANGE 5];
    """)
    pipeline = spark_engine(db).running.pipeline
    pipeline.stop()
    with pytest.raises(penstock.errors.DataError, match="has no end: its rows are generated"):
        pipeline.start(finite=True)
