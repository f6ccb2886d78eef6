"""DataFrames and tables of a catalog as streams and relations, and results as DataFrames."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import DataError, NotSupported, PipelineFailed, QueryError
from penstock.spark.child_session import running_session
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from penstock.connection.connection import Connection

QUERY = """
    CREATE QUERY named AS
    SELECT page, COUNT(*) AS n FROM clicks [RANGE 20 SECONDS] JOIN pages ON clicks.k = pages.k
    GROUP BY page;
"""
PAGES = [(1, "home"), (2, "news"), (3, "shop")]
START = 1_714_560_000_000_000


@pytest.fixture
def spark(db: Connection) -> SparkSession:
    """The session of a program that has its own settings."""
    session = running_session()
    assert session is not None
    mine = session.newSession()
    mine.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    return mine


def clicks(spark: SparkSession, folder: Path) -> DataFrame:
    """A stream of a program's own: files, read and changed by Spark."""
    folder.mkdir(exist_ok=True)
    read = spark.readStream.schema("at TIMESTAMP_NTZ, k SMALLINT, wide BIGINT")
    return read.parquet(str(folder)).where("k > 0").drop("wide")


def put(folder: Path, name: str, rows: list[tuple[int, int]]) -> None:
    times = pa.array([START + 1_000_000 * at for at, _ in rows], pa.timestamp("us"))
    keys = pa.array([key for _, key in rows], pa.int16())
    table = pa.table({"at": times, "k": keys, "wide": pa.array([0] * len(rows), pa.int64())})
    folder.mkdir(exist_ok=True)
    pq.write_table(table, folder / f"{name}.parquet")


def expected(rows: list[tuple[int, int]], changes: list[tuple[str, list[Any]]] = []) -> list[Any]:  # noqa: B006  # never changed
    """The changes that the engine in this process finds for the rows."""
    with penstock.connect_inline() as db:
        db.execute(f"""
            CREATE STREAM clicks (at TIMESTAMP, k INT, WATERMARK FOR at AS at - INTERVAL 9 SECONDS);
            CREATE RELATION pages (k INT, page STRING);
            {QUERY}
        """)
        db.update("pages", insert=PAGES)
        times = pa.array([START + 1_000_000 * at for at, _ in rows], pa.timestamp("us"))
        db.insert("clicks", pa.table({"at": times, "k": [key for _, key in rows]}))
        db.finish()
        return sorted(map(repr, db["named"].changes().to_pylist()))


def test_a_stream_and_a_relation_of_dataframes(
    connect: Callable[..., Connection], db: Connection, spark: SparkSession, tmp_path: Path
) -> None:
    draw = random.Random(3)
    rows = [(at + draw.randrange(8), draw.randrange(5)) for at in range(60)]
    kept = [one for one in rows if one[1] > 0]
    frame = clicks(spark, tmp_path / "clicks")
    db.stream("clicks", frame, watermark="at - INTERVAL 9 SECONDS")
    db.relation("pages", spark.createDataFrame(PAGES, "k INT, page STRING"))
    db.execute(QUERY)
    for number in range(3):
        put(tmp_path / "clicks", str(number), rows[20 * number : 20 * number + 20])
        db.wait_idle()
    assert db.progress()["streams"]["clicks"]["rows"] == len(kept)
    db.close()
    # Opened again, it waits for the DataFrame, and then goes on where it was.
    with connect() as again:
        assert again.failure is not None
        with pytest.raises(PipelineFailed, match="which this connection has not been given"):
            again.wait_idle()
        rest = [(at, 1 + at % 3) for at in range(61, 90)]
        put(tmp_path / "clicks", "3", rest)
        again.stream("clicks", frame)
        again.wait_idle()
        # Of the relation the home knows what it held.
        assert again.progress()["streams"]["clicks"]["rows"] == len(kept) + len(rest)
        again.finish()
        found = again["named"].changes().to_pylist()
        assert sorted(map(repr, found)) == expected(kept + rest)


def test_a_relation_that_is_given_again_is_read_anew(db: Connection, spark: SparkSession) -> None:
    db.relation("pages", spark.createDataFrame(PAGES, "k INT, page STRING"))
    db.execute("CREATE QUERY all_pages AS SELECT k, page FROM pages")
    db.wait_idle()
    assert len(db["all_pages"].snapshot()) == 3
    db.relation("pages", spark.createDataFrame([*PAGES[:2], (9, "help")], "k INT, page STRING"))
    db.wait_idle()
    assert [tuple(one.values()) for one in db["all_pages"].snapshot().to_pylist()] == [
        *PAGES[:2],
        (9, "help"),
    ]


