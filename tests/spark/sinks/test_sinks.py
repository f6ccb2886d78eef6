"""Sinks on Spark: what they write, once, and what becomes of it when something goes wrong."""

from __future__ import annotations

import csv
import json
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PenstockError
from penstock.spark.sink_progress import ProgressFiles
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from spark.sinks.conftest import Opened

Rows = Counter[tuple[object, ...]]


def rows(tables: Iterable[pa.Table]) -> Rows:
    return Counter(tuple(row.values()) for table in tables for row in table.to_pylist())


def written(folder: Path) -> Rows:
    return rows(pq.read_table(path) for path in sorted(folder.glob("*.parquet")))


def to_parquet(folder: Path) -> str:
    return f"CREATE SINK out FROM counted USING parquet OPTIONS (path '{folder}');"


def declared(opened: Opened) -> list[str]:
    """The sinks of the catalog."""
    return [one.name for one in spark_engine(opened.db).program.session.catalog.of_kind("sink")]


def test_files_hold_the_changes_of_each_commit(opened: Opened) -> None:
    folder = opened.folder
    for form in ("csv", "json"):
        path = folder / form
        opened.execute(f"CREATE SINK {form}_sink FROM counted USING {form} OPTIONS (path '{path}')")
    opened.execute(to_parquet(folder / "parquet"))
    opened.feed((1, 1, 0), (2, 2, 0))
    opened.feed((5, 1, 0))
    opened.db.finish()
    assert opened.sinks.wait_written(30)
    expected = rows(opened.db["counted"].changes())
    assert len(expected) > 6
    assert written(folder / "parquet") == expected
    lines = [one for path in (folder / "json").iterdir() for one in path.read_text().splitlines()]
    assert Counter(tuple(json.loads(line).values()) for line in lines) == expected
    found: Rows = Counter()
    for path in (folder / "csv").iterdir():
        header, *cells = csv.reader(path.read_text().splitlines())
        assert header == ["k", "n", "_at", "_sign"]
        found.update((int(k), int(n), int(at), sign) for k, n, at, sign in cells)
    assert found == expected
    records = [one.number for one in spark_engine(opened.db).home.chain.since(0) if one.results]
    names = {path.name for path in (folder / "parquet").iterdir()}
    assert names <= {f"{number:012d}.parquet" for number in records}
    assert len(names) > 1


def test_rows_that_are_sent_out_and_those_that_have_ended(opened: Opened) -> None:
    opened.execute("""
        CREATE QUERY sent AS ISTREAM(SELECT k FROM s [NOW]);
        CREATE QUERY ended AS SELECT v FROM s [RANGE 3] EMIT FINAL;
        CREATE SINK sent_here FROM sent USING memory;
        CREATE SINK ended_here FROM ended USING memory;
    """)
    opened.feed((1, 4, 7), (2, 5, 8))
    opened.feed((9, 6, 9))
    sent, ended = opened.sinks.table("sent_here"), opened.sinks.table("ended_here")
    assert sent is not None
    assert sent.to_pylist()[:2] == [{"k": 4, "_at": 1}, {"k": 5, "_at": 2}]
    assert ended is not None
    assert rows([ended]) == Counter({(7, 1, 4): 1, (8, 2, 5): 1})


def test_the_console_says_what_changes(opened: Opened, capsys: pytest.CaptureFixture[str]) -> None:
    opened.execute("CREATE SINK told FROM counted USING console")
    opened.feed((1, 1, 0))
    opened.feed((5, 1, 0))
    assert "@1  + 1 | 1\n" in capsys.readouterr().out


def test_rows_that_were_there_before_end_in_their_intervals(
    opened: Opened, capsys: pytest.CaptureFixture[str]
) -> None:
    opened.feed((1, 1, 0))
    opened.feed((4, 2, 0))
    opened.feed((4, 2, 0))
    opened.sinks.print_answer("shown", "counted", "counted", "now", intervals=True)
    opened.feed((20, 3, 0))
    opened.feed((30, 3, 0))
    shown = capsys.readouterr().out
    assert shown == "counted: k | n\n[1, 8)   1 | 1\n[4, 11)  2 | 2\n[20, 27)  3 | 1\n"


