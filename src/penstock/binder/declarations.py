"""CREATE STREAM and CREATE RELATION as parsed to definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY, TimeUnit
from penstock.algebra.types import BIGINT, DOUBLE, TIMESTAMP, Field, Schema
from penstock.binder.types import type_of
from penstock.binder.windows import length_in
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.catalog.durations import seconds_of
from penstock.catalog.retain_rules import NOTHING, RetainRule
from penstock.cql.understood import refuse_what_would_be_dropped
from penstock.errors import NotSupported, QueryError, UnknownName, did_you_mean
from penstock.shedding.columns import SheddingColumns

if TYPE_CHECKING:
    from penstock.cql.syntax import CreateSource, Name, RetainSyntax, Watermark

OWN_OPTIONS = (
    *("time_unit", "path", "header", "idle_timeout", "reload", "reader"),
    *SheddingColumns._fields,
)
LENGTHS_OF_TIME = ("idle_timeout", "reload")
EPOCH_UNITS = ("s", "ms", "us")
"""Units of numbers in TIMESTAMP columns."""
UNITS = (*EPOCH_UNITS, "tick")
MOST_ROWS = 10**15
"""A stream of which more is expected is a slip."""


def declare(statement: CreateSource) -> StreamDefinition | RelationDefinition:
    """The stream or relation a statement declares.

    Raises:
        QueryError: A column twice, no event time, or an event time of the wrong type.
    """
    schema = _schema(statement)
    _refuse_wrong_options(statement)
    _refuse_not_null(statement)
    options = {key: value.text for key, value in statement.options.items()}
    name = statement.name.text
    _refuse_wrong_shedding(statement, schema)
    if statement.kind == "RELATION":
        if statement.watermark is not None:
            msg = "a relation has no WATERMARK: it never holds a query's time back"
            raise QueryError(msg, at=statement.watermark.column.span)
        if statement.rate is not None:
            msg = "a relation has no RATE: its rows do not come in the course of time"
            raise QueryError(msg, hint="Leave it out.", at=statement.rate.span)
        return RelationDefinition(name, schema, statement.retroactive, statement.format, options)
    if statement.watermark is None:
        msg = f'stream "{name}" does not say which column is its event time'
        hint = "Add WATERMARK FOR column AS column - INTERVAL 5 SECONDS to the columns."
        raise QueryError(msg, hint=hint, at=statement.name.span)
    field = _event_time(statement.watermark, schema)
    unit = _unit(field, statement)
    slack = statement.watermark.slack
    steps = length_in(slack, unit) if slack else 0
    rate = _rate(statement, unit)
    retain = _retain_rule(statement.retain, unit) if statement.retain else None
    return StreamDefinition(
        name, schema, field.name, unit, steps, statement.format, options, rate, retain
    )


def _retain_rule(written: RetainSyntax, unit: TimeUnit) -> RetainRule:
    """The rule that RETAIN gives.

    Raises:
        QueryError: The length or the size is zero.
    """
    if written.length is None and written.most_bytes is None and not written.is_all:
        return NOTHING
    span = INFINITY if written.length is None else length_in(written.length, unit)
    if span == 0 or written.most_bytes == 0:
        msg = "RETAIN of nothing"
        raise QueryError(msg, hint="Write RETAIN NONE to keep no rows.", at=written.span)
    return RetainRule(span, written.most_bytes)


def _rate(statement: CreateSource, unit: TimeUnit) -> float | None:
    """The stated rate in rows for each step of time."""
    stated = statement.rate
    if stated is None:
        return None
    steps = length_in(stated.per, unit)
    if not 0 < stated.count <= MOST_ROWS or steps <= 0:
        msg = f"RATE is a number of rows above 0, at most {MOST_ROWS:,}, in a length of time"
        raise QueryError(msg, hint="For example RATE 2 PER HOUR.", at=stated.span)
    return float(stated.count) / steps


def _refuse_wrong_options(statement: CreateSource) -> None:
    """Most options are the format's own; one that nearly is ours was meant to be ours."""
    for key, value in statement.options.items():
        hint = did_you_mean(key, OWN_OPTIONS)
        if key not in OWN_OPTIONS and hint is not None:
            msg = f'there is no option "{key}"'
            raise UnknownName(msg, hint=hint, at=value.span)
        if key in LENGTHS_OF_TIME:
            try:
                seconds_of(key, value.text)
            except QueryError as error:
                error.at = value.span
                raise
        if key == "reader" and value.text.lower() != "spark":
            msg = f'there is no reader "{value.text}"'
            hint = "Write reader 'spark', or leave it out: then tasks read files where they can."
            raise UnknownName(msg, hint=hint, at=value.span)


