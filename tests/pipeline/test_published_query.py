"""Results that other programs read: each once, however offsets fall, whoever reads them."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from penstock.errors import DataError, QueryError
from penstock.pipeline.sweeping import Retention
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.spark import data_source
from penstock.spark.data_source import ChangesReader, ContentReader
from penstock.spark.source_options import SourceOptions
from store.driving import Driver

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.reference.timeline import Row

STATEMENTS = (
    "CREATE STREAM s (ts BIGINT, k INT, v INT, WATERMARK FOR ts AS ts - 3)",
    "CREATE QUERY sums AS SELECT k, SUM(v) AS total FROM s [RANGE 30] GROUP BY k",
    "CREATE QUERY kinds AS SELECT v % 2 AS odd FROM s [RANGE 6]",
    "CREATE QUERY news AS ISTREAM(SELECT DISTINCT k FROM s [RANGE 4])",
    "CREATE QUERY ended AS SELECT k, v FROM s [RANGE 5] EMIT FINAL",
)
QUERIES = ("sums", "kinds", "news", "ended")
LIMIT = ReadAllAvailable()


def values(number: int) -> list[Row]:
    return [(number * 5 + i - number % 3, i % 3, number * 7 % 11) for i in range(4)]


def feed(driver: Driver, numbers: range) -> list[Row]:
    taken: list[Row] = []
    for number in numbers:
        rows = values(number)
        driver.batch({"s": [dict(zip(("ts", "k", "v"), row, strict=True)) for row in rows]})
        taken += rows
    return taken


def opened(driver: Driver, query: str, **options: str) -> ChangesReader:
    return ChangesReader(options_of(driver, query, **options))


def options_of(driver: Driver, query: str, **options: str) -> SourceOptions:
    return SourceOptions.of({"home": str(driver.home.path), "query": query, **options})


def between(
    reader: ChangesReader, start: dict[str, Any], end: dict[str, Any]
) -> Counter[tuple[Any, ...]]:
    """The rows of a batch, as Spark's tasks read them, in any order."""
    found: Counter[tuple[Any, ...]] = Counter()
    for one in reader.partitions(start, end):
        for batch in reader.read(one):
            found.update(tuple(row.values()) for row in batch.to_pylist())
    return found


def whole(driver: Driver, query: str, **options: str) -> Counter[tuple[Any, ...]]:
    """All rows that are kept, read at once by a process that knows nothing."""
    data_source._READERS.clear()
    reader = opened(driver, query, **options)
    start = reader.initialOffset()
    return between(reader, start, reader.latestOffset(start, LIMIT))


@pytest.mark.parametrize("seed", range(4))
def test_each_row_comes_once_wherever_a_reading_stops(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with Driver(tmp_path, STATEMENTS, list(QUERIES), lanes=2) as driver:
        shares = {one: str(draw.choice([1, 3])) for one in QUERIES}
        readers = {one: opened(driver, one, partitions=shares[one]) for one in QUERIES}
        offsets = {one: reader.initialOffset() for one, reader in readers.items()}
        found = {one: Counter[tuple[Any, ...]]() for one in QUERIES}
        number = 0
        while number < 40:
            step = draw.randrange(1, 8)
            feed(driver, range(number, number + step))
            number += step
            for query in draw.sample(QUERIES, 3):
                reader, start = readers[query], offsets[query]
                end = reader.latestOffset(start, LIMIT)
                if draw.random() < 0.3:
                    data_source._READERS.clear()  # Another process reads on.
                if draw.random() < 0.3:
                    between(reader, start, end)  # Its task failed at the end, and runs again.
                if draw.random() < 0.2:
                    readers[query] = opened(driver, query, partitions=shares[query])
                found[query] += between(reader, start, end)
                offsets[query] = end
        for query, reader in readers.items():
            end = reader.latestOffset(offsets[query], LIMIT)
            found[query] += between(reader, offsets[query], end)
            assert found[query] == whole(driver, query), query
            assert sum(found[query].values()) > 20


def test_changes_are_the_oracle_s_to_the_end_of_the_input(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, list(QUERIES), lanes=3) as driver:
        taken = feed(driver, range(30))
        before = whole(driver, "sums")
        driver.flush()
        # The end may be taken back: it is for who asks for it.
        assert whole(driver, "sums") == before
        plans = {
            name: plan
            for one in driver.ledger.plan.groups.values()
            for name, plan in one.plans.items()
        }
        late = sum(one.late for one in driver.ledger.record.streams.values())
        assert late == 0
        for query in ("sums", "kinds"):
            timeline = Oracle(Inputs({"s": taken})).timeline(plans[query])
            expected = Counter(
                (*row, change.at, sign)
                for change in timeline.changes()
                for sign, rows in (("-", change.removed), ("+", change.inserted))
                for row in rows.elements()
            )
            assert whole(driver, query, end_of_input="true", partitions="2") == expected
        reader = opened(driver, "sums", end_of_input="true")
        end = reader.latestOffset(reader.initialOffset(), LIMIT)
        feed(driver, range(30, 33))
        with pytest.raises(DataError, match="has gone on after what was taken for its end"):
            reader.partitions(end, reader.latestOffset(end, LIMIT))
        # Who did not ask goes on as if it had not been.
        assert whole(driver, "sums") > before


def test_what_was_swept_is_refused_and_the_content_is_there(tmp_path: Path) -> None:
    with Driver(tmp_path, STATEMENTS, list(QUERIES)) as driver:
        feed(driver, range(5))
        reader = opened(driver, "sums")
        start = reader.latestOffset(reader.initialOffset(), LIMIT)
        feed(driver, range(5, 40))
        near = reader.latestOffset(start, LIMIT)
        driver.housekeeping.clean(Retention(seconds=0.0, records=5, grace=0.0, fold_records=0))
        feed(driver, range(40, 42))
        end = reader.latestOffset(start, LIMIT)
        with pytest.raises(DataError, match=r"in the records .* are not kept any more"):
            reader.partitions(start, end)
        data_source._READERS.clear()
        assert between(reader, near, end)
        assert whole(driver, "sums")
        content = ContentReader(options_of(driver, "sums"))
        (partition,) = content.partitions()
        rows = pa.Table.from_batches(list(content.read(partition))).to_pylist()
        assert {row["_at"] for row in rows} == {driver.ledger.record.clocks["sums"] - 1}
        old = ContentReader(options_of(driver, "sums", at="10"))
        with pytest.raises(QueryError, match='the result of query "sums" at 10 is not kept'):
            old.partitions()


def test_another_home_under_the_old_checkpoint_is_refused(tmp_path: Path) -> None:
    with Driver(tmp_path / "one", STATEMENTS, ["sums"]) as driver:
        feed(driver, range(20))
        reader = opened(driver, "sums")
        start = reader.latestOffset(reader.initialOffset(), LIMIT)
    with Driver(tmp_path / "two", STATEMENTS, ["sums"]) as driver:
        feed(driver, range(3))
        with pytest.raises(DataError, match=r"records, .* have been read"):
            opened(driver, "sums").latestOffset(start, LIMIT)
