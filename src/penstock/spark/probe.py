"""A job small enough to prove in a second that Spark and its Python workers answer.

`python -m penstock.spark.probe` exits with 0 if they do.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from penstock.spark.spark_session import start_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession


def main() -> None:
    """Start Spark, let it work, stop it."""
    session = start_session("penstock doctor")
    try:
        right = squares_add_up(session)
    finally:
        session.stop()
    if not right:
        sys.exit("Spark started, but gave a wrong answer")


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
