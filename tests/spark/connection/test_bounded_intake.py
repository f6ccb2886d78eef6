"""Bounds of the intake on Spark: rows of a batch, rows that wait for another stream, inserts."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.observe.status import read_status
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.connection.connection import Connection

STREAMS = """
    CREATE STREAM a (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
    CREATE STREAM b (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
"""
QUERIES = """
    CREATE QUERY pairs AS SELECT a.k, a.ts FROM a [RANGE 9], b [RANGE 9] WHERE a.k = b.k;
"""


def wait_until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def rows(db: Connection, stream: str) -> int:
    progress = spark_engine(db).running.record.streams.get(stream)
    return 0 if progress is None else progress.rows


def batches(db: Connection, stream: str) -> list[int]:
    """The rows of a stream that each batch brought."""
    home = spark_engine(db).home
    seen = [one.streams[stream].rows for one in home.chain.since(0) if stream in one.streams]
    return [now - before for before, now in zip([0, *seen], seen, strict=False) if now > before]


def test_a_file_with_many_rows_comes_in_many_batches(db: Connection, tmp_path: Path) -> None:
    # Large enough that it is asked for its rows.
    count = 120_000
    table = pa.table({"ts": range(count), "k": pa.array([n % 7 for n in range(count)], pa.int32())})
    (tmp_path / "in").mkdir()
    pq.write_table(table, tmp_path / "in" / "1.parquet", row_group_size=9_000, compression="none")
    db.execute(f"""
        SET batch_rows = 40000;
        CREATE STREAM f (ts BIGINT, k INT, WATERMARK FOR ts AS ts)
            USING parquet OPTIONS (path '{tmp_path / "in"}');
        CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM f [RANGE 50] GROUP BY k;
    """)
    db.wait_idle()
    # At the ends of groups of rows.
    assert batches(db, "f") == [36_000, 36_000, 36_000, 12_000]
    found = db["counted"].snapshot().to_pylist()
    # Those of the last final instant, which is one before the latest row.
    last = range(count - 1 - 50, count - 1)
    assert {row["k"]: row["n"] for row in found} == Counter(n % 7 for n in last)
    assert db.progress()["streams"]["f"]["late"] == 0


def test_a_stream_that_is_far_ahead_waits_where_it_comes_from(db: Connection) -> None:
    engine = spark_engine(db)
    db.execute(f"SET ahead_rows = 30; {STREAMS} {QUERIES}")
    db.insert("b", [(0, 1)])
    count = 0
    while not engine.running.pipeline.status.paused:
        db.insert("a", [(100 + count, count % 5)])
        count += 1
        assert count < 5000, "rows come in, however far ahead they are"
        time.sleep(0.01)
    before = rows(db, "a")
    assert before > 30
    db.insert("a", [(9000, 1)])
    db.insert("b", [(50, 1)])
    # The other one goes on.
    wait_until(lambda: rows(db, "b") == 2, "the stream that is behind is not read")
    assert rows(db, "a") == before
    assert engine.running.pipeline.status.paused["a"][1] == "b"
    engine.running.pipeline.write_status()
    status = read_status(engine.home)
    assert status is not None
    assert status.paused["a"][1] == "b"
    # When it has come as far, all is taken in.
    db.insert("b", [(9000, 1), (9001, 1)])
    wait_until(lambda: rows(db, "a") == count + 1, "the stream goes on waiting")
    assert engine.running.pipeline.status.paused == {}
    assert db.progress()["streams"]["a"]["late"] == 0


def test_who_waits_for_all_rows_gets_them_however_far_ahead(db: Connection) -> None:
    db.execute(f"SET ahead_rows = 10; {STREAMS} {QUERIES}")
    for number in range(40):
        db.insert("a", [(number, 1), (number, 2)])
    db.insert("b", [(0, 1)])
    db.wait_idle()
    assert (rows(db, "a"), rows(db, "b")) == (80, 1)


def test_inserts_wait_while_too_much_of_them_waits(db: Connection) -> None:
    engine = spark_engine(db)
    db.execute(f"SET incoming_limit = '1 kB'; {STREAMS} {QUERIES}")
    with engine.running.pipeline.lock:
        # Nobody takes anything in.
        bringing = threading.Thread(
            target=lambda: [db.insert("a", [(n, 1)]) for n in range(8)], daemon=True
        )
        bringing.start()
        wait_until(lambda: len(list(engine.home.incoming("a").glob("[!.]*"))) > 0, "nothing came")
        time.sleep(0.3)
        assert bringing.is_alive()
        assert len(list(engine.home.incoming("a").glob("[!.]*"))) < 8
    bringing.join(60)
    assert not bringing.is_alive()
    db.wait_idle()
    assert rows(db, "a") == 8
    # Of a stream that nobody reads nothing is taken in: that would be for ever.
    db.execute("CREATE STREAM c (ts BIGINT, WATERMARK FOR ts AS ts)")
    for n in range(20):
        db.insert("c", [(n,)])
