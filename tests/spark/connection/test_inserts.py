"""Many small inserts on Spark: taken in together, each late or not as if it had come alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import penstock
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from penstock.connection.connection import Connection

STATEMENTS = """
    CREATE STREAM s (ts BIGINT, k INT, v BIGINT, WATERMARK FOR ts AS ts - 3);
    CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
    CREATE QUERY sums AS SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 20] GROUP BY k;
    CREATE QUERY pairs AS SELECT s.k, s.v FROM s [RANGE 9], t [RANGE 9] WHERE s.k = t.k;
    CREATE QUERY everything AS SELECT COUNT(*) AS n FROM s [RANGE 30];
"""


def bring(db: Connection) -> int:
    """Small inserts, out of order; how many."""
    draw = random.Random(3)
    inserts = 0
    for now in range(70):
        rows = [
            (now + draw.randint(-8, 3), draw.randint(0, 3), draw.randint(0, 9))
            for _ in range(draw.choice([1, 1, 1, 4]))
        ]
        db.insert("s", rows)
        inserts += 1
        if draw.random() < 0.5:
            db.insert("t", [(now - draw.choice([0, 0, 5]), draw.randint(0, 3))])
            inserts += 1
    return inserts


def rejected(db: Connection, stream: str) -> list[dict[str, object]]:
    rows = [{**row, "_position": None} for row in db.late(stream).to_pylist()]
    return sorted(rows, key=repr)


def test_small_inserts_are_taken_in_together_and_late_as_if_alone(db: Connection) -> None:
    inline = penstock.connect_inline()
    for one in (db, inline):
        one.execute(STATEMENTS)
    # While nobody takes anything in, so that all wait.
    with spark_engine(db).running.pipeline.lock:
        inserts = bring(db)
        before = spark_engine(db).position
    bring(inline)
    db.wait_idle()
    assert spark_engine(db).position - before < inserts / 8
    for stream in ("s", "t"):
        assert rejected(inline, stream), "no row is late: it shows too little"
        assert rejected(db, stream) == rejected(inline, stream)
        of_db, of_inline = (one.progress()["streams"][stream] for one in (db, inline))
        assert of_db == of_inline
    for query in ("sums", "pairs", "everything"):
        found, wanted = (
            sorted(map(repr, one[query].snapshot().to_pylist())) for one in (db, inline)
        )
        assert found == wanted
        assert (
            db.progress()["queries"][query]["clock"] == inline.progress()["queries"][query]["clock"]
        )
    waiting = list(spark_engine(db).home.incoming("s").glob("*.parquet"))
    assert len(waiting) <= 32, "what has been taken in is removed"


def test_a_row_is_known_to_all_lanes_in_one_round(db: Connection) -> None:
    db.execute(STATEMENTS)
    db.insert("t", [(100, 1)])
    for number in range(5):
        db.wait_idle()
        before = spark_engine(db).position
        db.insert("s", [(number, number, 1)])
        db.wait_idle()
        assert spark_engine(db).position == before + 1
        assert db.progress()["queries"]["everything"]["clock"] == number - 3
