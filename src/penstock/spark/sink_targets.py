"""The targets of sinks, and the declarations of them that are refused."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from penstock.connectors.connector_list import CONNECTORS, SINKS
from penstock.connectors.folder_sink import FolderSink
from penstock.errors import InternalError, QueryError, did_you_mean
from penstock.results.answer_text import AnswerText
from penstock.results.result_tables import MARKS
from penstock.spark.causes import cause_of
from penstock.spark.child_session import frame_of
from penstock.spark.table_sink import TableSink

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import SinkDefinition
    from penstock.connectors.connector import SinkFormat
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


def sink_format(sink: SinkDefinition) -> SinkFormat:
    """The format of a sink that is not refused."""
    known = CONNECTORS.get(sink.format)
    if known is None or known.sink is None:
        msg = f"nothing is known of sinks in the format {sink.format!r}"
        raise InternalError(msg)
    return known.sink


def needs_spark(sink: SinkDefinition) -> bool:
    """Only Spark can write the format of a sink."""
    return sink_format(sink).written in ("spark", "table")


def place_of(sink: SinkDefinition) -> str:
    """The folder that a sink writes files into, seen from where we are."""
    if sink_format(sink).written != "files":
        return ""
    return str(Path(sink.options["path"].removeprefix("file://")).absolute())


def refuse_sink(spark: SparkSession | None, sink: SinkDefinition) -> None:
    """Refuse a sink that nothing can be written to, as far as its declaration tells.

    Without a session of Spark, what only Spark knows is left out.

    Raises:
        QueryError: The format or an option is at fault.
    """
    if sink.format not in SINKS:
        msg = f'sink "{sink.name}": there is no format called "{sink.format}" for sinks'
        hint = did_you_mean(sink.format, SINKS, otherwise=f"Formats: {', '.join(SINKS)}.")
        raise QueryError(msg, hint=hint)
    form = sink_format(sink)
    for option in form.needed:
        if option not in sink.options:
            msg = f'sink "{sink.name}" has no {option}'
            raise QueryError(msg, hint=f"Add OPTIONS ({_quoted(option)} '...').")
    for option in sink.options:
        if form.options is not None and option not in form.options:
            msg = f'sink "{sink.name}": {sink.format} has no option "{option}"'
            listed = f"Options: {', '.join(sorted(form.options)) or 'none'}."
            raise QueryError(msg, hint=did_you_mean(option, form.options, otherwise=listed))
    if form.written == "files":
        _refuse_path(sink)
    if spark is not None and form.written == "spark":
        _refuse_missing(spark, sink)


def refuse_columns(sink: SinkDefinition, columns: tuple[str, ...]) -> None:
    """Refuse a sink of a query whose columns have the names of those that a sink adds.

    Raises:
        QueryError: There is such a column.
    """
    for name in columns:
        if name in MARKS:
            msg = f'sink "{sink.name}": query "{sink.query}" has a column "{name}"'
            raise QueryError(msg, hint="Sinks add one of that name. Rename yours with AS.")


def _quoted(option: str) -> str:
    return option if option.isidentifier() else f"'{option}'"


def _refuse_path(sink: SinkDefinition) -> None:
    path = sink.options["path"].removeprefix("file://")
    if "://" in path:
        msg = f'sink "{sink.name}": {sink.format} files cannot be written to {path}'
        raise QueryError(msg, hint="Name a folder that this machine sees as a file system.")
    if Path(path).is_file():
        msg = f'sink "{sink.name}": {path} is a file, and not a folder'
        raise QueryError(msg, hint="A folder is needed: there is a file for each commit.")


def _refuse_missing(spark: SparkSession, sink: SinkDefinition) -> None:
    """Refuse formats whose classes are not there."""
    jvm = spark._jvm  # there is no other way to ask Spark which formats it knows
    assert jvm is not None
    sources = jvm.org.apache.spark.sql.execution.datasources.DataSource
    try:
        sources.lookupDataSource(sink.format, spark._jsparkSession.sessionState().conf())
    except Exception as fault:
        package = sink_format(sink).package
        msg = f'sink "{sink.name}": Spark cannot write {sink.format} here'
        hint = (
            f"Its classes are missing ({cause_of(fault).text}). Open the connection with"
            f" spark.jars.packages set to a version of {package} that fits Spark."
        )
        raise QueryError(msg, hint=hint) from None
