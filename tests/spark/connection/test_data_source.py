"""The data source `penstock`: other Spark programs read the results of a home."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import penstock
from penstock.errors import QueryError
from penstock.spark.child_session import running_session
from penstock.spark.data_source import ChangesReader
from penstock.spark.source_options import SourceOptions
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.connection.connection import Connection

DECLARED = """
CREATE STREAM s (ts TIMESTAMP, k INT, price DECIMAL(9, 2), WATERMARK FOR ts AS ts);
CREATE QUERY top AS SELECT k, MAX(price) AS top FROM s [RANGE 5 SECONDS] GROUP BY k;
CREATE QUERY sent AS ISTREAM(SELECT k FROM s [NOW]);
CREATE QUERY ended AS SELECT k FROM s [RANGE 2 SECONDS] EMIT FINAL;
"""


OTHER_PROGRAM = """
import os, sys
from pathlib import Path
import penstock
from penstock.spark.spark_session import launch_environment
from pyspark.sql import SparkSession

os.environ.update(launch_environment("local[1]"))
home, out = sys.argv[1:]
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
spark.dataSource.register(penstock.PenstockSource)

def write(frame, number):
    # A batch that comes again after a kill takes the place of the one before.
    rows = "".join(f"{tuple(row)}\\n" for row in frame.collect())
    path = Path(out) / "batches" / str(number)
    path.with_suffix(".draft").write_text(rows)
    path.with_suffix(".draft").rename(path)

