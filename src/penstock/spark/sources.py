"""Streams as Spark reads them: each an ordinary streaming DataFrame with the declared columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.connectors.connector_list import source_format
from penstock.connectors.memory import is_inserted
from penstock.connectors.spark_tables import TABLE
from penstock.errors import QueryError
from penstock.files.folders import READER
from penstock.pipeline.file_rows import inserted_type
from penstock.spark.formats import require_allowed
from penstock.spark.frame_columns import declared_columns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, DataFrameReader, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from penstock.algebra.types import Schema
    from penstock.catalog.definitions import RelationDefinition, StreamDefinition
    from penstock.store.layout import Home

UNREADABLE = "_penstock_unreadable"
"""The column with the text of a row that cannot be read as declared."""
_YEARS = "36500d"


def stream_frame(spark: SparkSession, home: Home, definition: StreamDefinition) -> DataFrame:
    """The rows of a stream, from where it is declared to come; else those brought from Python.

    Raises:
        QueryError: Its format is not allowed.
    """
    require_allowed(spark, f'stream "{definition.name}"', definition.format)
    reader = spark.readStream.name(source_name(definition.name))
    if is_inserted(definition.format):
        path = home.incoming(definition.name)
        path.mkdir(parents=True, exist_ok=True)
        reader = reader.format("parquet").schema(columns_ddl(definition.schema, brought=True))
        # What was brought together stays together: a file is a micro-batch's share of a stream.
        reader = reader.option("maxFilesPerTrigger", 1).option("maxFileAge", _YEARS)
        # A batch is in our records before Spark knows that it is over, and then it is in the logs.
        return reader.option("cleanSource", "delete").load(str(path))
    options = source_options(definition.format, definition.options)
    known = source_format(definition.format)
    if is_table(definition):
        return table_rows(reader, definition, options)
    if known.is_files:
        options = one_file(options)
    reader = reader.format(definition.format or "memory").options(**options)
    if known.is_files:
        ddl = columns_ddl(definition.schema)
        if known.keeps_unreadable:
            # What cannot be read as declared is kept as it stands, and set aside later.
            ddl = f"{ddl}, {UNREADABLE} STRING"
            reader = reader.option("columnNameOfCorruptRecord", UNREADABLE)
            reader = reader.option("mode", "PERMISSIVE")
        reader = reader.schema(ddl)
        if "maxFileAge" not in definition.options:
            # Spark's week would skip older files without a word.
            reader = reader.option("maxFileAge", _YEARS)
    return reader.load()


def is_table(definition: StreamDefinition | RelationDefinition) -> bool:
    """A source that is a table of a catalog."""
    return (definition.format or "").lower() == TABLE.name


def table_rows(
    reader: DataStreamReader | DataFrameReader,
    definition: StreamDefinition | RelationDefinition,
    options: dict[str, str],
) -> DataFrame:
    """The declared columns of a table of a catalog.

    Raises:
        QueryError: It does not say which table.
        DataError: The table has not these columns.
    """
    source = f'{definition.kind} "{definition.name}"'
    if TABLE.name not in options:
        msg = f"{source} does not say which table"
        raise QueryError(msg, hint="Write FROM TABLE catalog.schema.name.")
    table = options.pop(TABLE.name)
    frame = reader.options(**options).table(table)
    return declared_columns(source, definition.schema, frame)


def source_options(format_: str | None, options: Mapping[str, str]) -> dict[str, str]:
    """The options of a source, with the defaults of its format."""
    given = {name: one for name, one in options.items() if name.lower() != READER}
    return {**source_format(format_).options, **given}


def one_file(options: dict[str, str]) -> dict[str, str]:
    """A stream of one file: Spark wants the folder, and a pattern that only this file fits."""
    path = Path(options.get("path", ""))
    if not path.is_file():
        return options
    name = re.sub(r"([\\*?\[\]{}])", r"\\\1", path.name)
    return {**options, "path": str(path.absolute().parent), "pathGlobFilter": name}


def tells_unreadable(definition: StreamDefinition) -> bool:
    """Rows of a stream may come as texts that cannot be read."""
    return source_format(definition.format).keeps_unreadable


def tells_positions(definition: StreamDefinition) -> bool:
    """The positions of a stream's rows are known."""
    return source_format(definition.format).place != "unknown"


def position(frame: DataFrame, definition: StreamDefinition) -> SparkColumn:
    """The position of a row, for people."""
    from pyspark.sql import functions as F

    if source_format(definition.format).place == "offset":
        parts = ("topic ", "topic"), (", partition ", "partition"), (", offset ", "offset")
        return F.concat(*(one for text, name in parts for one in (F.lit(text), frame[name])))
    return frame["_metadata.file_path"]


def positions(frame: DataFrame, definition: StreamDefinition) -> list[SparkColumn]:
    """Three numbers by which the pieces that a batch reads of a source are in order.

    Files by age, then by name; Kafka's rows by partition and offset. A shuffle keeps the order of
    the rows within a piece, and nothing else.
    """
    from pyspark.sql import functions as F

    nothing = F.lit(0).cast("bigint")
    place = source_format(definition.format).place
    if is_inserted(definition.format) or place == "file":
        return [
            F.unix_micros(frame["_metadata.file_modification_time"]),
            F.xxhash64(frame["_metadata.file_path"]),
            frame["_metadata.file_block_start"],
        ]
    if place == "offset":
        return [frame["partition"].cast("bigint"), frame["offset"].cast("bigint"), nothing]
    return [nothing, nothing, nothing]


def source_name(stream: str) -> str:
    """The name of a stream's source in Spark: letters, digits and underscores only."""
    return "".join(one if one.isascii() and one.isalnum() else f"_{ord(one):x}_" for one in stream)


def columns_ddl(schema: Schema, *, brought: bool = False) -> str:
    """The columns as Spark takes them; those of rows that are brought have plain numbers."""
    columns = [(one.name, inserted_type(one.type) if brought else one.type) for one in schema]
    return ", ".join(f"`{name.replace('`', '``')}` {type_}" for name, type_ in columns)