def test_a_commit_that_is_written_again_counts_once(
    opened: Opened, opening: Callable[[], Opened]
) -> None:
    out = opened.folder / "out"
    opened.execute(to_parquet(out))
    opened.feed((1, 1, 0))
    opened.feed((5, 1, 0))
    opened.feed((12, 2, 0))
    names = sorted(path.name for path in out.iterdir())
    before = written(out)
    files = ProgressFiles(spark_engine(opened.db).home)
    opened.close()
    progress = files.read("out")
    assert progress is not None
    # As if the process had been killed between a write and the note about it; and in a write.
    progress.record = int(names[0].split(".")[0])
    files.write(progress)
    (out / f".{names[1]}").write_bytes(b"half a file")
    again = opening()
    assert again.sinks.wait_written(30)
    assert written(out) == before
    assert sorted(path.name for path in out.iterdir() if path.name[0] != ".") == names
    again.feed((20, 3, 0))
    assert written(out) == rows(again.db["counted"].changes())


def test_an_end_of_input_that_was_none_is_taken_back(
    opened: Opened, opening: Callable[[], Opened]
) -> None:
    out = opened.folder / "out"
    opened.execute(to_parquet(out))
    opened.feed((1, 1, 0), (3, 1, 0))
    opened.db.finish()
    assert opened.sinks.wait_written(30)
    at_end = written(out)
    assert at_end == rows(opened.db["counted"].changes())
    opened.close()
    again = opening()
    assert again.sinks.wait_written(30)
    assert written(out) == at_end
    again.feed((4, 1, 0))
    again.feed((6, 1, 0))
    assert written(out) == rows(again.db["counted"].changes())
    assert written(out) != at_end


def test_a_function_is_called_again_until_it_has_taken_a_commit(opened: Opened) -> None:
    calls: list[int] = []
    taken: list[pa.Table] = []

    def take(table: pa.Table, number: int) -> None:
        calls.append(number)
        if len(calls) < 3:
            msg = "not yet"
            raise ValueError(msg)
        taken.append(table)

    opened.sinks.call("mine", "counted", take)
    opened.feed((1, 1, 0))
    opened.feed((5, 1, 0))
    assert calls[0] == calls[1] == calls[2]
    assert calls[2:] == sorted(set(calls[2:]))
    assert rows(taken) == rows(opened.db["counted"].changes())
    with pytest.raises(PenstockError, match="already"):
        opened.sinks.call("mine", "counted", take)


def test_a_sink_that_fails_is_reported_and_nothing_is_lost(opened: Opened) -> None:
    db, sinks = opened.db, opened.sinks
    is_broken = True
    taken: list[pa.Table] = []

    def take(table: pa.Table, number: int) -> None:
        if is_broken:
            msg = "the wire is cut"
            raise OSError(msg)
        taken.append(table)

    sinks.call("wire", "counted", take)
    opened.execute(to_parquet(opened.folder / "out"))
    db.insert("s", [(1, 1, 0), (3, 1, 0)])
    db.wait_idle()
    assert not sinks.wait_written(30)
    assert sinks.errors == {"wire": "the wire is cut"}
    assert 'sink "wire": the wire is cut' in [
        text for _, text in spark_engine(db).running.pipeline.status.errors
    ]
    db.insert("s", [(5, 1, 0)])
    db.wait_idle()
    sinks.wait_written(30)
    expected = rows(db["counted"].changes())
    assert written(opened.folder / "out") == expected
    is_broken = False
    deadline = time.monotonic() + 60
    while sinks.errors and time.monotonic() < deadline:
        time.sleep(0.1)
    assert sinks.errors == {}
    assert sinks.wait_written(30)
    assert rows(taken) == expected


def test_the_pipeline_does_not_wait_for_a_slow_sink(opened: Opened) -> None:
    release = threading.Event()
    opened.sinks.call("slow", "counted", lambda table, number: release.wait(60))
    opened.db.insert("s", [(1, 1, 0)])
    opened.db.wait_idle()
    opened.db.insert("s", [(9, 1, 0)])
    opened.db.wait_idle()
    assert opened.db["counted"].clock is not None
    assert not opened.sinks.wait_written(0.1)
    release.set()
    assert opened.sinks.wait_written(30)


def test_a_sink_of_a_query_that_runs_begins_with_all_that_is_kept(opened: Opened) -> None:
    opened.feed((1, 1, 0))
    opened.feed((5, 1, 0))
    opened.execute(to_parquet(opened.folder / "out"))
    assert opened.sinks.wait_written(30)
    expected = rows(opened.db["counted"].changes())
    assert written(opened.folder / "out") == expected
    opened.execute("DROP SINK out")
    opened.feed((12, 1, 0))
    assert written(opened.folder / "out") == expected
    assert ProgressFiles(spark_engine(opened.db).home).read("out") is None


