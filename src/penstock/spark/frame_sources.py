"""Streams and relations that are DataFrames: declared by what the DataFrame is, and given again."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connectors.spark_tables import DATAFRAME
from penstock.cql import syntax
from penstock.errors import QueryError
from penstock.session import Session
from penstock.spark.frame_columns import columns_text, declared_columns, quoted
from penstock.spark.given_frames import is_frame, usable_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from penstock.catalog.definitions import Definition
    from penstock.spark.spark_engine import SparkEngine


def give_stream(
    engine: SparkEngine,
    name: str,
    given: object,
    watermark: str | None,
    options: Mapping[str, str],
) -> None:
    """Let a stream be a streaming DataFrame.

    Raises:
        QueryError: The DataFrame cannot be one, or the stream was declared otherwise.
        DataError: It is declared, and the DataFrame has other columns.
    """
    source = f'stream "{name}"'
    frame = usable_frame(source, given, engine.spark)
    known = engine.catalog.get(name)
    if known is None and watermark is None:
        msg = f"{source} does not say which column is its event time"
        hint = f'Add watermark="column - INTERVAL 5 SECONDS". Columns: {", ".join(frame.columns)}.'
        raise QueryError(msg, hint=hint)
    event_time = "" if watermark is None else f", {_watermark(frame, watermark)}"
    text = _statement("STREAM", name, columns_text(source, frame) + event_time, options)
    if known is None:
        _declare(engine, name, frame, text)
        return
    known = _require_frame(known, "stream")
    if watermark is not None or options:
        _require_same(known, text)
    _take_again(engine, known, frame)


def give_relation(
    engine: SparkEngine, name: str, given: object, options: Mapping[str, str]
) -> None:
    """Let a relation be a DataFrame.

    Raises:
        QueryError: The DataFrame cannot be one, or the name is that of something else.
        DataError: It is declared, and the DataFrame has other columns.
    """
    source = f'relation "{name}"'
    frame = usable_frame(source, given, engine.spark)
    known = engine.catalog.get(name)
    text = _statement("RELATION", name, columns_text(source, frame), options)
    if known is None:
        _declare(engine, name, frame, text)
        return
    known = _require_frame(known, "relation")
    if options:
        _require_same(known, text)
    _take_again(engine, known, frame)


def _require_frame(known: Definition, kind: str) -> StreamDefinition | RelationDefinition:
    """The source of a name, which has to be a DataFrame.

    Raises:
        QueryError: It is something else.
    """
    if isinstance(known, StreamDefinition | RelationDefinition) and known.kind == kind:
        if is_frame(known):
            return known
        msg = f'{kind} "{known.name}" is declared already, and is no DataFrame'
    else:
        msg = f'there is already a {known.kind} called "{known.name}"'
    raise QueryError(msg, hint="Choose another name, or drop that first.")


def note_statement(engine: SparkEngine, statement: syntax.Statement) -> None:
    """A source was dropped or declared: what is left of another one of its name is not its own."""
    if isinstance(statement, syntax.Drop):
        engine.running.pipeline.given.forget(statement.name.text)
    if isinstance(statement, syntax.CreateSource):
        shutil.rmtree(engine.home.frame_checkpoint(statement.name.text), ignore_errors=True)


def _declare(engine: SparkEngine, name: str, frame: DataFrame, text: str) -> None:
    """Declare a new source."""
    given = engine.running.pipeline.given
    given.give(name, frame)
    try:
        engine.execute(text)
    except BaseException:
        given.forget(name)
        raise


def _take_again(
    engine: SparkEngine, known: StreamDefinition | RelationDefinition, frame: DataFrame
) -> None:
    """Go on with a DataFrame that was given again, or another one in its place."""
    declared_columns(f'{known.kind} "{known.name}"', known.schema, frame)
    running = engine.running
    with running.changing:
        running.pipeline.given.give(known.name, frame)
        running.pipeline.reloading.read_anew(known.name)
        if running.reads(known):
            # What else is missing is told to whoever waits.
            running.pipeline.stop()
            running.open()
            if running.failure is None:
                running.tell_timeless()


def _require_same(known: StreamDefinition | RelationDefinition, text: str) -> None:
    """See that a source is declared as it was.

    Raises:
        QueryError: It is not so.
    """
    declared = Session()
    declared.execute(text)
    if declared.catalog.get(known.name) != known:
        msg = f'{known.kind} "{known.name}" is declared already, in another way'
        hint = "Leave all but the DataFrame out to go on with it, or drop it first."
        raise QueryError(msg, hint=hint)


def _statement(kind: str, name: str, columns: str, options: Mapping[str, str]) -> str:
    listed = ", ".join(f"{quoted(key)} '{_doubled(str(one))}'" for key, one in options.items())
    text = f"CREATE {kind} {quoted(name)} ({columns}) USING {DATAFRAME.name}"
    return f"{text} OPTIONS ({listed})" if listed else text


def _doubled(text: str) -> str:
    return text.replace("'", "''")


def _watermark(frame: DataFrame, text: str) -> str:
    """The clause of a column, or of a column less a length of time."""
    columns = {one.lower(): one for one in frame.columns}
    column, dash, slack = (text, "", "") if text.lower() in columns else text.partition("-")
    name = column.strip().strip("`")
    name = columns.get(name.lower(), name)
    return f"WATERMARK FOR {quoted(name)} AS {quoted(name)} {dash} {slack}".rstrip()
