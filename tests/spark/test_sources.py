"""What Spark reads: rows that are unreadable, relations that change, the order of files."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import DataError
from penstock.observe.observation import Observer
from penstock.pipeline.bound import bound
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.spark.pipeline import Pipeline
from penstock.spark.spark_session import start_session
from penstock.store.inserted_rows import bring
from penstock.store.layout import Home
from penstock.store.result_files import result_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    session = start_session("penstock tests")
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    made.open()
    yield made
    made.close()


def running(spark: SparkSession, home: Home, *statements: str) -> Pipeline:
    """A pipeline with all queries of the statements."""
    session = bound(PipelinePlan(statements)).session
    plans = {one.name: one.plan for one in session.catalog.of_kind("query")}  # type: ignore[attr-defined]  # of queries
    pipeline = Pipeline(spark, home, 2)
    pipeline.ledger.change_plan(PipelinePlan(statements, tuple(groups_for(plans, 0, 2))))
    return pipeline


def aside(home: Home, stream: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Observer(home).late(stream).to_pylist()
    return found


def elements(home: Home, query: str) -> Counter[tuple[object, ...]]:
    """Rows with their signs, whenever they hold."""
    found: Counter[tuple[object, ...]] = Counter()
    for record in home.chain.since(0):
        for block in result_blocks(home, record, query):
            columns = [column.to_pylist() for column in block.columns]
            for row, sign in zip(zip(*columns, strict=True), block.signs, strict=True):
                found[row] += int(sign)
    return found


def test_what_cannot_be_read_is_set_aside_with_its_place(
    spark: SparkSession, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "a.csv").write_text(
        "ts,k,v\n2026-01-01 00:00:01,1,2.5\n2026-01-01 00:00:02,x,2.5\nrubbish\n,3,4\n"
    )
    (tmp_path / "json").mkdir()
    lines = [json.dumps({"ts": 5, "k": 1}), json.dumps({"ts": 6, "k": "one"}), "{oops"]
    (tmp_path / "json" / "b.json").write_text("\n".join(lines))
    pipeline = running(
        spark,
        home,
        "CREATE STREAM c (ts TIMESTAMP, k INT, v DOUBLE, WATERMARK FOR ts AS ts)"
        f" USING csv OPTIONS (path '{tmp_path}/csv', header 'true')",
        "CREATE STREAM j (ts BIGINT, k INT, WATERMARK FOR ts AS ts)"
        f" USING json OPTIONS (path '{tmp_path}/json')",
        "CREATE QUERY from_csv AS SELECT k, v FROM c [RANGE 10 SECONDS]",
        "CREATE QUERY from_json AS SELECT k FROM j [RANGE 10]",
    )
    pipeline.start(finite=True)
    pipeline.wait()
    pipeline.flush()
    assert elements(home, "from_csv") == {(1, 2.5): 1}
    assert elements(home, "from_json") == {(1,): 1}
    found = {(row["_position"], row["_raw"], row["_reason"]) for row in aside(home, "c")}
    file = f"{tmp_path}/csv/a.csv"
    assert found == {
        (
            f"{file}, line 3",
            "2026-01-01 00:00:02,x,2.5",
            'unreadable: column "k": "x" is no INT',
        ),
        (f"{file}, line 4", "rubbish", "unreadable: 1 value where 3 are expected"),
        (f"{file}, line 5", None, "no event time"),
    }
    assert {row["_raw"] for row in aside(home, "j")} == set(lines[1:])
    places = {row["_position"] for row in aside(home, "j")}
    assert places == {f"{tmp_path}/json/b.json, line {number}" for number in (2, 3)}
    assert pipeline.ledger.record.streams["c"].aside == 3
    assert pipeline.ledger.record.streams["j"].aside == 2


def test_rows_of_one_instant_are_counted_in_the_order_of_their_files(
    spark: SparkSession, home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    # The later the file, the earlier its name, and the larger: Spark reads large files first.
    for number in range(4):
        path = folder / f"{9 - number}.parquet"
        values = [number * 100 + i for i in range(10 * (number + 1))]
        pq.write_table(pa.table({"ts": [7] * len(values), "v": values}), path)
        os.utime(path, (1000 + number, 1000 + number))
    pipeline = running(
        spark,
        home,
        "CREATE STREAM s (ts BIGINT, v BIGINT, WATERMARK FOR ts AS ts)"
        f" USING parquet OPTIONS (path '{folder}')",
        "CREATE QUERY last AS SELECT v FROM s [ROWS 3]",
    )
    pipeline.start(finite=True)
    pipeline.wait()
    pipeline.flush()
    left = {row for row, copies in elements(home, "last").items() if copies}
    assert left == {(337,), (338,), (339,)}


def test_a_relation_is_read_again(spark: SparkSession, home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "names"
    folder.mkdir()
    pq.write_table(pa.table({"k": [1, 2, 2], "name": ["one", "two", "two"]}), folder / "a.parquet")
    pipeline = running(
        spark,
        home,
        "CREATE STREAM s (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts)",
        "CREATE RELATION names (k BIGINT, name STRING)"
        f" USING parquet OPTIONS (path '{folder}', reload '0 seconds')",
        "CREATE QUERY named AS SELECT s.k, name FROM s [UNBOUNDED], names WHERE s.k = names.k",
    )
    bring(home, "s", pa.table({"ts": [1, 2, 3], "k": [1, 2, 8]}))
    pipeline.start(finite=True)
    pipeline.wait()
    pipeline.tick()
    assert +elements(home, "named") == {(1, "one"): 1, (2, "two"): 2}
    (folder / "a.parquet").unlink()
    pq.write_table(pa.table({"k": [1, 2], "name": ["uno", "two"]}), folder / "b.parquet")
    pipeline.tick()
    bring(home, "s", pa.table({"ts": [50], "k": [9]}))
    pipeline.start(finite=True)
    pipeline.wait()
    pipeline.flush()
    assert +elements(home, "named") == {(1, "uno"): 1, (2, "two"): 1}


def test_a_relation_that_cannot_be_read_is_named(
    spark: SparkSession, home: Home, tmp_path: Path
) -> None:
    pipeline = running(
        spark,
        home,
        f"CREATE RELATION gone (k BIGINT) USING parquet OPTIONS (path '{tmp_path}/gone')",
        "CREATE QUERY q AS SELECT k FROM gone",
    )
    with pytest.raises(DataError, match=r'relation "gone": the path .* does not exist'):
        pipeline.flush()
