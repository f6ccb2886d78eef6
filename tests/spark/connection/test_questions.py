"""Questions about a pipeline: while it runs, from another process, after it was stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError, QueryError, Refused
from penstock.pipeline.sweeping import Retention
from penstock.spark.spark_engine import spark_engine
from penstock.store.pins import pinned_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.connection.connection import Connection

ROOT = Path(__file__).parents[3]
DECLARED = """
CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN 100;
CREATE STREAM alone (ts BIGINT, v STRING, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;
CREATE RELATION r (k INT, name STRING);
CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM s [RANGE 20] GROUP BY k;
"""
READER = """
import sys, time
from pathlib import Path
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
view = view_of(Home(Path(sys.argv[1])))
print("pinned", flush=True)
time.sleep(600)
"""


def printed(home: Path, question: str) -> str:
    """What the command prints, in a process of its own."""
    command = [str(ROOT / "penstock"), "query", "--home", str(home), question]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_questions_while_it_runs_from_elsewhere_and_after(
    connect: Callable[..., Connection],
) -> None:
    db = connect()
    db.execute(DECLARED)
    home = spark_engine(db).home.path
    db.update("r", insert=[(1, "one")])
    db.insert("s", [(10, 1), (25, 2), (30, 1), (31, 1)])
    db.insert("alone", [(3, "a"), (5, "b"), (9, "c")])
    db.wait_idle()
    assert db.ask("SELECT k, ts FROM s [RANGE 20]").to_pylist() == [
        {"k": 1, "ts": 30},
        {"k": 2, "ts": 25},
    ]
    assert db.ask("SELECT * FROM counted AS OF 29").to_pylist() == [
        {"k": 1, "n": 1},
        {"k": 2, "n": 1},
    ]
    named = "SELECT name, n FROM counted JOIN r ON counted.k = r.k"
    assert db.ask(named).to_pylist() == [{"name": "one", "n": 1}]
    assert db.ask("SELECT v FROM alone").column_names == ["v"]
    shown = db.execute("SELECT COUNT(*) AS n FROM s")
    assert shown is not None
    assert shown["n"].to_pylist() == [3]
    assert printed(home, "SELECT v FROM alone ORDER BY v DESC") == "v\n@8  b\n    a\n"
    with pytest.raises(QueryError, match="may still change"):
        db.ask("SELECT k FROM s AS OF 31")
    seal(db)
    db.insert("s", [(300, 7)])
    db.wait_idle()
    seal(db)
    with pytest.raises(Refused, match="needs its rows from 150 on"):
        db.ask("SELECT k FROM s [RANGE 150]")
    db.close()
    assert printed(home, "SELECT v FROM alone AS OF 5") == "v\n@5  a\n    b\n"
    again = connect()
    assert again.ask("SELECT v FROM alone AS OF 4").to_pylist() == [{"v": "a"}]
    again.execute("SET retain = none; CREATE STREAM t (ts BIGINT, WATERMARK FOR ts AS ts)")
    again.query("SELECT ts FROM t [RANGE 5]")
    again.insert("t", [(1,)])
    again.wait_idle()
    with pytest.raises(Refused, match="none is retained"):
        again.ask("SELECT ts FROM t [RANGE 3] AS OF 0")


def seal(db: Connection) -> None:
    pipeline = spark_engine(db).running.pipeline
    pipeline.retention = Retention(seal_bytes=0)
    pipeline.clean()
    assert pipeline.ledger.record.unsealed == ()


def test_a_reader_that_is_killed_leaves_no_pin(connect: Callable[..., Connection]) -> None:
    db = connect()
    db.execute(DECLARED)
    home = spark_engine(db).home
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(home.path)], stdout=subprocess.PIPE, text=True
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "pinned\n"
    assert len(pinned_records(home)) == 1
    os.kill(reader.pid, signal.SIGKILL)
    reader.wait()
    reader.stdout.close()
    assert pinned_records(home) == []


MANY = """
CREATE STREAM a (ts BIGINT, k INT, v DOUBLE, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;
CREATE STREAM b (ts BIGINT, k INT, WATERMARK FOR ts AS ts) RETAIN UNBOUNDED;
"""
AS_JOBS = {
    "SELECT k, COUNT(*) AS n, MEDIAN(v) AS m FROM a GROUP BY k": "in 6 of 6 pieces",
    "SELECT ts, v FROM a [RANGE 30] WHERE k = 1": "40 rows of a in 2 of 6 pieces",
    "SELECT a.v, b.k FROM a, b [RANGE 50] WHERE a.ts = b.ts AND a.k = 2": "rows of b",
    "SELECT COUNT(*) AS n FROM b WHERE k > 1000": "0 rows of b in 0 of 6 pieces",
}
"""Questions, and what EXPLAIN says of them."""


def test_questions_about_many_rows_are_jobs_with_the_same_answers(
    connect: Callable[..., Connection],
) -> None:
    db = connect()
    db.execute(MANY)
    for first in range(0, 120, 20):
        rows = range(first, first + 20)
        db.insert("a", [(ts, ts % 3, ts / 2) for ts in rows])
        db.insert("b", [(ts, ts % 2) for ts in rows if ts % 5 == 0])
        db.wait_idle()
        # The rows of the last batch stay in a log: these are read in the asking process.
        if first < 100:
            seal(db)
    for question, says in AS_JOBS.items():
        db.execute("SET ask_job_rows = none")
        here = db.ask(question).to_pylist()
        assert explained(db, question).endswith("in the asking process")
        db.execute("SET ask_job_rows = 1")
        assert db.ask(question).to_pylist() == here
        shown = explained(db, question)
        assert says in shown
        assert "job of Spark's" in shown or here == [{"n": 0}]
    assert "as a continuous query" in explained(db, "ISTREAM(SELECT k FROM a [RANGE 5])")
    folder = spark_engine(db).home.path / "segments"
    before = set(folder.glob("*.rows"))
    seal(db)
    # No process has read it yet.
    (damaged,) = set(folder.glob("*.rows")) - before
    content = bytearray(damaged.read_bytes())
    content[200] ^= 0xFF
    damaged.write_bytes(content)
    with pytest.raises(DataError, match=damaged.name):
        db.ask("SELECT COUNT(*) AS n, SUM(v) AS v, SUM(k) AS k, MIN(ts) AS t FROM a")


def explained(db: Connection, question: str) -> str:
    """The line of EXPLAIN about the rows that a question reads."""
    shown = db.execute(f"EXPLAIN {question}")
    assert shown is not None
    return str(shown["plan"].to_pylist()[-1])