stream = spark.readStream.format("penstock").option("home", home).option("query", "top").load()
query = stream.writeStream.foreachBatch(write).option("checkpointLocation", f"{out}/checkpoint")
query.start().awaitTermination()
"""
"""A program that follows a query until it is killed."""
PATIENCE = 120.0
ZONE = "spark.sql.session.timeZone"


@pytest.fixture
def spark(db: Connection) -> Iterator[SparkSession]:
    # Where the active session has a source of this name, Spark lets no other one register it, and
    # the examples of a page may have done so in this process.
    session = running_session()
    assert session is not None
    zone = session.conf.get(ZONE) or "UTC"
    session.conf.set(ZONE, "UTC")
    session.dataSource.register(penstock.PenstockSource)  # type: ignore[arg-type]  # loaded late
    yield session
    session.conf.set(ZONE, zone)


def feed(db: Connection, start: int, rows: int = 20) -> None:
    """Bring rows, one each second."""
    clock = [f"2024-05-01 12:{at // 60:02}:{at % 60:02}" for at in range(start, start + rows)]
    db.insert("s", [(one, at % 3, at * 7 % 11) for at, one in enumerate(clock, start)])
    db.wait_idle()


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """Rows of a table of ours as Spark has them: instants without a zone."""
    return [tuple(one.values()) for one in table.to_pylist()]


def read(spark: SparkSession, db: Connection, query: str, **options: Any) -> DataFrame:
    home = db.engine.title.removeprefix("home ")
    given = {"home": home, "query": query, **options}
    return spark.read.format("penstock").options(**given).load()


def followed(
    spark: SparkSession, db: Connection, query: str, folder: Path, **options: Any
) -> StreamingQuery:
    """A streaming query that adds what comes to Parquet files."""
    home = db.engine.title.removeprefix("home ")
    stream = spark.readStream.format("penstock").options(home=home, query=query, **options)
    writer = stream.load().writeStream.format("parquet").option("path", str(folder / "rows"))
    return writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(
        availableNow=True
    ).start()  # fmt: skip


def written(spark: SparkSession, folder: Path) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, spark.read.parquet(str(folder / "rows")).collect()))


def test_the_content_at_an_instant(db: Connection, spark: SparkSession) -> None:
    db.execute(DECLARED)
    feed(db, 0)
    for at in (None, "2024-05-01 12:00:07"):
        frame = read(spark, db, "TOP", **({} if at is None else {"at": at}))
        assert frame.drop("_at", "_sign").collect() == rows_of(db["top"].snapshot(at=at))
        assert {row["_sign"] for row in frame.collect()} == {"+"}
    assert frame.schema.simpleString() == (
        "struct<k:int,top:decimal(9,2),_at:timestamp,_sign:string>"
    )
    assert rows_of(db["top"].frame().toArrow()) == rows_of(db["top"].snapshot())
    assert db["top"].frame(at="2024-05-01 12:00:07").schema.names == ["k", "top"]
    changes = read(spark, db, "top", results="changes", partitions=3).collect()
    assert sorted(map(tuple, changes)) == sorted(rows_of(db["top"].changes()))
    sent = read(spark, db, "sent").collect()
    assert sorted(map(tuple, sent)) == sorted(rows_of(db["sent"].emissions()))


def test_what_cannot_be_read_is_said(db: Connection, spark: SparkSession, tmp_path: Path) -> None:
    db.execute(DECLARED)
    feed(db, 0)

    def refused(sentence: str, query: str = "top", **options: Any) -> None:
        with pytest.raises(PySparkException) as caught:
            read(spark, db, query, **options).collect()
        assert sentence in str(caught.value)

    refused('query "tip" does not run in the home', "tip")
    refused('Did you mean "top"?', "tip")
    refused(f"{tmp_path / 'none'} is no home of a pipeline", home=str(tmp_path / "none"))
    refused("may still change", at="2024-05-01 13:00:00")
    refused("is not a date and time", at="noon")
    refused('the format penstock has no option "partition"', partition=3)
    refused('partitions is "many"', partitions="many")
    refused('Did you mean "changes"?', results="change")
    refused('query "sent" has no content at an instant', "sent", at="2024-05-01 12:00:07")
    with pytest.raises(QueryError, match="needs to know the query"):
        SourceOptions.of({"home": "x"})


@pytest.mark.parametrize(
    "query",
    ["top", pytest.param("sent", marks=only_long), pytest.param("ended", marks=only_long)],
)
def test_each_change_comes_once_to_a_stream(
    db: Connection, spark: SparkSession, tmp_path: Path, query: str
) -> None:
    db.execute(DECLARED)
    for start in (0, 20, 40):
        feed(db, start)
        following = followed(spark, db, query, tmp_path / "out", partitions=2)
        following.awaitTermination()
    answer = db[query]
    kind = {"top": "changes", "sent": "emissions", "ended": "elements"}[query]
    found = written(spark, tmp_path / "out")
    expected = rows_of(getattr(answer, kind)())
    if query == "ended":
        expected = [one[:-1] for one in expected]
    assert found == sorted(expected)
    assert len(found) > 50
    # The end of the input is taken by who asks for it.
    db.finish()
    followed(spark, db, query, tmp_path / "out", partitions=2).awaitTermination()
    assert written(spark, tmp_path / "out") == found
    followed(spark, db, query, tmp_path / "all", end_of_input="true").awaitTermination()
    expected = rows_of(getattr(answer, kind)())
    if query == "ended":
        expected = [one[:-1] for one in expected]
    assert written(spark, tmp_path / "all") == sorted(expected)


@only_long
def test_a_program_that_is_killed_goes_on_where_it_was(
    db: Connection, spark: SparkSession, tmp_path: Path
) -> None:
    db.execute(DECLARED)
    home = db.engine.title.removeprefix("home ")
    program = tmp_path / "other.py"
    program.write_text(OTHER_PROGRAM)
    batches = tmp_path / "batches"
    batches.mkdir()
    at = 0

    def run_until(count: int) -> None:
        """Run the other program until there are so many batches, and kill it."""
        nonlocal at
        with (tmp_path / "said").open("w") as said:
            other = subprocess.Popen(
                [sys.executable, "-P", str(program), home, str(tmp_path)],
                env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
                stderr=said,
                start_new_session=True,
            )
        deadline = time.monotonic() + PATIENCE
        try:
            while len(list(batches.glob("*[0-9]"))) < count:
                assert time.monotonic() < deadline
                assert other.poll() is None, (tmp_path / "said").read_text()
                feed(db, at, 2)
                at += 2
                time.sleep(0.2)
        finally:
            os.killpg(other.pid, signal.SIGKILL)
            other.wait()

    run_until(2)
    feed(db, at, 30)
    at += 30
    run_until(5)
    feed(db, at, 30)
    expected = rows_of(db["top"].changes())

    def got() -> list[str]:
        return [line for one in batches.glob("*[0-9]") for line in one.read_text().splitlines()]

    count = len(list(batches.glob("*[0-9]")))
    run_until(count + 2)
    while len(got()) < len(expected):
        run_until(len(list(batches.glob("*[0-9]"))) + 1)
    # What came after was expected later.
    everything = [str(one) for one in rows_of(db["top"].changes())]
    found = got()
    assert len(set(found)) == len(found)
    assert sorted(found) == sorted(everything[: len(found)])


def test_offsets_of_another_run_or_a_swept_record_are_refused(
    db: Connection, tmp_path: Path
) -> None:
    db.execute(DECLARED)
    feed(db, 0)
    home = db.engine.title.removeprefix("home ")
    reader = ChangesReader(SourceOptions.of({"home": home, "query": "top"}))
    start = reader.initialOffset()
    feed(db, 20)
    end = reader.latestOffset(start, None)  # type: ignore[arg-type]  # not looked at
    assert len(reader.partitions(start, end)) == 1
    assert reader.partitions(end, end) == []
    db["top"].drop()
    db.execute(
        "CREATE QUERY top AS SELECT k, MAX(price) AS top FROM s [RANGE 9 SECONDS] GROUP BY k"
    )
    feed(db, 40)
    with pytest.raises(penstock.errors.DataError, match="was registered anew since"):
        reader.partitions(end, reader.latestOffset(end, None))  # type: ignore[arg-type]
