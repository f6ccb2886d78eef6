"""The declarations of sinks, and those of them that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.connectors.connector_list import CONNECTORS, SINKS
from penstock.errors import InternalError, QueryError, did_you_mean
from penstock.spark.causes import cause_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.catalog.definitions import SinkDefinition
    from penstock.connectors.connector import SinkFormat


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
