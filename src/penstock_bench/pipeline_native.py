"""Spark's own operators: what comes nearest to our queries in Structured Streaming.

The join is the same query. The others are not: Spark has no window that slides with every row.
"""

from __future__ import annotations

from array import array
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState

STATE_STORES = {
    "HDFS-backed": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "RocksDB": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
"""Where Spark keeps state: as files of changes under a map in memory, or in RocksDB."""
OBSERVED = "results"
"""The metric under which Spark counts the rows that come out."""


def source(spark: SparkSession, data: Path, stream: str) -> DataFrame:
    """The rows of a stream, a file at a time."""
    reader = spark.readStream.schema("ts long, k long, v long")
    return reader.option("maxFilesPerTrigger", 1).parquet(str(data / stream))


def join(spark: SparkSession, data: Path, window: int) -> DataFrame:
    """The pairs of rows with one key that are less than a window apart."""
    from pyspark.sql import functions as F

    one = timed(spark, data, "a", "0 seconds").alias("a")
    other = timed(spark, data, "b", "0 seconds").alias("b")
    length = F.expr(f"INTERVAL {window} MICROSECONDS")
    near = (F.col("a.at") < F.col("b.at") + length) & (F.col("b.at") < F.col("a.at") + length)
    both = one.join(other, (F.col("a.k") == F.col("b.k")) & near)
    return counted(both.select(F.col("a.v"), F.col("b.v").alias("w")))


def hopping(spark: SparkSession, data: Path, window: int) -> DataFrame:
    """The aggregate over windows that hop by a tenth of their length: ten answers for each row.

    It says nothing about the instants between two hops, and comes when a window has ended.
    """
    from pyspark.sql import functions as F

    rows = timed(spark, data, "a", "0 seconds")
    lengths = [f"{micros} microseconds" for micros in (window, window // 10)]
    grouped = rows.groupBy(F.window("at", *lengths), "k")
    return counted(grouped.agg(F.count("*"), F.sum("v"), F.max("v")))


def by_hand(spark: SparkSession, data: Path, window: int) -> DataFrame:
    """The exact aggregate, written by hand against `applyInPandasWithState`."""
    rows = timed(spark, data, "a", "0 seconds").groupBy("k")
    made = rows.applyInPandasWithState(
        SlidingAggregate(window),
        "k long, ts long, n long, total long, top long",
        # Binary: with arrays in the state, workers of PySpark 4.3 fail on its schema.
        "held_ts binary, held_v binary",
        "append",
        "EventTimeTimeout",
    )
    return counted(made)


def without_duplicates(spark: SparkSession, data: Path, window: int) -> DataFrame:
    """Each key as it appears; unlike DISTINCT over a window, it never says that a key has gone."""
    rows = timed(spark, data, "a", f"{window} microseconds")
    return counted(rows.dropDuplicatesWithinWatermark(["k"]).select("k"))


class SlidingAggregate:
    """COUNT, SUM and MAX of a key at each instant at which one of its rows comes or goes."""

    def __init__(self, window: int) -> None:
        self._window = window

    def __call__(
        self, key: tuple[Any, ...], frames: Iterable[Any], state: GroupState
    ) -> Iterator[Any]:
        """Take in the rows of one key in one micro-batch, or the passing of time."""
        import pandas as pd  # type: ignore[import-untyped]

        held = deque(zip(*map(_numbers, state.get), strict=True)) if state.exists else deque()
        arrived: list[tuple[int, int]] = []
        if state.hasTimedOut:
            until = state.getCurrentWatermarkMs() * 1000
        else:
            for frame in frames:
                arrived += zip(frame["ts"].tolist(), frame["v"].tolist(), strict=True)
            arrived.sort()
            until = arrived[-1][0]
        found = list(self._changes(held, deque(arrived), until))
        if held:
            ts, values = zip(*held, strict=True)
            state.update((array("q", ts).tobytes(), array("q", values).tobytes()))
            state.setTimeoutTimestamp((held[0][0] + self._window) // 1000 + 1)
        elif state.exists:
            state.remove()
        rows = [(int(key[0]), *one) for one in found]
        yield pd.DataFrame(rows, columns=["k", "ts", "n", "total", "top"])

    def _changes(
        self, held: deque[tuple[int, int]], arrived: deque[tuple[int, int]], until: int
    ) -> Iterator[tuple[int, int, int, int]]:
        """Instant, count, sum and maximum at each change up to an instant; moves rows to `held`."""
        instants = {ts for ts, _ in arrived}
        instants |= {ts + self._window for ts, _ in (*held, *arrived)}
        for now in sorted(one for one in instants if one <= until):
            while arrived and arrived[0][0] <= now:
                held.append(arrived.popleft())
            while held and held[0][0] <= now - self._window:
                held.popleft()
            if held:
                values = [value for _, value in held]
                yield now, len(values), sum(values), max(values)


def _numbers(content: bytes) -> array[int]:
    return array("q", bytes(content))


def timed(spark: SparkSession, data: Path, stream: str, delay: str) -> DataFrame:
    """The rows of a stream with their time as Spark wants it, and a watermark."""
    from pyspark.sql import functions as F

    rows = source(spark, data, stream).withColumn("at", F.timestamp_micros("ts"))
    return rows.withWatermark("at", delay)


def counted(frame: DataFrame) -> DataFrame:
    """The same rows, which Spark counts."""
    from pyspark.sql import functions as F

    return frame.observe(OBSERVED, F.count(F.lit(1)).alias("n"))