@pytest.mark.parametrize(
    ("sink", "said"),
    [
        ("counted USING parkay OPTIONS (path 'x')", 'there is no format called "parkay"'),
        ("counted USING csv", "has no path"),
        ("counted USING csv OPTIONS (path 'x', headr 'false')", 'csv has no option "headr"'),
        ("counted USING parquet OPTIONS (path 's3://bucket/x')", "cannot be written to s3://"),
        ("counted USING json OPTIONS (path 'pyproject.toml')", "is a file, and not a folder"),
        ("counted USING json OPTIONS (path 'docs')", "there are files in"),
        ("counted USING kafka OPTIONS (topic 't')", "has no kafka.bootstrap.servers"),
        (
            "counted USING kafka OPTIONS (topic 't', kafka.bootstrap.servers 'localhost:9')",
            "Spark cannot write kafka here",
        ),
        ("counted USING delta OPTIONS (path 'x')", "Spark cannot write delta here"),
        ("odd USING console", 'has a column "_at"'),
    ],
)
def test_what_cannot_be_written_to_is_refused(shared: Opened, sink: str, said: str) -> None:
    with pytest.raises(PenstockError) as refusal:
        shared.db.execute(f"CREATE SINK wrong FROM {sink}")
    assert said in refusal.value.message
    assert refusal.value.hint
    assert shared.sinks.errors == {}
    # It is as if it had not been said, so it can be said again, and better.
    assert declared(shared) == []
    shared.db.execute("CREATE SINK wrong FROM counted USING memory")
    shared.db.execute("DROP SINK wrong")


def test_statements_before_a_sink_that_is_refused_hold(opened: Opened) -> None:
    with pytest.raises(PenstockError, match="has no path"):
        opened.db.execute("""
            CREATE SINK good FROM counted USING memory;
            CREATE SINK `one wrong` FROM counted USING csv;
            CREATE SINK `two wrong` FROM counted USING parquet;
        """)
    assert declared(opened) == ["good"]
    opened.feed((1, 1, 0))
    opened.feed((5, 1, 0))
    assert opened.sinks.table("good") is not None


def test_a_sink_that_cannot_be_replaced_goes_on(opened: Opened) -> None:
    out = opened.folder / "it's out"
    path = str(out).replace("'", "''")
    opened.execute(f"CREATE SINK out FROM counted USING parquet OPTIONS (path '{path}')")
    opened.feed((1, 1, 0))
    with pytest.raises(PenstockError, match="has no option"):
        opened.db.execute("""
            CREATE OR REPLACE SINK out FROM counted USING csv OPTIONS (path 'x', depth '1')
        """)
    opened.feed((5, 1, 0))
    opened.feed((12, 1, 0))
    assert written(out) == rows(opened.db["counted"].changes())
    assert opened.sinks.errors == {}


def test_a_sink_that_cannot_be_opened_again_stays_until_it_is_dropped(
    opened: Opened, opening: Callable[[], Opened]
) -> None:
    out = opened.folder / "out"
    opened.execute(to_parquet(out))
    opened.feed((1, 1, 0))
    opened.close()
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    out.write_text("a file")
    again = opening()
    assert "is a file, and not a folder" in again.sinks.errors["out"]
    # Other statements go on, and nothing is lost: the sink goes on when the cause is mended.
    again.execute("CREATE QUERY other AS SELECT k FROM s [NOW]")
    assert "out" in again.sinks.errors
    out.unlink()
    again.execute("DROP QUERY other")
    assert again.sinks.errors == {}
    again.feed((5, 1, 0))
    again.feed((12, 1, 0))
    assert written(out)


def test_instants_in_parquet_files_are_instants_for_others(opened: Opened) -> None:
    """Spark in another time zone and pandas see the same instants, rather than local times."""
    out = opened.folder / "out"
    opened.execute(f"""
        CREATE STREAM visits (at TIMESTAMP, k INT, WATERMARK FOR at AS at);
        CREATE QUERY seen AS ISTREAM(SELECT k, at FROM visits [NOW]);
        CREATE SINK out FROM seen USING parquet OPTIONS (path '{out}');
    """)
    noon = datetime(2024, 5, 1, 12, 0, 0, 5, UTC)
    plain = noon.replace(tzinfo=None)
    opened.db.insert("visits", [(plain, 1), (plain + timedelta(hours=1), 2)])
    opened.db.finish()
    assert opened.sinks.wait_written(30)
    columns = pq.read_table(out).to_pandas().sort_values("k")
    assert columns["at"].min() == columns["_at"].min() == noon
    spark = spark_engine(opened.db).spark.newSession()
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    read = spark.read.parquet(str(out))
    assert dict(read.dtypes) == {"k": "int", "at": "timestamp", "_at": "timestamp"}
    found = read.selectExpr("unix_micros(at)", "string(_at)").orderBy("at").collect()
    assert tuple(found[0]) == (noon.timestamp() * 1_000_000, "2024-05-01 08:00:00.000005")
