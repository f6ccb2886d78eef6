"""DataFrames that a program has given as streams and relations.

A home remembers what was declared, and how far Spark has read; it cannot remember a DataFrame. Who
opens it again gives the DataFrame again, by the same name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.connectors.spark_tables import DATAFRAME
from penstock.errors import DataError, QueryError
from penstock.spark.child_session import CONNECT_HINT, is_remote
from penstock.spark.frame_columns import declared_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.catalog.definitions import RelationDefinition, StreamDefinition


def is_frame(definition: StreamDefinition | RelationDefinition) -> bool:
    """A source that is a DataFrame."""
    return (definition.format or "").lower() == DATAFRAME.name


class GivenFrames:
    """The DataFrames of a connection, by the names of their streams and relations."""

    def __init__(self) -> None:
        self._frames: dict[str, DataFrame] = {}

    def __contains__(self, name: str) -> bool:
        """A DataFrame that has been given."""
        return name.lower() in self._frames

    def give(self, name: str, frame: DataFrame) -> None:
        """Take a DataFrame; one that was given before by its name goes."""
        self._frames[name.lower()] = frame

    def forget(self, name: str) -> None:
        """A source is declared no more."""
        self._frames.pop(name.lower(), None)

    def of(self, definition: StreamDefinition | RelationDefinition) -> DataFrame:
        """The DataFrame of a source, with the declared columns.

        Raises:
            DataError: It has not been given, or has not these columns.
        """
        name, kind = definition.name, definition.kind
        frame = self._frames.get(name.lower())
        if frame is None:
            msg = f'{kind} "{name}" is a DataFrame, which this connection has not been given'
            hint = f'Call db.{kind}("{name}", dataframe) again; it goes on where it was.'
            raise DataError(msg, hint=hint)
        return declared_columns(f'{kind} "{name}"', definition.schema, frame)


def usable_frame(source: str, frame: object, spark: SparkSession) -> DataFrame:
    """A DataFrame that a user gave, if it can be read here.

    Args:
        source: What it is to be, such as `stream "clicks"`.
        frame: The DataFrame.
        spark: The session of the connection.

    Raises:
        QueryError: It is none of this Spark's, or it streams and must not, or the other way round.
    """
    from pyspark.sql import DataFrame

    is_stream = source.startswith("stream")
    if is_remote(frame):
        msg = f"{source}: the DataFrame is one of Spark Connect, which lanes cannot read"
        raise QueryError(msg, hint=CONNECT_HINT)
    if not isinstance(frame, DataFrame):
        what = f"{type(frame).__module__.split('.')[0]}.{type(frame).__name__}"
        msg = f"{source}: a DataFrame of Spark's is expected, but a {what} came"
        bring = "db.insert" if is_stream else "db.update"
        raise QueryError(msg, hint=f"{bring} brings rows that are in this process.")
    if frame.sparkSession.sparkContext is not spark.sparkContext:
        msg = f"{source}: the DataFrame is of another Spark than the connection"
        raise QueryError(msg, hint="Open it beside that one: penstock.connect(spark=session).")
    if is_stream and not frame.isStreaming:
        msg = f"{source}: the DataFrame does not stream"
        hint = "Read it with spark.readStream; or give it as a relation: db.relation(...)."
        raise QueryError(msg, hint=hint)
    if frame.isStreaming and not is_stream:
        msg = f"{source}: the DataFrame streams, and a relation is read as a whole"
        raise QueryError(
            msg, hint="Read it with spark.read; or give it as a stream: db.stream(...)."
        )
    return frame
