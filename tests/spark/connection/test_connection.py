"""A connection to a pipeline on Spark: what a person does with it, and what comes of it."""

from __future__ import annotations

import gzip
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pandas as pd  # type: ignore[import-untyped]  # ships no types
import polars as pl
import pytest

import penstock
from penstock.catalog.definitions import QueryDefinition
from penstock.errors import DataError, PenstockError, PipelineFailed, QueryError, UnknownName
from penstock.observe.observation import Observer
from penstock.planner.statistics.measuring import measured
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    import pyarrow as pa

    from penstock.connection.connection import Connection
    from penstock.reference.timeline import Row, Timeline

STREAMS = """
CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 4);
CREATE STREAM t (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, name STRING);
"""
QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s [RANGE 7] GROUP BY k",
    "joined": "SELECT s.k, v FROM s [RANGE 6], t [RANGE 5] WHERE s.k = t.k",
    "counted": "SELECT COUNT(*) AS n FROM s [ROWS 3]",
    "named": "SELECT s.k, v, name FROM s [RANGE 6] JOIN r ON s.k = r.k",
}


def create(*names: str) -> str:
    return "".join(f"CREATE QUERY {name} AS {QUERIES[name]};" for name in names)


def rows(tables: Iterable[pa.Table]) -> list[Row]:
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


def expected(timeline: Timeline, before: int | None = None) -> Counter[Row]:
    """The changes as a connection shows them, those of instants before one."""
    found: Counter[Row] = Counter()
    for row, copies in timeline.initial.items():
        found[(*row, None, "+")] += copies
    for change in timeline.changes():
        if before is None or change.at < before:
            for sign, bag in (("-", change.removed), ("+", change.inserted)):
                for row, copies in bag.items():
                    found[(*row, change.at, sign)] += copies
    return found


def timeline(db: Connection, query: str, inputs: Inputs) -> Timeline:
    definition = spark_engine(db).program.session.catalog.get(query)
    assert isinstance(definition, QueryDefinition)
    return Oracle(inputs).timeline(definition.plan)


def test_queries_of_one_pipeline_answer_what_the_oracle_says(db: Connection) -> None:
    db.execute(STREAMS)
    db.update("r", insert=[(1, "one"), (2, "two")])
    db.execute(create(*QUERIES))
    assert db["grouped"].clock is None
    fed_s: list[Row] = [(1, 1, 5), (3, 2, 6), (2, None, 1), (9, 1, -1), (7, 3, 2), (30, 2, 4)]
    fed_t: list[Row] = [(2, 1), (8, 1), (9, 3)]
    assert db.insert("s", fed_s[:3]) == 3
    db.insert("t", fed_t)
    db.wait_idle()
    inputs = Inputs({"s": fed_s[:3], "t": fed_t}, {"r": RelationHistory([(1, "one"), (2, "two")])})
    for name, streams in {"grouped": -1, "joined": -1, "counted": -1, "named": -1}.items():
        assert db[name].clock == streams, "the watermark of s, 3 - 4"
    db.insert("s", fed_s[3:5])
    db.insert("s", fed_s[5:])
    db.wait_idle()
    assert [db[name].clock for name in QUERIES] == [26, 9, 26, 26]
    inputs = Inputs({"s": fed_s, "t": fed_t}, {"r": RelationHistory([(1, "one"), (2, "two")])})
    for name in QUERIES:
        line = timeline(db, name, inputs)
        clock = db[name].clock
        assert clock is not None
        assert Counter(rows(db[name].changes())) == expected(line, clock), name
        assert Counter(rows([db[name].snapshot()])) == line.at(clock - 1), name
        for instant in (0, 2, 8):
            assert Counter(rows([db[name].snapshot(at=instant)])) == line.at(instant), name
    facts = db.progress()
    assert facts["streams"]["s"] == {
        "rows": 6, "late": 0, "late_by": 0, "aside": 0, "forgotten": 0, "shed": 0,
        "watermark": 26, "latest": 30,
    }  # fmt: skip
    assert facts["queries"]["grouped"]["lag"] == 30 - 26
    told = {one.name: one.lag for one in Observer(spark_engine(db).home).look().queries}
    assert told == {name: facts["queries"][name]["lag"] for name in QUERIES}
    assert facts["queries"]["grouped"]["elements"] > 0
    assert facts["running"]
    db.finish()
    for name in QUERIES:
        found = Counter(rows(db[name].changes()))
        assert found == expected(timeline(db, name, inputs)), name
    with pytest.raises(QueryError, match="finish"):
        db.insert("s", [(40, 1, 1)])


