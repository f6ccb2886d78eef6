"""From the rows of streams to the common format, each with its code; all of it in the JVM."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Cast, Column
from penstock.algebra.types import DATE, TIMESTAMP
from penstock.connectors.memory import is_inserted
from penstock.lane_host.row_slots import BREAK, CODE, INSTANT, POSITIONS, RAW, STREAM
from penstock.spark.sources import (
    UNREADABLE,
    position,
    positions,
    tells_positions,
    tells_unreadable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

    from penstock.algebra.expressions import Expression
    from penstock.catalog.definitions import StreamDefinition
    from penstock.lane_host.deliveries import Deliveries
    from penstock.lane_host.row_slots import RowFormat, StreamSlots
    from penstock.pipeline.bound import BoundPlan


def routed(
    frames: Mapping[str, DataFrame], plan: BoundPlan, slots: RowFormat, deliveries: Deliveries
) -> DataFrame:
    """The streams that Spark reads, in one frame, one partition for each task.

    Rows are coded unless deliveries are plain.
    """
    from pyspark.sql import functions as F

    tasks = deliveries.tasks
    parts = []
    for name, stream in slots.streams.items():
        if name not in frames:
            continue
        codes = _codes(deliveries, name, frames[name])
        columns = _in_slots(frames[name], stream, slots)
        if any(tells_positions(slots.streams[one].definition) for one in frames):
            columns.append(_raw(frames[name], stream.definition).alias(RAW))
        if plan.counts_rows:
            found = positions(frames[name], stream.definition)
            columns += [one.alias(name) for one, name in zip(found, POSITIONS, strict=True)]
        parts.append(frames[name].select(codes.alias(CODE), *columns))
    whole = reduce(lambda one, other: one.unionByName(other), parts)
    whole = whole.repartitionById(tasks, F.pmod(F.col(CODE), F.lit(tasks)).cast("int"))
    return whole.drop(CODE) if deliveries.are_plain else whole


def _translated(key: Expression, frame: DataFrame) -> SparkColumn:
    if isinstance(key, Cast):
        return _translated(key.arg, frame).cast(str(key.to).lower())
    assert isinstance(key, Column)
    return frame[f"`{key.name.replace('`', '``')}`"]


def _codes(deliveries: Deliveries, stream: str, frame: DataFrame) -> SparkColumn:
    """The code of a row; several rows of one, where several deliveries or all lanes need it."""
    from pyspark.sql import functions as F

    found: list[SparkColumn] = []
    for number, delivery in enumerate(deliveries.of_stream[stream]):
        first = number * deliveries.width
        if delivery.route is None:
            found.append(F.lit(first + delivery.task))
        elif delivery.keys is None:
            found += [F.lit(first + lane) for lane in range(delivery.lanes)]
        else:
            keys = [_translated(key, frame) for key in delivery.keys]
            lane = F.pmod(F.xxhash64(*keys), F.lit(delivery.lanes))
            found.append((lane + first).cast("int"))
    return found[0] if len(found) == 1 else F.explode(F.array(*found))


def _raw(frame: DataFrame, definition: StreamDefinition) -> SparkColumn:
    """The position of a row that cannot be taken in, and its text if it is that; else NULL."""
    from pyspark.sql import functions as F

    if not tells_positions(definition):
        return F.lit(None).cast("string")
    place = position(frame, definition)
    without_time = F.when(_instant(frame, definition).isNull(), place)
    if not tells_unreadable(definition):
        return without_time
    text = frame[UNREADABLE]
    return F.when(text.isNotNull(), F.concat_ws(BREAK, place, text)).otherwise(without_time)


def _in_slots(frame: DataFrame, stream: StreamSlots, slots: RowFormat) -> list[SparkColumn]:
    """Stream, instant and slots of a row."""
    from pyspark.sql import functions as F

    named = dict(zip(stream.definition.schema.names, stream.slots, strict=True))
    types = dict(zip(stream.definition.schema.names, stream.definition.schema.types, strict=True))
    columns: list[SparkColumn] = [
        F.lit(stream.number).cast("tinyint").alias(STREAM),
        _instant(frame, stream.definition).alias(INSTANT),
    ]
    holder = {slot: name for name, slot in named.items() if slot is not None}
    for slot in slots.all:
        type_ = "bigint" if slot.type == TIMESTAMP else str(slot.type).lower()
        if slot not in holder:
            columns.append(F.lit(None).cast(type_).alias(slot.name))
            continue
        column = frame[_quoted(holder[slot])]
        if types[holder[slot]] == TIMESTAMP and not is_inserted(stream.definition.format):
            column = F.unix_micros(column)
        columns.append(column.cast(type_).alias(slot.name))
    return columns


def _instant(frame: DataFrame, definition: StreamDefinition) -> SparkColumn:
    """The event time as a number, as queries count it."""
    from pyspark.sql import functions as F

    type_ = dict(zip(definition.schema.names, definition.schema.types, strict=True))[
        definition.time_column
    ]
    column = frame[_quoted(definition.time_column)]
    if type_ == TIMESTAMP and not is_inserted(definition.format):
        return F.unix_micros(column)
    if type_ == DATE:
        return F.unix_date(column).cast("bigint")
    return column.cast("bigint")


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
