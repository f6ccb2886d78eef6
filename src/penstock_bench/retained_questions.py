"""Questions about millions of retained rows, beside DuckDB; and what retaining them costs."""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.catalog.definitions import QueryDefinition
from penstock.connection.questions.one_time_query import asked
from penstock.errors import require_known
from penstock.pipeline.bound import understood
from penstock.pipeline.housekeeping import Housekeeping
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.pipeline.sweeping import Retention
from penstock.spark.home_view import view_of
from penstock.store.layout import Home
from penstock_bench.catching_up import measure as caught_up
from penstock_fuzz.driving import LaneHostDriver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.spark.home_view import HomeView

HOUR = 3_600_000_000
BEGIN = 1_700_000_000_000_000 // HOUR * HOUR
BATCH = 200_000
REPEATS = 9
MOST_CAUGHT_UP = 1_000_000
"""New queries catch up with so many rows at the most."""
KEYS, GROUPS = 1_000_000, 1000
STREAM = (
    "CREATE STREAM s (ts TIMESTAMP, k BIGINT, g INT, v DOUBLE, WATERMARK FOR ts AS ts) RETAIN {};"
)
QUERY = "SELECT g, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 1 MINUTE] GROUP BY g"
QUESTIONS = {
    "key": ("SELECT ts, v FROM s WHERE k = 4711", "SELECT ts, v FROM rows WHERE k = 4711"),
    "minute": (
        "SELECT COUNT(*) AS n, AVG(v) AS mean FROM s [RANGE 1 MINUTE] WHERE g < 100",
        "SELECT COUNT(*), AVG(v) FROM rows WHERE ts > TIMESTAMP '{}' AND g < 100",
    ),
    "grouped": (
        "SELECT g, COUNT(*) AS n, SUM(v) AS total FROM s GROUP BY g",
        "SELECT g, COUNT(*), SUM(v) FROM rows GROUP BY g",
    ),
}
"""A look-up by key, a minute of an hour, and all rows: here, and for DuckDB."""


@dataclass(frozen=True)
class Asked:
    """A question: the median of some answers, in seconds on the wall and of CPU; how many rows."""

    wall: float
    cpu: float
    first: float
    rows: int


def measure(rows: int, say: Callable[[str], None], *, by_jobs: bool = False) -> dict[str, object]:
    """Ask; the figures, with a line for people for each.

    Args:
        rows: So many are retained.
        say: Takes the lines.
        by_jobs: Whether jobs of Spark are asked as well.
    """
    with tempfile.TemporaryDirectory(prefix="penstock-ask-") as folder:
        path = Path(folder)
        # What is done once, when loops are loaded.
        _fed(path / "warm", 2 * BATCH, "2 HOURS")
        costs = {rule: _fed(path / rule.split()[0], rows, rule) for rule in ("NONE", "1 HOUR")}
        share = costs["1 HOUR"] / costs["NONE"] - 1
        say(f"retaining {rows:,} rows: {share:+.1%} CPU of lanes and commits")
        view = view_of(Home(path / "1"))
        found: dict[str, object] = {"rows": rows, "cost": round(share, 4)}
        tables = _parquet(view, path / "parquet")
        for name, (question, other) in QUESTIONS.items():
            ours = _timed(partial(asked, question, view.plan.session, view, ()))
            theirs = _timed(partial(tables, other))
            assert ours.rows == theirs.rows, name
            say(
                f"{name:8} {ours.wall * 1e3:7.1f} ms ({ours.cpu * 1e3:.1f} of CPU,"
                f" the first {ours.first * 1e3:.0f}), DuckDB {theirs.wall * 1e3:.1f} ms"
                f" ({theirs.cpu * 1e3:.1f}), {ours.rows:,} rows"
            )
            found[name] = {
                "seconds": round(ours.wall, 5),
                "cpu_seconds": round(ours.cpu, 5),
                "first_seconds": round(ours.first, 4),
                "duckdb_seconds": round(theirs.wall, 5),
                "duckdb_cpu_seconds": round(theirs.cpu, 5),
                "ratio": round(ours.wall / theirs.wall, 2),
            }
        if by_jobs:
            found["jobs"] = _by_jobs(view, say)
        view.release()
        fewer = min(rows, MOST_CAUGHT_UP)
        _fed(path / "late", fewer, "1 HOUR")
        found["catching_up"] = caught_up(path / "late", list(batches_of(fewer)), say)
    return found