def test_a_query_registered_later_sees_rows_from_then_on_and_relations_as_they_are(
    db: Connection,
) -> None:
    db.execute(STREAMS + create("grouped"))
    db.update("r", insert=[(1, "one"), (2, "two")])
    before: list[Row] = [(1, 1, 5), (6, 2, 6)]
    after: list[Row] = [(7, 1, 1), (9, 2, 2), (40, 1, 3)]
    db.insert("s", before)
    db.wait_idle()
    db.update("r", delete=[(2, "two")], insert=[(2, "deux")])
    db.execute(create("named"))
    db.insert("s", after)
    db.wait_idle()
    history = RelationHistory([(1, "one"), (2, "deux")])
    line = timeline(db, "named", Inputs({"s": after}, {"r": history}))
    # Since when the relation has held its rows is not asked: windows were empty before.
    assert Counter(rows(db["named"].changes())) == expected(line, 36)
    whole = timeline(db, "grouped", Inputs({"s": before + after}))
    assert Counter(rows(db["grouped"].changes())) == expected(whole, 36), "it went on"


def test_a_relation_changes_while_queries_run(db: Connection) -> None:
    db.execute(STREAMS + create("named") + "CREATE QUERY names AS SELECT name FROM r")
    db.update("r", insert=[(1, "one")])
    db.insert("s", [(1, 1, 5), (8, 1, 6)])
    db.wait_idle()
    db.update("r", insert=[(1, "uno")], at=9)
    db.insert("s", [(30, 2, 1)])
    db.wait_idle()
    history = RelationHistory([(1, "one")], [RelationChange(9, "+", (1, "uno"))])
    fed: list[Row] = [(1, 1, 5), (8, 1, 6), (30, 2, 1)]
    line = timeline(db, "named", Inputs({"s": fed}, {"r": history}))
    assert Counter(rows(db["named"].changes())) == expected(line, 26)
    assert rows([db["names"].snapshot()]) == [("one",), ("uno",)]
    with pytest.raises(DataError, match=r"does not have: \(7, 'seven'\)"):
        db.update("r", delete=[(7, "seven")])
    with pytest.raises(DataError, match="not a value of type INT"):
        db.update("r", insert=[("x", "y")])
    db.update("r", delete=[(1, "one")])
    db.execute("CREATE QUERY Again AS SELECT k FROM r")
    assert rows([db["again"].snapshot()]) == [(1,)], "no stream has to bring rows for it"
    assert db.progress()["running"]


def test_dropping_and_stopping_end_a_query_and_not_the_others(db: Connection) -> None:
    db.execute(STREAMS + create("grouped", "counted"))
    db.execute(create("joined"))
    db.insert("s", [(1, 1, 5)])
    db.wait_idle()
    handle = db["counted"]
    following = handle.changes(follow=True)
    handle.drop()
    with pytest.raises(UnknownName, match="counted"):
        handle.snapshot()
    db.execute(create("counted"))
    db["joined"].stop()
    assert not db["joined"].is_running
    with pytest.raises(QueryError, match="stopped"):
        db["joined"].snapshot()
    db.insert("s", [(2, 1, 6), (50, 1, 0)])
    db.wait_idle()
    assert rows(following) == [(0, None, "+")], "who followed it is let go, and sees no other"
    fed: list[Row] = [(1, 1, 5), (2, 1, 6), (50, 1, 0)]
    line = timeline(db, "grouped", Inputs({"s": fed}))
    assert Counter(rows(db["grouped"].changes())) == expected(line, 46)
    anew = timeline(db, "counted", Inputs({"s": fed[1:]}))
    assert Counter(rows(db["counted"].changes())) == expected(anew, 46)
    db["joined"].start()
    shown = db.execute("SHOW QUERIES")
    assert shown is not None
    assert shown["query"].to_pylist() == ["grouped", "joined", "counted"]
    assert list(db.queries) == ["grouped", "joined", "counted"]
    assert "joined" in repr(db)