def _refuse_wrong_shedding(statement: CreateSource, schema: Schema) -> None:
    """Columns that shedding goes by exist, and are numbers; only streams are shed."""
    for key in SheddingColumns._fields:
        option = statement.options.get(key)
        if option is None:
            continue
        if statement.kind == "RELATION":
            msg = f"a relation has no {key}: only rows of streams are shed"
            raise QueryError(msg, hint="Leave the option out.", at=option.span)
        found = [one for one in schema if one.name.lower() == option.text.lower()]
        if not found:
            msg = f"{key} '{option.text}': there is no such column"
            raise UnknownName(msg, hint=did_you_mean(option.text, schema.names), at=option.span)
        type_ = found[0].type
        if key == "weight" and type_ not in (BIGINT, DOUBLE):
            msg = f'the weight "{found[0].name}" is {type_}, and a weight is BIGINT or DOUBLE'
            raise QueryError(msg, hint="It is multiplied, and has to have room.", at=option.span)
        if not type_.is_numeric:
            msg = f'the utility "{found[0].name}" is {type_}, and a utility is a number'
            raise QueryError(msg, hint="0 for rows to be shed first, 1 for never.", at=option.span)
        time = statement.watermark.column.text if statement.watermark else ""
        if found[0].name.lower() == time.lower():
            msg = f'"{found[0].name}" is the event time, and cannot be the {key}'
            raise QueryError(msg, hint="Name another column.", at=option.span)


def _schema(statement: CreateSource) -> Schema:
    fields: list[Field] = []
    for column in statement.columns:
        if any(column.name.text.lower() == known.name.lower() for known in fields):
            msg = f'column "{column.name.text}" is declared twice'
            raise QueryError(msg, at=column.name.span)
        if "." in column.name.text:
            msg = f'column name "{column.name.text}" has a dot in it'
            hint = "A dot stands between a stream and its column."
            raise QueryError(msg, hint=hint, at=column.name.span)
        refuse_what_would_be_dropped(column.type, column.type_span)
        fields.append(Field(column.name.text, type_of(column.type, column.type_span)))
    if not fields:
        msg = "no columns are declared"
        raise QueryError(msg, at=statement.name.span)
    return Schema(tuple(fields))


def _refuse_not_null(statement: CreateSource) -> None:
    """Only the event time is checked for NULL; a promise that nobody keeps is refused."""
    time = statement.watermark.column.text.lower() if statement.watermark else None
    for column in statement.columns:
        if column.not_null and column.name.text.lower() != time:
            msg = f'NOT NULL of column "{column.name.text}" would not be checked'
            raise NotSupported(msg, hint="Leave it out.", at=column.name.span)


def _event_time(watermark: Watermark, schema: Schema) -> Field:
    name: Name = watermark.column
    found = [field for field in schema if field.name.lower() == name.text.lower()]
    if not found:
        hint = did_you_mean(name.text, schema.names)
        msg = f'WATERMARK FOR "{name.text}": there is no such column'
        raise UnknownName(msg, hint=hint, at=name.span)
    if found[0].type != TIMESTAMP and not found[0].type.is_integer:
        msg = f'"{name.text}" is {found[0].type}, and an event time is TIMESTAMP, INT or BIGINT'
        raise QueryError(msg, at=name.span)
    return found[0]


def _unit(field: Field, statement: CreateSource) -> TimeUnit:
    option = statement.options.get("time_unit")
    if field.type == TIMESTAMP:
        if option is not None:
            _refuse_unknown_unit(option, EPOCH_UNITS)
        return TimeUnit.TIMESTAMP
    if option is None:
        return TimeUnit.TICK
    _refuse_unknown_unit(option, UNITS)
    return TimeUnit(option.text.lower())


def _refuse_unknown_unit(option: Name, known: tuple[str, ...]) -> None:
    if option.text.lower() not in known:
        hint = did_you_mean(option.text, known, otherwise=f"Units: {', '.join(known)}.")
        msg = f"there is no time_unit '{option.text}'"
        raise QueryError(msg, hint=hint, at=option.span)
