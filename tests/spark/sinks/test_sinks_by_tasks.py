"""Sinks that tasks of Spark write, and the intake that waits for sinks."""

from __future__ import annotations

import csv
import json
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import PenstockError
from penstock.observe.status import read_status
from penstock.spark.spark_engine import spark_engine
from spark.sinks.conftest import DECLARED, Opened
from spark.sinks.test_sinks import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

Rows = Counter[tuple[object, ...]]
BY_TASKS = {"spark.penstock.sinks": "tasks"}
OTHERS = """
CREATE QUERY sent AS ISTREAM(SELECT k, v FROM s [NOW]);
CREATE QUERY ended AS SELECT v FROM s [RANGE 3] EMIT FINAL;
CREATE QUERY hidden AS SELECT COUNT(*) AS n FROM s [RANGE 7] GROUP BY k;
"""


@pytest.fixture
def opening_by_tasks(tmp_path: Path) -> Iterator[Callable[[], Opened]]:
    """Opens the home of this test, whose sinks tasks write."""
    opened: list[Opened] = []

    def open_home() -> Opened:
        db = penstock.connect("local[2,4]", tmp_path / "home", 2, settings=BY_TASKS)
        opened.append(Opened(db, spark_engine(db).sinks, tmp_path))
        return opened[-1]

    yield open_home
    for one in opened:
        one.close()


def parts(folder: Path) -> Rows:
    """What Parquet files hold; a commit that tasks wrote has some of a name with three parts."""
    return rows(pq.read_table(path) for path in sorted(folder.glob("*.parquet")))


def test_tasks_write_what_one_process_would(opening_by_tasks: Callable[[], Opened]) -> None:
    one = opening_by_tasks()
    queries = ["counted", "sent", "ended", "hidden"]
    sinks = [
        f"CREATE SINK to_{name} FROM {name} USING parquet OPTIONS (path '{one.folder / name}')"
        for name in queries
    ]
    texts = [
        f"CREATE SINK as_{form} FROM counted USING {form} OPTIONS (path '{one.folder / form}')"
        for form in ("csv", "json")
    ]
    one.execute(
        ";".join([DECLARED.strip().rstrip(";"), OTHERS.strip().rstrip(";"), *sinks, *texts])
    )
    for base in range(0, 40, 4):
        one.feed(*((base + n % 3, n % 5, n) for n in range(9)))
    one.db.finish()
    assert one.sinks.wait_written(60)
    wanted = {
        "counted": one.db["counted"].changes(),
        "sent": one.db["sent"].emissions(),
        "hidden": one.db["hidden"].changes(),
    }
    for name, table in wanted.items():
        assert parts(one.folder / name) == rows([table]), name
    ended = rows([one.db["ended"].elements()])
    assert parts(one.folder / "ended") == Counter({row[:3]: n for row, n in ended.items()})
    lines = [
        line for path in (one.folder / "json").iterdir() for line in path.read_text().splitlines()
    ]
    counted = rows([wanted["counted"]])
    assert Counter(tuple(json.loads(line).values()) for line in lines) == counted
    found: Rows = Counter()
    for path in (one.folder / "csv").iterdir():
        _, *cells = csv.reader(path.read_text().splitlines())
        found.update((int(k), int(n), int(at), sign) for k, n, at, sign in cells)
    assert found == counted
    names = [path.name for path in (one.folder / "counted").iterdir()]
    assert {name.split(".")[1] for name in names} == {"0", "1"}
    status = read_status(spark_engine(one.db).home)
    assert status is not None
    assert {sink["way"] for sink in status.sinks.values()} == {"tasks"}


def test_tasks_go_on_where_a_process_before_them_ended(
    opening: Callable[[], Opened], opening_by_tasks: Callable[[], Opened]
) -> None:
    first = opening()
    out = first.folder / "out"
    first.execute(f"{DECLARED} CREATE SINK out FROM counted USING parquet OPTIONS (path '{out}');")
    first.feed((1, 1, 0), (2, 2, 0))
    first.feed((5, 1, 0))
    first.close()
    second = opening_by_tasks()
    second.feed((9, 2, 0), (12, 3, 0))
    second.db.finish()
    assert second.sinks.wait_written(60)
    second.close()
    # An end of the input that was none is taken back, whoever wrote it.
    third = opening()
    third.feed((14, 2, 0))
    third.feed((30, 2, 0))
    assert parts(out) == rows([third.db["counted"].changes()])


def test_rows_in_an_order_stay_in_one_file(opening_by_tasks: Callable[[], Opened]) -> None:
    one = opening_by_tasks()
    out = one.folder / "out"
    one.execute(f"""
        {DECLARED}
        CREATE QUERY top AS RSTREAM(SELECT k, v FROM s [RANGE 10 SLIDE 10] ORDER BY v DESC);
        CREATE SINK out FROM top USING json OPTIONS (path '{out}');
    """)
    one.feed((1, 1, 3), (1, 2, 9), (1, 3, 6))
    one.feed((25, 1, 3))
    (file, *_) = sorted(out.iterdir())
    assert [json.loads(line)["v"] for line in file.read_text().splitlines()] == [9, 6, 3]


def test_who_writes_sinks_is_one_of_three(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match='is "nobody"'):
        penstock.connect(
            "local[2,4]", tmp_path / "home", 2, settings={"spark.penstock.sinks": "nobody"}
        )


def test_no_more_rows_come_in_while_a_sink_is_too_far_behind(opened: Opened) -> None:
    engine, db = spark_engine(opened.db), opened.db
    pipeline, release = engine.running.pipeline, threading.Event()
    taken: list[pa.Table] = []

    def take(table: pa.Table, number: int) -> None:
        release.wait(120)
        taken.append(table)

    db.execute("SET sink_lag = 1")
    opened.sinks.call("slow", "counted", take)
    count, deadline = 0, time.monotonic() + 60
    while not pipeline.status.waiting_for:
        assert time.monotonic() < deadline, "rows come in, however far the sink is behind"
        db.insert("s", [(count, 1, 0), (count, 2, 0)])
        count += 1
        time.sleep(0.05)
    before = engine.running.record.streams["s"].rows
    db.insert("s", [(count, 3, 0)])
    time.sleep(0.5)
    assert engine.running.record.streams["s"].rows == before
    assert pipeline.status.waiting_for == ["slow"]
    assert read_status(engine.home).waiting_for == ["slow"]  # type: ignore[union-attr]
    release.set()
    db.wait_idle()
    assert opened.sinks.wait_written(60)
    assert pipeline.status.waiting_for == []
    assert engine.running.record.streams["s"].rows == 2 * count + 1
    assert rows(taken) == rows([db["counted"].changes()])


def test_a_function_that_waits_for_rows_does_not_wait_for_itself(opened: Opened) -> None:
    seen: list[int] = []

    def take(table: object, number: int) -> None:
        if len(seen) < 3:
            opened.db.insert("s", [(10 * number, 1, 0)])
            opened.db.wait_idle()
        seen.append(number)

    opened.db.execute("SET sink_lag = 1")
    opened.sinks.call("mine", "counted", take)
    opened.db.insert("s", [(1, 1, 0), (1, 2, 0), (9, 1, 0)])
    opened.db.wait_idle()
    assert opened.sinks.wait_written(60)
    assert seen