def _by_jobs(view: HomeView, say: Callable[[str], None]) -> dict[str, float]:
    """The same questions as jobs of Spark: seconds of each."""
    from penstock.spark.question_jobs import QuestionJobs
    from penstock.spark.spark_session import start_session

    jobs, found = QuestionJobs(start_session("penstock ask").sparkContext, 1), {}
    for name, (question, _) in QUESTIONS.items():
        ours = _timed(partial(asked, question, view.plan.session, view, (), jobs))
        say(f"{name:8} {ours.wall * 1e3:7.1f} ms as a job, the first {ours.first * 1e3:.0f}")
        found[name] = round(ours.wall, 5)
    return found


def _fed(path: Path, rows: int, retain: str) -> float:
    """Feed rows to a home without Spark, sealing on the way; the seconds of CPU that it took."""
    home = Home(path)
    home.open()
    ledger = Ledger(home)
    statements = (STREAM.format(retain), f"CREATE QUERY q AS {QUERY};")
    session = understood(statements)
    found = session.catalog.find("q", "query")
    assert isinstance(found, QueryDefinition)
    groups = groups_for({"q": found.plan}, 0, 1)
    ledger.change_plan(PipelinePlan(statements, tuple(groups), session=session))
    driver = LaneHostDriver(ledger, 1)
    faults: list[str] = []
    keeping = Housekeeping(ledger, threading.RLock(), faults.append)
    tables, spent = list(batches_of(rows)), 0.0
    driver.feed({"s": tables[0].slice(0, 1000)})
    for table in tables:
        began = time.process_time()
        driver.feed({"s": table})
        if keeping.is_pressing(Retention()):
            keeping.clean(Retention())
        spent += time.process_time() - began
    began = time.process_time()
    keeping.clean(Retention(seal_bytes=0 if retain != "NONE" else 1 << 60))
    spent += time.process_time() - began
    home.close()
    return spent


def batches_of(rows: int) -> Iterator[pa.Table]:
    """Rows of an hour, in order."""
    random = np.random.default_rng(7)
    for first in range(0, rows, BATCH):
        count = min(BATCH, rows - first)
        low, high = (number * HOUR // rows for number in (first, first + count))
        ts = BEGIN + np.sort(random.integers(low, high, count))
        yield pa.table(
            {
                "ts": pa.array(ts).cast(pa.timestamp("us")),
                "k": random.integers(0, KEYS, count),
                "g": random.integers(0, GROUPS, count).astype(np.int32),
                "v": random.random(count),
            }
        )


def _parquet(view: HomeView, folder: Path) -> Callable[[str], list[object]]:
    """The same rows as Parquet files, a file for each sub-window, for DuckDB with two threads."""
    import duckdb

    folder.mkdir()
    stream = view.stream("s")
    for one in stream.sub_windows:
        rows = one.table(["ts", "k", "g", "v"]).drop(["_ts"])
        pq.write_table(rows, folder / f"{one.number}.parquet")
    last = np.datetime64(stream.watermark - 1 - HOUR // 60, "us")
    connection = duckdb.connect(config={"threads": 2})
    connection.execute(f"CREATE VIEW rows AS SELECT * FROM '{folder}/*.parquet'")
    final = np.datetime64(stream.watermark - 1, "us")

    def answered(text: str) -> list[object]:
        is_final = f"ts <= TIMESTAMP '{final}'"
        text = text.format(last)
        text = text.replace("FROM rows WHERE", f"FROM rows WHERE {is_final} AND")
        text = text.replace("FROM rows GROUP", f"FROM rows WHERE {is_final} GROUP")
        return list(connection.execute(text).fetchall())

    return answered


def _timed(ask: Callable[[], Any]) -> Asked:
    walls, cpus = [], []
    for _ in range(REPEATS + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        rows = len(ask())
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Asked(statistics.median(walls[1:]), statistics.median(cpus[1:]), walls[0], rows)


SECTIONS = ("questions", "jobs", "readers", "cost")
"""What can be measured; jobs and cost start Spark."""


def report(rows: int, say: Callable[[str], None], only: Sequence[str] = ()) -> None:
    """Measure, and print the figures as one JSON object at the end.

    Raises:
        UnknownName: There is no such section.
    """
    from penstock_bench.retained_readers import ReadersEffort
    from penstock_bench.retained_readers import report as readers
    from penstock_bench.retaining_cost import cost

    for one in only:
        require_known(one, SECTIONS, "section", "Sections")
    chosen, is_quick = only or ("questions",), rows < 5_000_000
    found: dict[str, object] = {"benchmark": "ask"}
    if "questions" in chosen or "jobs" in chosen:
        found |= measure(rows, say, by_jobs="jobs" in chosen)
    if "readers" in chosen:
        effort = ReadersEffort(10, 20, 1.0) if is_quick else ReadersEffort()
        found["readers"] = readers(effort, say)
    if "cost" in chosen:
        found["end_to_end"] = cost(10, 1, say) if is_quick else cost(40, 4, say)
    say(json.dumps(found))
