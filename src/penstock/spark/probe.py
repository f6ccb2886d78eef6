"""A job small enough to prove in a second that Spark and its Python workers answer.

`python -m penstock.spark.probe` exits with 0 if they do.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from penstock.spark.jars import SETTING
from penstock.spark.java import find_java
from penstock.spark.java_archive import WRITE, archive_of, draft_of
from penstock.spark.spark_session import end_java, start_session

JAVA_SECONDS = 600.0
"""So long Java may take to end, and to write its archive before."""

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession


def main() -> None:
    """Start Spark, let it work, stop it."""
    session = start_session("penstock doctor", settings={SETTING: "few"})
    try:
        right = squares_add_up(session)
    finally:
        end_java(JAVA_SECONDS)
    if os.environ.get(WRITE) and right:
        _keep_archive()
    if not right:
        sys.exit("Spark started, but gave a wrong answer")


def _keep_archive() -> None:
    """Let the classes that were loaded be found by the next start."""
    java = find_java().executable
    archive = archive_of(java, Path(pyspark.__file__).parent)
    if archive is not None and draft_of(archive).exists():
        draft_of(archive).replace(archive)


def squares_add_up(session: SparkSession, rows: int = 1000) -> bool:
    """Square the numbers below `rows` in Python workers; whether Spark's sum of them is right."""
    squares = session.range(rows).mapInArrow(_square, "square long")
    [[total]] = squares.groupBy().sum("square").collect()
    return bool(total == sum(number * number for number in range(rows)))


def _square(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for batch in batches:
        numbers = batch.column(0)
        yield pa.RecordBatch.from_arrays([pc.multiply(numbers, numbers)], names=["square"])


if __name__ == "__main__":
    main()
