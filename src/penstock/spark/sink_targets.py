"""The targets of sinks."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from penstock.connectors.folder_sink import FolderSink
from penstock.errors import QueryError
from penstock.results.answer_text import AnswerText
from penstock.results.result_tables import MARKS
from penstock.spark.child_session import frame_of
from penstock.spark.sink_declarations import sink_format
from penstock.spark.table_sink import TableSink

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import SinkDefinition
    from penstock.operators.block import Block
    from penstock.results.paragraphs import Paragraphs

PYTHON = "python"
"""What the format of a sink that calls a function is called; no statement can declare one."""


class SinkTarget(Protocol):
    """Takes the results of commits, each with the number of its record."""

    def begin(self) -> None:
        """Get ready for a new sink."""

    def write(self, number: int, table: pa.Table) -> None:
        """Take the results of a commit; at times the same ones again."""

    def withdraw(self, number: int) -> None:
        """Take back the results of an end of input that was none, if that can be done."""


class Append:
    """A target that has nothing to prepare, and cannot take anything back."""

    def begin(self) -> None:
        """Get ready for a new sink."""

    def withdraw(self, number: int) -> None:
        """Nothing: rows that were passed on stay there."""


class CallSink(Append):
    """Calls a function with each table and the number of its record."""

    def __init__(self, function: Callable[[pa.Table, int], object]) -> None:
        self._function = function

    def write(self, number: int, table: pa.Table) -> None:
        """Call the function."""
        self._function(table, number)


class ConsoleSink(Append):
    """Prints the answer as it goes on.

    Args:
        title: What the answer is called, if it has a name.
        paragraphs: Where it is printed, beside others.
        intervals: Whether rows are printed with the time in which they hold.
    """

    def __init__(
        self, title: str | None, paragraphs: Paragraphs, *, intervals: bool = False
    ) -> None:
        self._title = title
        self._paragraphs = paragraphs
        self._intervals = intervals
        self._made: AnswerText | None = None

    def print(self, plan: Plan, block: Block) -> None:
        """Print what a commit says: net changes or rows sent out, in time order."""
        text = self._text(plan)
        self._paragraphs.go_on(text, chain(text.add(block), text.flush()))

    def pass_over(self, plan: Plan, block: Block) -> None:
        """Take in a commit that was printed before: rows that it began may end now."""
        self._text(plan).pass_over(block)

    def _text(self, plan: Plan) -> AnswerText:
        if self._made is None:
            self._made = AnswerText(plan, self._title, intervals=self._intervals)
        return self._made


class MemorySink:
    """Keeps all tables in this process."""

    def __init__(self) -> None:
        self._tables: dict[int, pa.Table] = {}

    def begin(self) -> None:
        """Get ready for a new sink."""
        self._tables.clear()

    def write(self, number: int, table: pa.Table) -> None:
        """Keep a table."""
        self._tables[number] = table

    def withdraw(self, number: int) -> None:
        """Forget a table."""
        self._tables.pop(number, None)

    def table(self) -> pa.Table | None:
        """All of them as one; None if there is none yet."""
        tables = list(self._tables.values())
        return pa.concat_tables(tables) if tables else None


class SparkSink(Append):
    """Hands tables to Spark's writer of a format.

    Delta is told which application wrote which record, and leaves out what it has already.
    """

    def __init__(self, spark: SparkSession, definition: SinkDefinition, key: str) -> None:
        self._spark = spark
        self._name = definition.format
        self._format = sink_format(definition)
        self._options = dict(definition.options)
        self._key = key

    def write(self, number: int, table: pa.Table) -> None:
        """Append the rows."""
        frame = frame_of(self._spark, table)
        options = self._options
        if self._format.knows_records:
            options = options | {"txnAppId": self._key, "txnVersion": str(number)}
        if self._format.as_messages:
            frame = _messages(frame)
        frame.write.format(self._name).mode("append").options(**options).save()


def _messages(frame: DataFrame) -> DataFrame:
    """Each row as a JSON object, which is what Kafka takes."""
    from pyspark.sql import functions as F

    return frame.select(F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("value"))


def target_for(
    spark: SparkSession | None, sink: SinkDefinition, place: str, key: str, paragraphs: Paragraphs
) -> SinkTarget | ConsoleSink:
    """The target of a sink.

    Args:
        spark: Writes what Spark has to; None where no sink needs it.
        sink: Its definition.
        place: The folder that it began with, if it writes files.
        key: Stands for the sink and its home, and for no other.
        paragraphs: What is printed, and where.
    """
    form = sink_format(sink)
    match form.written:
        case "files":
            assert form.write is not None
            return FolderSink(Path(place), sink.format, form.write, sink.options)
        case "console":
            return ConsoleSink(sink.name, paragraphs)
        case "memory":
            return MemorySink()
        case "spark":
            assert spark is not None
            return SparkSink(spark, sink, key)
        case "table":
            assert spark is not None
            return TableSink(spark, sink)


def refuse_columns(sink: SinkDefinition, columns: tuple[str, ...]) -> None:
    """Refuse a sink of a query whose columns have the names of those that a sink adds.

    Raises:
        QueryError: There is such a column.
    """
    for name in columns:
        if name in MARKS:
            msg = f'sink "{sink.name}": query "{sink.query}" has a column "{name}"'
            raise QueryError(msg, hint="Sinks add one of that name. Rename yours with AS.")