def test_changes_can_be_followed_while_rows_come(db: Connection) -> None:
    db.execute(STREAMS + create("grouped") + "CREATE QUERY sent AS ISTREAM(SELECT k FROM s [NOW])")
    called: list[Row] = []
    subscription = db["grouped"].on_change(lambda table: called.extend(rows([table])))
    followed: list[Row] = []
    thread = threading.Thread(
        target=lambda: followed.extend(rows(db["sent"].emissions(follow=True)))
    )
    thread.start()
    db.insert("s", [(1, 1, 5), (9, 2, 6)])
    first = next(iter(db["grouped"].changes(timeout=60, follow=True)))
    assert rows([first]) == [(1, 1, 5, 1, "+")], "without wait_idle, and all lanes have a say"
    assert list(db["grouped"].changes(timeout=0.2, follow=True, since="now")) == []
    db.insert("s", [(10, 1, 5)])
    db.finish()
    thread.join(30)
    subscription.wait(30)
    assert followed == [(1, 1), (2, 9), (1, 10)]
    fed: list[Row] = [(1, 1, 5), (9, 2, 6), (10, 1, 5)]
    assert Counter(called) == expected(timeline(db, "grouped", Inputs({"s": fed})))
    with pytest.raises(QueryError, match=r"no changes\(\)"):
        db["sent"].changes()
    with pytest.raises(QueryError, match="sends out nothing"):
        db["grouped"].emissions()


def test_times_and_formats(db: Connection) -> None:
    db.execute("""
        CREATE STREAM cars (passed TIMESTAMP, lane INT, WATERMARK FOR passed AS passed);
        CREATE QUERY latest AS SELECT passed, lane FROM cars [RANGE 1 HOUR];
    """)
    db.insert("cars", pd.DataFrame({"passed": [pd.Timestamp("2024-05-01 12:00")], "lane": [1]}))
    db.insert("cars", [("2024-05-01 12:30", 2)])
    db.wait_idle()
    noon = datetime(2024, 5, 1, 12)  # noqa: DTZ001  # results are without a zone
    query = db["latest"]
    assert query.snapshot().to_pylist() == [{"passed": noon, "lane": 1}]
    assert query.snapshot(at="2024-05-01 11:59").num_rows == 0
    assert query.snapshot(at=datetime(2024, 5, 1, 12, tzinfo=UTC)).num_rows == 1
    assert isinstance(query.snapshot(format="polars"), pl.DataFrame)
    assert query.snapshot(format="pandas")["passed"][0] == pd.Timestamp(noon)
    frame = query.snapshot(format="spark")
    assert dict(frame.dtypes) == {"passed": "timestamp", "lane": "int"}
    assert frame.selectExpr("unix_seconds(passed) AS at").first().at == 1714564800
    (change,) = query.changes()
    assert change["_at"].to_pylist() == [noon]
    with pytest.raises(QueryError, match="at 2024-05-01 12:30:00 may still change"):
        query.snapshot(at="2024-05-01 12:30")
    with pytest.raises(QueryError, match="format"):
        query.snapshot(format="excel")  # type: ignore[call-overload]  # that is the point


def test_late_rows_are_kept_with_the_reason(db: Connection) -> None:
    db.execute(STREAMS + create("grouped"))
    db.insert("s", [(50, 1, 1)])
    db.wait_idle()
    db.insert("s", [(1, 9, 9), (None, 8, 8)])
    db.wait_idle()
    late = db.late("s").to_pylist()
    assert {row["k"]: row["_reason"].partition(" by ")[0] for row in late} == {
        9: "late",
        8: "no event time",
    }
    assert db.late("t").num_rows == 0
    facts = db.progress()["streams"]["s"]
    assert (facts["rows"], facts["late"], facts["aside"]) == (3, 1, 1)


def test_queries_that_run_together_are_explained_together(db: Connection) -> None:
    counted = "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM c [RANGE 9] GROUP BY k) AS g"
    told = db.execute(f"""
        CREATE STREAM c (at BIGINT, k INT, WATERMARK FOR at AS at);
        CREATE QUERY many AS {counted} WHERE n > 9;
        CREATE QUERY few AS {counted} WHERE n < 3;
        EXPLAIN few;
    """)
    assert told is not None
    about_to_run = told["plan"].to_pylist()
    assert any(one.endswith("shared with many") for one in about_to_run)
    lines = db["few"].explain().splitlines()
    assert [one for one in lines if not one.startswith("Statistics")] == about_to_run
    db.execute("DROP QUERY many")
    assert "shared" not in db["few"].explain()


