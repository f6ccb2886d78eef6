"""A sink into a table of a catalog: the results of a commit are rows that are added together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connectors.spark_tables import TABLE
from penstock.errors import QueryError
from penstock.spark.child_session import frame_of
from penstock.spark.frame_columns import quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from penstock.catalog.definitions import SinkDefinition

RECORD_COLUMN = "record_column"
"""The option that names a column for the number of the commit."""


class TableSink:
    """Adds rows to a table, by their columns' names; it is made if there is none.

    After a crash the rows of the last commit may come twice, with the same number.
    """

    def __init__(self, spark: SparkSession, definition: SinkDefinition) -> None:
        self._spark = spark
        self._sink = definition
        self._options = dict(definition.options)
        self._table = self._options.pop(TABLE.name)
        self._record = self._options.pop(RECORD_COLUMN, None)

    def begin(self) -> None:
        """Get ready for a new sink: nothing has to be."""

    def write(self, number: int, table: pa.Table) -> None:
        """Add the rows of a commit."""
        from pyspark.sql import functions as F

        frame = frame_of(self._spark, table)
        if self._record is not None:
            frame = frame.withColumn(self._record, F.lit(number).cast("bigint"))
        if self._spark.catalog.tableExists(self._table):
            there = {one.lower(): one for one in self._spark.table(self._table).columns}
            self._require(set(map(str.lower, frame.columns)), set(there))
            # A table takes columns by their places.
            frame = frame.select(*(quoted(one) for one in there.values()))
            frame.write.mode("append").options(**self._options).insertInto(self._table)
        else:
            frame.write.mode("append").options(**self._options).saveAsTable(self._table)

    def _require(self, columns: set[str], there: set[str]) -> None:
        """See that the table has the columns of the results.

        Raises:
            QueryError: It has others.
        """
        if columns == there:
            return
        missing, other = sorted(columns - there), sorted(there - columns)
        wrong = f'no column "{missing[0]}"' if missing else f'a column "{other[0]}" besides'
        msg = f'sink "{self._sink.name}": table {self._table} has {wrong}'
        hint = f"Its columns have to be {', '.join(sorted(columns))}."
        raise QueryError(msg, hint=hint)

    def withdraw(self, number: int) -> None:
        """Nothing: rows that were added stay there."""
