"""Random input of a program, in random order, cut at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY
from penstock.reference.inputs import RelationChange
from penstock_fuzz.kinds import EDGES, VALUES
from penstock_fuzz.trial import RelationInput, StreamInput, Trial, clocks

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value
    from penstock.reference.timeline import Row
    from penstock_fuzz.draw import Draw
    from penstock_fuzz.programs import FuzzProgram
    from penstock_fuzz.schemas import Clock, DeclaredColumn, DeclaredTable

LAST = 12
"""Instants are numbered -3 to this, unless there is a long silence among them."""
LONG_LAST = 40
"""The same for long input."""


@dataclass(frozen=True)
class _ValuePool:
    """The values of a trial, few and the same in every table so that joins find some."""

    values: dict[tuple[str, str], tuple[Value, ...]]
    numbers: tuple[int, ...]
    clock: Clock


def random_trial(
    draw: Draw, program: FuzzProgram, read: frozenset[str], most: int, *, long: bool = False
) -> Trial:
    """Input for what a program reads, at most so many rows in each stream, and how it is fed.

    `long` input goes on for several times as long as windows are, in many feeds.
    """
    pool = _random_pool(draw, program, long=long)
    count = draw.count(6, 14) if long else 1 if draw.chance(15) else draw.count(2, 8)
    tables = [table for table in program.tables if table.name in read]
    streams = {
        table.name: _random_stream(draw, table, pool, most, count, long=long)
        for table in tables
        if table.is_stream
    }
    trial = Trial(program, streams, {}, count)
    relations = {
        table.name: _fed(draw, _random_relation(draw, table, pool, most), trial)
        for table in tables
        if not table.is_stream
    }
    if not streams:
        relations = _fed_in_turn(draw, relations, count)
    return replace(trial, relations=relations)


def _fed_in_turn(
    draw: Draw, relations: dict[str, RelationInput], count: int
) -> dict[str, RelationInput]:
    """Changes that are all the clock there is: those of an instant together, in order."""
    instants = sorted({change.at for one in relations.values() for change in one.changes})
    feeds = dict(zip(instants, _cut(draw, len(instants), count), strict=True))
    return {
        name: replace(one, feeds=tuple(feeds[change.at] for change in one.changes))
        for name, one in relations.items()
    }


def _random_pool(draw: Draw, program: FuzzProgram, *, long: bool) -> _ValuePool:
    edges = draw.chance(8)
    values_of = {
        kind: draw.some(known + (EDGES[kind] if edges else ()), draw.pick(1, 2, 3, 5))
        for kind, known in VALUES.items()
    }
    values = {
        (table.name, column.name): (*values_of[column.kind], *([None] if draw.chance(50) else []))
        for table in program.tables
        for column in table.columns
    }
    clock = next(table.clock for table in program.tables if table.clock)
    last = LONG_LAST if long and clock.base < INFINITY - LONG_LAST else LAST
    numbers = range(-3, last)
    few = draw.pick(3, 8, len(numbers))
    some = draw.some(numbers, few) if last == LAST else list(numbers)
    silence = 300 if abs(clock.base) < 2**62 and draw.chance(10) else 0
    return _ValuePool(values, tuple(one + (silence if one > 5 else 0) for one in some), clock)


def _row(
    draw: Draw, table: DeclaredTable, pool: _ValuePool, columns: tuple[DeclaredColumn, ...]
) -> Row:
    return tuple(draw.pick(*pool.values[table.name, column.name]) for column in columns)


def _random_stream(
    draw: Draw, table: DeclaredTable, pool: _ValuePool, most: int, feeds: int, *, long: bool
) -> StreamInput:
    count = 0 if draw.chance(3) else draw.count((most + 1) // 2, most)
    numbers = sorted(draw.pick(*pool.numbers) for _ in range(count))
    numbers = _disordered(draw, numbers, table.slack, shuffles=not long)
    rows = tuple((pool.clock.at(n), *_row(draw, table, pool, table.columns[1:])) for n in numbers)
    return StreamInput(rows, _cut(draw, count, feeds), table.slack * pool.clock.step)


def _disordered(draw: Draw, numbers: list[int], slack: int, *, shuffles: bool) -> list[int]:
    """In order; late by up to the slack; or by anything."""
    kind = draw.pick("ordered", "within", "within", "beyond", "shuffled" if shuffles else "within")
    if kind == "ordered":
        return numbers
    if kind == "shuffled":
        return draw.shuffled(numbers)
    reach = slack if kind == "within" else slack + 3
    delayed = [(number + draw.count(0, reach), draw.count(0, 99), number) for number in numbers]
    return [number for _, _, number in sorted(delayed)]


def _cut(draw: Draw, count: int, feeds: int) -> tuple[int, ...]:
    """With which feed each row comes: in order, some feeds with nothing."""
    return tuple(sorted(draw.count(0, feeds - 1) for _ in range(count)))


def _random_relation(
    draw: Draw, table: DeclaredTable, pool: _ValuePool, most: int
) -> RelationInput:
    """A relation that removes only what it holds, and changes a row once in an instant."""
    initial = [_row(draw, table, pool, table.columns) for _ in range(draw.count(0, min(4, most)))]
    live, changes = list(initial), list[RelationChange]()
    for number in sorted(draw.pick(*pool.numbers) for _ in range(draw.count(0, min(6, most)))):
        at = pool.clock.at(number)
        touched = {change.row for change in changes if change.at == at}
        leaving = [one for one in live if one not in touched]
        if leaving and draw.chance(40):
            changed = draw.pick(*leaving)
            live.remove(changed)
            changes.append(RelationChange(at, "-", changed))
            continue
        changed = _row(draw, table, pool, table.columns)
        if changed not in touched:
            live.append(changed)
            changes.append(RelationChange(at, "+", changed))
    return RelationInput(tuple(initial), tuple(changes), (0,) * len(changes))


def _fed(draw: Draw, relation: RelationInput, trial: Trial) -> RelationInput:
    """The changes fed at once, or at random before the clock has passed them, or just then."""
    if not trial.streams:
        return relation
    passed = clocks(trial)
    how = draw.pick("first", "first", "random", "last")
    feeds: list[int] = []
    for change in relation.changes:
        fitting = [
            feed
            for feed in range(feeds[-1] if feeds else 0, trial.feed_count)
            if all(clock is None or clock <= change.at for clock in passed[:feed])
        ]
        feeds.append({"first": fitting[0], "last": fitting[-1]}.get(how, draw.pick(*fitting)))
    return replace(relation, feeds=tuple(feeds))