def test_a_query_that_runs_is_explained_by_what_its_lanes_have_measured(
    db: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.pipeline.STATUS_SECONDS", 0.0)
    db.execute("""
        CREATE STREAM heat (at BIGINT, room INT, celsius INT, WATERMARK FOR at AS at);
        CREATE QUERY hot AS SELECT room, COUNT(*) AS n FROM heat [RANGE 9]
            WHERE celsius < 10 GROUP BY room;
    """)
    assert "Statistics: nothing is measured yet\n" in db["hot"].explain()
    db.insert("heat", [(at // 2, at % 12, at % 100) for at in range(4000)])
    db.wait_idle()
    text = db["hot"].explain()
    said = "rates of heat; values of 3 columns; selectivities of 1 filter; outputs of 1 operator"
    assert f"Statistics: measured ({said})\n" in text
    assert "Filter celsius < 10  [MON] 0.2 rows/tick" in text
    found = measured(spark_engine(db).running.pipeline.status.operators)
    assert found.rates == {"heat": 2.0}
    # Each lane has seen some of the rooms.
    assert found.values["heat", "room"] == pytest.approx(12, abs=1.5)
    assert found.values["heat", "celsius"] == pytest.approx(100, rel=0.15)


def test_a_query_in_fragments_is_explained_by_the_joins_of_each(db: Connection) -> None:
    names = "abcd"
    for name in names:
        db.execute(f"CREATE STREAM {name} (at BIGINT, k INT, v INT, WATERMARK FOR at AS at)")
    windows = ", ".join(f"{name} [RANGE 9]" for name in names)
    asked = "a.k = b.k AND b.k = c.k AND c.v = d.v"
    db.execute("SET joins = multiway")
    db.execute(f"CREATE QUERY q AS SELECT a.v FROM {windows} WHERE {asked}")
    text = db["q"].explain()
    assert "Join of 3 a.k = b.k = c.k" in text
    assert "Join of 4" not in text
    assert "Fragment 0: " in text


def test_what_is_wrong_is_said_and_changes_nothing(db: Connection, tmp_path: Path) -> None:
    db.execute(STREAMS + create("grouped"))
    with pytest.raises(UnknownName, match="Did you mean"):
        db.execute("CREATE QUERY x AS SELECT kk FROM s [NOW]")
    with pytest.raises(QueryError, match="already a query"):
        db.execute("CREATE VIEW fine AS SELECT k FROM s [NOW];" + create("grouped"))
    assert db.execute("DESCRIBE fine") is not None, "statements before have taken effect"
    with pytest.raises(QueryError, match="is used by"):
        db.execute("DROP STREAM s")
    with pytest.raises(UnknownName, match="no query"):
        db["nobody"]
    with pytest.raises(DataError, match="row 1 has 1 value"):
        db.insert("s", [(1,)])
    with pytest.raises(PipelineFailed, match="does not exist"):
        db.execute(f"""
            CREATE STREAM files (ts BIGINT, WATERMARK FOR ts AS ts)
            USING parquet OPTIONS (path '{tmp_path}/nowhere');
            CREATE QUERY of_files AS SELECT ts FROM files [NOW];
        """)
    db.execute("CREATE STREAM lines (ts BIGINT, WATERMARK FOR ts AS ts) USING json")
    with pytest.raises(QueryError, match="is read from json"):
        db.insert("lines", [(1,)])
    db.insert("s", [(1, 1, 1), (9, 2, 1)])
    db.wait_idle()
    assert rows([db["grouped"].snapshot()]) == [(1, 1, 1)], "the pipeline runs on"
    with pytest.raises(QueryError, match="whole number"):
        penstock.connect(lanes=0)


def seen_of(handle: object, words: str) -> str:
    """What a handle shows, as soon as it has these words."""
    deadline = time.monotonic() + 60
    while words not in (shown := repr(handle)):
        assert time.monotonic() < deadline, shown
        time.sleep(0.01)
    return shown


def test_what_spark_cannot_read_is_not_taken_for_read(
    db: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.pipeline.RESTART_SECONDS", 0.5)
    (tmp_path / "1.csv.gz").write_bytes(gzip.compress(b"ts\n1\n9\n" * 100)[:-9])
    db.execute(f"""
        CREATE STREAM files (ts BIGINT, WATERMARK FOR ts AS ts)
        USING csv OPTIONS (path '{tmp_path}', pathGlobFilter '*.gz');
        CREATE QUERY of_files AS SELECT ts FROM files [RANGE 5];
    """)
    # While it is tried again, every handle shows why.
    for handle in (db, db["of_files"]):
        shown = seen_of(handle, "a micro-batch has failed, and is tried again: ")
        assert "EOFException: " in shown
    with pytest.raises(PipelineFailed, match="EOFException: "):
        db.wait_idle()
    assert db.trouble is None
    assert "tried again" not in repr(db["of_files"])
    with pytest.raises(PipelineFailed):
        db.finish()
    assert db.progress()["streams"]["files"]["rows"] == 0
    (tmp_path / "1.csv.gz").write_bytes(gzip.compress(b"ts\n1\n9\n"))
    db.resume()
    db.wait_idle()
    assert rows(db["of_files"].changes()) == [(1, 1, "+"), (1, 6, "-")]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("1,7\n2,8\n", 'has "1" in its header where column "ts" is declared'),
        ("v,ts\n7,1\n8,2\n", 'has "v" in its header where column "ts" is declared'),
        ("ts\n1\n2\n", "has 1 columns in its header where 2 are declared"),
    ],
)
def test_a_csv_file_has_the_header_that_was_declared(
    db: Connection, tmp_path: Path, text: str, wrong: str
) -> None:
    (tmp_path / "rows.csv").write_text(text)
    db.execute(f"""
        CREATE STREAM files (ts BIGINT, v INT, WATERMARK FOR ts AS ts)
        USING csv OPTIONS (path '{tmp_path}/rows.csv', reader 'spark');
        CREATE QUERY of_files AS SELECT v FROM files [RANGE 5];
    """)
    with pytest.raises(PipelineFailed, match=f"rows.csv {wrong}"):
        db.wait_idle()


def test_a_failure_is_one_sentence_and_can_be_mended(
    db: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.pipeline.RESTART_SECONDS", 0.1)
    folder = tmp_path / "files"
    folder.mkdir()
    db.execute(f"""
        CREATE STREAM files (ts BIGINT, WATERMARK FOR ts AS ts)
        USING csv OPTIONS (path '{folder}', reader 'spark');
        CREATE QUERY of_files AS SELECT ts FROM files [RANGE 5];
    """)
    seen: list[int] = []
    db.on_commit(lambda record: seen.append(record.number))
    (folder / "broken.csv").write_text("when\n1\n9\n")
    with pytest.raises(PipelineFailed, match="the pipeline has stopped: ") as caught:
        db.wait_idle()
    assert "\tat " not in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 3
    with pytest.raises(PipelineFailed):
        list(db["of_files"].changes(follow=True))
    assert db.failure == caught.value.message
    assert f"it has failed: {db.failure}" in repr(db["of_files"])
    assert f"it has failed: {db.failure}" in repr(db)
    (folder / "broken.csv").write_text("ts\n1\n9\n")
    db.resume()
    db.wait_idle()
    assert db["of_files"].failure is None
    assert rows(db["of_files"].changes()) == [(1, 1, "+"), (1, 6, "-")]
    assert seen


def test_a_closed_connection_says_so_and_removes_its_own_home() -> None:
    with penstock.connect("local[2,4]") as db:
        db.execute(STREAMS + create("grouped"))
        home = spark_engine(db).home.path
        assert home.is_dir()
        waiting: list[object] = []
        changes = db["grouped"].changes(follow=True)
        thread = threading.Thread(target=lambda: waiting.append(list(changes)))
        thread.start()
    thread.join(30)
    assert waiting == [[]], "who waits is let go"
    assert not home.exists()
    db.close()
    actions: list[Callable[[], object]] = [
        lambda: db.execute("SHOW STREAMS"),
        lambda: db["grouped"],
        lambda: db.insert("s", []),
        db.wait_idle,
        db.progress,
    ]
    for action in actions:
        with pytest.raises(PenstockError, match="closed"):
            action()
    assert "closed" in repr(db)
