"""Trials that are a little simpler than a trial: in feeding, rows, tables, values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from penstock_fuzz.kinds import VALUES
from penstock_fuzz.programs import FuzzProgram
from penstock_fuzz.trial import RelationInput, StreamInput, Trial, late_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from penstock.algebra.expressions import Value
    from penstock.reference.timeline import Row
    from penstock_fuzz.schemas import DeclaredTable

T = TypeVar("T")


def simpler_feeding(trial: Trial) -> Iterator[Trial]:
    """All at once, one lane, no restore, no edits; then each of these by degrees."""
    if trial.lanes > 1:
        yield replace(trial, lanes=1)
    if trial.restore_after:
        yield replace(trial, restore_after=frozenset(), lanes_after={})
    if trial.lanes_after:
        yield replace(trial, lanes_after={})
    if trial.replan_after is not None:
        yield replace(trial, replan_after=None)
    if trial.feed_count > 1:
        yield _refed(trial, lambda _: 0, 1)
    if trial.shedding is not None:
        yield replace(trial, shedding=None)
    if trial.budget is not None:
        yield replace(trial, budget=None)
        yield replace(trial, scheduler="fifo", scheduler_options={}, latency=None)
    if trial.edits:
        yield replace(trial, edits=())
    if trial.strategy != "upa":
        yield replace(trial, strategy="upa")
    if trial.joins != "tree":
        yield replace(trial, joins="tree")
    if trial.join_evaluation != "lazy":
        yield replace(trial, join_evaluation="lazy")
    if trial.join_expiration != "lazy":
        yield replace(trial, join_expiration="lazy")
    if trial.partitions != 8:
        yield replace(trial, partitions=8)
    for index in range(len(trial.edits)):
        yield replace(trial, edits=trial.edits[:index] + trial.edits[index + 1 :])
    for feed in sorted(trial.restore_after):
        yield replace(trial, restore_after=trial.restore_after - {feed})
    for feed, lanes in trial.lanes_after.items():
        for fewer in {1, 2} - {lanes}:
            if fewer < lanes:
                yield replace(trial, lanes_after={**trial.lanes_after, feed: fewer})
    for joined in range(1, trial.feed_count):
        yield _refed(trial, _joined_at(joined), trial.feed_count - 1)
    if trial.lanes > 2:
        yield replace(trial, lanes=2)


def _joined_at(number: int) -> Callable[[int], int]:
    """The numbers of feeds when one is joined with the feed before it."""
    return lambda feed: feed - (feed >= number)


def _refed(trial: Trial, feed_of: Callable[[int], int], count: int) -> Trial:
    """The same rows in other feeds."""
    return replace(
        trial,
        streams=_each(trial.streams, lambda one: tuple(map(feed_of, one.feeds))),
        relations=_each(trial.relations, lambda one: tuple(map(feed_of, one.feeds))),
        feed_count=count,
        restore_after=frozenset(map(feed_of, trial.restore_after)),
        lanes_after={feed_of(feed): lanes for feed, lanes in trial.lanes_after.items()},
        replan_after=None if trial.replan_after is None else feed_of(trial.replan_after),
    )


Input = TypeVar("Input", StreamInput, RelationInput)


def _each(
    inputs: Mapping[str, Input], feeds_of: Callable[[Input], tuple[int, ...]]
) -> dict[str, Input]:
    return {name: replace(one, feeds=feeds_of(one)) for name, one in inputs.items()}


def fewer_rows(trial: Trial) -> Iterator[Trial]:
    """Without late rows; without a stretch of rows or changes, long ones first."""
    late = late_rows(trial)
    if late:
        yield _without_late(trial, late)
    for name, stream in trial.streams.items():
        for gone in _stretches(len(stream.rows)):
            rows, feeds = _without(stream.rows, gone), _without(stream.feeds, gone)
            yield _with_stream(trial, name, replace(stream, rows=rows, feeds=feeds))
    for name, relation in trial.relations.items():
        for gone in _stretches(len(relation.changes)):
            changes, feeds = _without(relation.changes, gone), _without(relation.feeds, gone)
            yield _with_relation(trial, name, replace(relation, changes=changes, feeds=feeds))
        for gone in _stretches(len(relation.initial)):
            initial = _without(relation.initial, gone)
            yield _with_relation(trial, name, replace(relation, initial=initial))


def _without_late(trial: Trial, late: frozenset[tuple[str, int]]) -> Trial:
    for name, stream in trial.streams.items():
        kept = [i for i in range(len(stream.rows)) if (name, i) not in late]
        rows = tuple(stream.rows[i] for i in kept)
        feeds = tuple(stream.feeds[i] for i in kept)
        trial = _with_stream(trial, name, replace(stream, rows=rows, feeds=feeds))
    return trial


def _stretches(count: int) -> Iterator[range]:
    """All places; halves, quarters and so on; pairs of places last but one, then single ones."""
    length = count
    while length:
        yield from (range(at, min(at + length, count)) for at in range(0, count, length))
        length //= 2


def _without(members: tuple[T, ...], gone: range) -> tuple[T, ...]:
    return members[: gone.start] + members[gone.stop :]


def _with_stream(trial: Trial, name: str, stream: StreamInput) -> Trial:
    return replace(trial, streams={**trial.streams, name: stream})


def _with_relation(trial: Trial, name: str, relation: RelationInput) -> Trial:
    return replace(trial, relations={**trial.relations, name: relation})


def simpler_tables(trial: Trial) -> Iterator[Trial]:
    """Without a table, without a column, without slack."""
    program = trial.program
    assert isinstance(program, FuzzProgram)
    for index in range(len(program.tables)):
        others = program.tables[:index] + program.tables[index + 1 :]
        yield replace(trial, program=replace(program, tables=others))
    for index, table in enumerate(program.tables):
        if table.name not in trial.fed_with:
            continue
        for column in range(1 if table.is_stream else 0, len(table.columns)):
            yield _without_column(trial, program, index, column)
        if table.slack:
            changed = _with_table(trial, program, index, replace(table, slack=0))
            stream = replace(trial.streams[table.name], slack=0)
            yield _with_stream(changed, table.name, stream)


def _with_table(trial: Trial, program: FuzzProgram, index: int, table: DeclaredTable) -> Trial:
    tables = (*program.tables[:index], table, *program.tables[index + 1 :])
    return replace(trial, program=replace(program, tables=tables))


def _without_column(trial: Trial, program: FuzzProgram, index: int, column: int) -> Trial:
    table = program.tables[index]
    changed = _with_table(trial, program, index, table.without_column(column))
    return _with_rows(changed, table, lambda row: row[:column] + row[column + 1 :])


def _with_rows(trial: Trial, table: DeclaredTable, change: Callable[[Row], Row]) -> Trial:
    """Every row of a table changed."""
    if table.is_stream:
        stream = trial.streams[table.name]
        rows = tuple(map(change, stream.rows))
        return _with_stream(trial, table.name, replace(stream, rows=rows))
    relation = trial.relations[table.name]
    initial = tuple(map(change, relation.initial))
    changes = tuple(replace(one, row=change(one.row)) for one in relation.changes)
    return _with_relation(trial, table.name, replace(relation, initial=initial, changes=changes))


def simpler_values(trial: Trial) -> Iterator[Trial]:
    """Instants from zero on, one after the other; the simplest value instead of another."""
    instants = sorted(
        {stream.time_of(i) for stream in trial.streams.values() for i in range(len(stream.rows))}
        | {change.at for one in trial.relations.values() for change in one.changes}
    )
    if instants and instants[0] != 0:
        yield _moved(trial, {at: at - instants[0] for at in instants})
    if instants != list(range(len(instants))):
        yield _moved(trial, {at: number for number, at in enumerate(instants)})
    yield from _simpler_cells(trial)


def _moved(trial: Trial, to: Mapping[int, int]) -> Trial:
    """The same rows and changes at other instants."""
    streams = {}
    for name, stream in trial.streams.items():
        moved = [to[stream.time_of(i)] for i in range(len(stream.rows))]
        rows = [(at, *row[1:]) for at, row in zip(moved, stream.rows, strict=True)]
        streams[name] = replace(stream, rows=tuple(rows))
    relations = {
        name: replace(
            one, changes=tuple(replace(change, at=to[change.at]) for change in one.changes)
        )
        for name, one in trial.relations.items()
    }
    return replace(trial, streams=streams, relations=relations)


def _simpler_cells(trial: Trial) -> Iterator[Trial]:
    program = trial.program
    assert isinstance(program, FuzzProgram)
    for table in (one for one in program.tables if one.name in trial.fed_with):
        for place, column in enumerate(table.columns):
            if table.is_stream and place == 0:
                continue
            simplest = VALUES[column.kind][0]
            for value in _values(trial, table, place):
                if value != simplest:
                    yield _with_rows(trial, table, _replacing(place, value, simplest))


def _replacing(place: int, old: Value, new: Value) -> Callable[[Row], Row]:
    """Puts another value in the place of one."""
    return lambda row: (*row[:place], new, *row[place + 1 :]) if row[place] == old else row


def _values(trial: Trial, table: DeclaredTable, place: int) -> list[Value]:
    """The different values of a column, in the order they come."""
    if table.is_stream:
        rows = list(trial.streams[table.name].rows)
    else:
        relation = trial.relations[table.name]
        rows = [*relation.initial, *(change.row for change in relation.changes)]
    return list(dict.fromkeys(row[place] for row in rows))
