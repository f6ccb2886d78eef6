"""What happens while no rows come, and what a pipeline refuses to read or to be."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import PipelineFailed, QueryError
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from penstock.connection.connection import Connection

NAMES = "CREATE RELATION {name} (k INT, name STRING) USING csv OPTIONS (path '{path}'{more});"


def write(path: Path, *rows: tuple[int, str]) -> None:
    """A relation, in place of what was there, at once."""
    path.parent.mkdir(exist_ok=True)
    draft = path.parent / ".draft"
    draft.write_text("k,name\n" + "".join(f"{k},{name}\n" for k, name in rows))
    draft.rename(path)


def comes_true(what: Callable[[], Any], seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while not what():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def content(db: Connection, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in db[query].snapshot().to_pylist())


def test_a_relation_is_read_again_without_rows(db: Connection, tmp_path: Path) -> None:
    path = tmp_path / "names" / "a.csv"
    write(path, (1, "one"))
    names = NAMES.format(name="names", path=path.parent, more=", reload '1 second'")
    db.execute(f"""
        CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
        {names}
        CREATE QUERY named AS
        SELECT s.k, names.name FROM s [RANGE 100] JOIN names ON s.k = names.k;
    """)
    db.insert("s", [(1, 1), (2, 2), (3, 3)])
    db.wait_idle()
    assert content(db, "named") == [(1, "one")]
    write(path, (1, "uno"), (2, "due"))
    # The changes are dated with the clock: they are final when it goes on.
    record = spark_engine(db).running.record.number
    assert comes_true(lambda: spark_engine(db).running.record.number > record)
    db.insert("s", [(10, 4)])
    db.wait_idle()
    assert content(db, "named") == [(1, "uno"), (2, "due")]


def test_a_relation_that_cannot_be_read_again_stays_as_it_was(
    db: Connection, tmp_path: Path
) -> None:
    path = tmp_path / "names" / "a.csv"
    write(path, (1, "one"))
    names = NAMES.format(name="names", path=path, more=", reload '1 second'")
    db.execute(f"{names} CREATE QUERY known AS SELECT k, name FROM names;")
    assert content(db, "known") == [(1, "one")]
    with pytest.raises(QueryError, match='relation "names" is read from csv'):
        db.update("names", insert=[(9, "nine")])
    path.unlink()
    errors = spark_engine(db).running.pipeline.status
    assert comes_true(lambda: errors.errors)
    assert f'relation "names": the path {path} does not exist' in errors.errors[-1][1]
    assert errors.errors[-1][1].endswith("it stays as it was")
    assert content(db, "known") == [(1, "one")]
    write(path, (2, "two"))
    assert comes_true(lambda: content(db, "known") == [(2, "two")])


def test_a_relation_that_was_never_read_is_told_when_it_is_asked_for(
    db: Connection, tmp_path: Path
) -> None:
    names = NAMES.format(name="names", path=tmp_path / "nowhere", more="")
    with pytest.raises(
        PipelineFailed, match=r'relation "names": the path .*nowhere does not exist'
    ):
        db.execute(f"{names} CREATE QUERY known AS SELECT k, name FROM names;")
    write(tmp_path / "nowhere" / "a.csv", (1, "one"))
    db.execute(f"{names} CREATE QUERY known AS SELECT k, name FROM names;")
    assert content(db, "known") == [(1, "one")]


def test_a_relation_that_is_declared_anew_is_read_anew(db: Connection, tmp_path: Path) -> None:
    write(tmp_path / "old" / "a.csv", (1, "one"))
    write(tmp_path / "new" / "a.csv", (2, "two"))
    query = "CREATE QUERY known AS SELECT k, name FROM names;"
    db.execute(NAMES.format(name="names", path=tmp_path / "old", more="") + query)
    assert content(db, "known") == [(1, "one")]
    db.execute("DROP QUERY known; DROP RELATION names;")
    db.execute(NAMES.format(name="names", path=tmp_path / "new", more="") + query)
    assert content(db, "known") == [(2, "two")]


def test_a_silent_stream_holds_others_back_no_longer(db: Connection) -> None:
    db.execute("""
        CREATE STREAM quiet (ts BIGINT, k INT, WATERMARK FOR ts AS ts)
        OPTIONS (idle_timeout '1 second');
        CREATE STREAM busy (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
        CREATE QUERY both AS
        SELECT k FROM quiet [RANGE 10] UNION ALL SELECT k FROM busy [RANGE 10];
    """)
    db.insert("quiet", [(1, 1)])
    db.insert("busy", [(50, 2)])
    db.wait_idle()
    assert comes_true(lambda: db.progress()["queries"]["both"]["clock"] == 50)


@pytest.mark.parametrize(
    "format_", ["jdbc", "JDBC", "`org.apache.spark.sql.execution.datasources.jdbc`", "nosuch"]
)
def test_a_format_that_may_run_code_is_refused(db: Connection, format_: str) -> None:
    options = "OPTIONS (url 'jdbc:derby:memory:x;create=true', dbtable 'SYSIBM.SYSDUMMY1')"
    refusal = "the format .* is not allowed"
    with pytest.raises(PipelineFailed, match=f'relation "r": {refusal}'):
        db.execute(f"""
            CREATE RELATION r (k STRING) USING {format_} {options};
            CREATE QUERY q AS SELECT k FROM r;
        """)
    with pytest.raises(PipelineFailed, match=f'stream "s": {refusal}'):
        db.execute(f"""
            CREATE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts) USING {format_} {options};
            CREATE QUERY q AS SELECT ts FROM s [RANGE 5];
        """)


def test_who_starts_spark_may_allow_a_format(db: Connection, tmp_path: Path) -> None:
    java = spark_engine(db).spark.sparkContext._jvm
    assert java is not None
    # Otherwise the database writes where we are.
    java.System.setProperty("derby.stream.error.file", str(tmp_path / "derby.log"))
    declared = """
        CREATE RELATION r (IBMREQD STRING) USING jdbc
        OPTIONS (url 'jdbc:derby:memory:x;create=true', dbtable 'SYSIBM.SYSDUMMY1');
    """
    db.execute(declared)
    spark_engine(db).spark.conf.set("spark.penstock.formats", "other, jdbc")
    try:
        db.execute("CREATE QUERY q AS SELECT IBMREQD FROM r")
        assert content(db, "q") == [("Y",)]
    finally:
        spark_engine(db).spark.conf.unset("spark.penstock.formats")


def test_another_master_is_not_taken_for_the_one_that_runs(db: Connection) -> None:
    del db
    with pytest.raises(QueryError, match=r'already, with the master "local.*", not "spark://else'):
        penstock.connect("spark://elsewhere:7077")


def test_a_query_takes_effect_within_two_micro_batches(db: Connection) -> None:
    db.execute("""
        CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
        CREATE QUERY first AS SELECT k FROM s [RANGE 10];
    """)
    application = spark_engine(db).spark.sparkContext.applicationId
    batches: list[int] = []
    db.on_commit(lambda record: batches.append(record.streams["s"].rows))
    for number in range(20):
        db.insert("s", [(number, number)])
        if number == 9:
            db.execute("CREATE QUERY second AS SELECT k FROM s [RANGE 10]")
            taken = spark_engine(db).running.record.streams["s"].rows
    db.wait_idle()
    seen = {row["k"] for table in db["second"].changes() for row in table.to_pylist()}
    # One row a micro-batch: at most the one that ran meanwhile, and the next, are not seen.
    assert set(range(taken + 1, 19)) <= seen
    assert spark_engine(db).spark.sparkContext.applicationId == application