def test_what_no_stream_or_relation_can_be_is_refused(
    db: Connection, spark: SparkSession, tmp_path: Path
) -> None:
    frame = clicks(spark, tmp_path / "clicks")
    batch = spark.createDataFrame(PAGES, "k INT, page STRING")

    def refused(give: Callable[[], object], *words: str) -> None:
        with pytest.raises((QueryError, DataError)) as caught:
            give()
        for word in words:
            assert word in str(caught.value)

    refused(lambda: db.stream("s", frame), "which column is its event time", "Columns: at, k")
    refused(lambda: db.stream("s", frame, "tat"), 'WATERMARK FOR "tat"', '"at"')
    refused(lambda: db.stream("s", frame, "k", idle_timout="9"), "idle_timeout")
    refused(lambda: db.stream("s", batch, "k"), "does not stream", "db.relation")
    refused(lambda: db.relation("r", frame), "streams", "db.stream")
    refused(lambda: db.stream("s", pa.table({}), "k"), "a pyarrow.Table came", "db.insert")
    odd = spark.sql("SELECT 1 AS k, ARRAY(1) AS many")
    refused(lambda: db.relation("r", odd), 'column "many"', "ARRAY<INT>, which no column can be")
    assert db.execute("SHOW STREAMS") is not None
    db.stream("s", frame, "at - INTERVAL 1 SECOND")
    refused(lambda: db.relation("s", batch), 'there is already a stream called "s"')
    refused(lambda: db.stream("s", frame, "at"), "declared already, in another way")
    refused(lambda: db.stream("s", frame.drop("k")), 'has no column "k"')
    wider = frame.selectExpr("at", "CAST(k AS STRING) AS k")
    refused(lambda: db.stream("s", wider), 'column "k" is declared INT, but the DataFrame has STR')
    refused(lambda: db.insert("s", [(1, 2)]), "rows cannot be inserted")
    with penstock.connect_inline() as inline:
        with pytest.raises(NotSupported, match="has no Spark, which reads DataFrames"):
            inline.stream("s", frame, "at")
        with pytest.raises(NotSupported, match="has no Spark to read a DataFrame"):
            inline.relation("r", batch)


def test_tables_of_a_catalog(db: Connection, spark: SparkSession, tmp_path: Path) -> None:
    for table, columns in (("clicks", "at BIGINT, k INT"), ("pages", "k INT, page STRING")):
        spark.sql(f"DROP TABLE IF EXISTS t_{table}")
        spark.sql(f"CREATE TABLE t_{table} ({columns}) USING parquet LOCATION '{tmp_path}/{table}'")
    spark.sql("DROP TABLE IF EXISTS t_out")
    spark.sql("INSERT INTO t_clicks VALUES (1, 1), (2, 2), (3, 9)")
    spark.sql("INSERT INTO t_pages VALUES (1, 'home'), (2, 'news')")
    with pytest.raises(DataError, match="table t_none cannot be read"):
        db.execute("CREATE STREAM none (WATERMARK FOR at AS at) FROM TABLE t_none")
    db.execute(f"""
        CREATE STREAM clicks (WATERMARK FOR at AS at)
        FROM TABLE spark_catalog.default.t_clicks;
        CREATE RELATION pages (k BIGINT, page STRING) FROM TABLE t_pages;
        CREATE QUERY named AS
        SELECT page FROM clicks [RANGE 5] JOIN pages ON clicks.k = pages.k;
        CREATE SINK out FROM named INTO TABLE t_out
        OPTIONS (path '{tmp_path}/out', record_column 'commit');
        CREATE SINK wrong FROM named INTO TABLE t_pages;
    """)
    db.wait_idle()
    spark.sql("INSERT INTO t_clicks VALUES (10, 1)")
    db.finish()
    written = spark.table("t_out").drop("commit").collect()
    found = [tuple(one.values()) for one in db["named"].changes().to_pylist()]
    assert sorted(map(tuple, written)) == sorted(found)
    assert len(found) == 6
    numbers = [row["commit"] for row in spark.table("t_out").collect()]
    assert 2 <= len(set(numbers)) <= db.engine.position
    errors = spark_engine(db).sinks.errors
    assert list(errors) == ["wrong"]
    assert 'table t_pages has no column "_at"' in errors["wrong"]


def test_a_function_gets_the_results_of_each_commit(db: Connection, spark: SparkSession) -> None:
    seen: dict[int, list[Any]] = {}
    db.execute("""
        CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts);
        CREATE QUERY q AS SELECT k FROM s [RANGE 2];
    """)
    db["q"].foreach_batch(lambda frame, number: seen.update({number: frame.collect()}))
    for number in range(3):
        db.insert("s", [(3 * number, number), (3 * number + 1, 8)])
        db.wait_idle()
    db.finish()
    assert len(seen) > 1
    found = [tuple(row) for _, rows in sorted(seen.items()) for row in rows]
    assert found == [tuple(one.values()) for one in db["q"].changes().to_pylist()]
