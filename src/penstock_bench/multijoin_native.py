"""A join of four streams as a tree of Spark's own stream-stream joins."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from penstock_bench.pipeline_native import counted, timed

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Column, DataFrame, SparkSession


def joins(spark: SparkSession, data: Path, window: int) -> DataFrame:
    """The combinations of rows with one key that are less than a window apart, all of them.

    The event time of what a join finds is that of its first row. By that the next join forgets
    rows; that it is near the other rows is a condition like any other.
    """
    first, *others = sorted(folder.name for folder in data.iterdir())
    parts = [_row(timed(spark, data, name, "0 seconds"), name) for name in (first, *others)]
    whole = parts[0].withColumnRenamed(f"at_{first}", "at")
    joined: list[str] = [first]
    for name, part in zip(others, parts[1:], strict=True):
        whole = _joined(whole, joined, part, name, window)
        joined.append(name)
    return counted(whole.select(*(f"v_{name}" for name in joined)))


def _row(rows: DataFrame, name: str) -> DataFrame:
    """The columns of a stream, by names of its own."""
    return rows.toDF(*(f"{column}_{name}" for column in rows.columns))


def _joined(
    whole: DataFrame, joined: list[str], part: DataFrame, name: str, window: int
) -> DataFrame:
    from pyspark.sql import functions as F

    length = F.expr(f"INTERVAL {window} MICROSECONDS")
    at, other = F.col("at"), F.col(f"at_{name}")
    near = (at < other + length) & (other < at + length)
    apart = [F.abs(F.col(f"ts_{one}") - F.col(f"ts_{name}")) < window for one in joined[1:]]
    same = F.col(f"k_{joined[0]}") == F.col(f"k_{name}")
    asked: Column = reduce(lambda one, more: one & more, [same, near, *apart])
    return whole.join(part, asked).drop(f"at_{name}", f"k_{name}")
