"""The interval each window gives to a row: the table of the semantics, line by line."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING, INFINITY, plus, round_up
from penstock.algebra.windows import (
    Between,
    Fixed,
    Hopping,
    Now,
    Range,
    Rows,
    Since,
    Unbounded,
    WindowSpec,
)
from penstock.reference.timeline import Element, Origin, Tagged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.types import Schema
    from penstock.reference.inputs import Arrival


def windowed(spec: WindowSpec, arrivals: Sequence[Arrival], schema: Schema) -> list[Element]:
    """The arrivals, in (ts, seq) order, with their validity; rows without any vanish."""
    if isinstance(spec, Hopping):
        return _in_windows(spec, arrivals)
    if isinstance(spec, Rows):
        intervals = _row_intervals(spec, arrivals, schema)
    else:
        intervals = [_time_interval(spec, arrival.at) for arrival in arrivals]
    return [
        Element(Tagged(arrival.row, (Origin(arrival.at, position),)), start, end)
        for position, (arrival, (start, end)) in enumerate(zip(arrivals, intervals, strict=True))
        if start < end
    ]


def _in_windows(spec: Hopping, arrivals: Sequence[Arrival]) -> list[Element]:
    """A row for each window [start, end) that contains it, by when they begin to hold."""
    found = [
        (arrival, start, start + spec.length)
        for arrival in arrivals
        for start in reversed(_starts(spec, arrival.at))
    ]
    made = []
    for position, (arrival, start, end) in enumerate(found):
        row = (*arrival.row, max(start, BEGINNING), min(end, INFINITY))
        begin, until = (arrival.at, end) if spec.open else (end, end + 1)
        if begin < INFINITY:
            tagged = Tagged(row, (Origin(arrival.at, position),))
            made.append(Element(tagged, begin, min(until, INFINITY)))
    return sorted(made, key=lambda one: one.start)


def _starts(spec: Hopping, ts: int) -> list[int]:
    """The starts of the windows that contain an instant, the latest first."""
    latest = (ts - spec.offset) // spec.step * spec.step + spec.offset
    return [
        one for one in range(latest, latest - spec.length, -spec.step) if one > ts - spec.length
    ]


def _time_interval(spec: WindowSpec, ts: int) -> tuple[int, int]:
    match spec:
        case Range(length, None):
            return ts, plus(ts, length)
        case Range(length, int(slide)):
            return round_up(ts, slide), round_up(plus(ts, length), slide)
        case Fixed(length):
            return ts, plus(ts // length * length, length)
        case Now():
            return ts, plus(ts, 1)
        case Unbounded():
            return ts, INFINITY
        case Since(landmark):
            return (ts, INFINITY) if ts >= landmark else (ts, ts)
        case Between(first, last):
            return (ts, INFINITY) if first <= ts <= last else (ts, ts)
    raise NotImplementedError(spec)


def _row_intervals(
    spec: Rows, arrivals: Sequence[Arrival], schema: Schema
) -> list[tuple[int, int]]:
    """Row i of its partition lives from row up(i) to row up(i + n); a row yet to come is at inf."""
    key_indexes = [schema.names.index(name) for name in spec.partition_by]
    slide = spec.slide or 1
    times: defaultdict[tuple[object, ...], list[int]] = defaultdict(list)
    numbered = []
    for arrival in arrivals:
        key = tuple(arrival.row[index] for index in key_indexes)
        times[key].append(arrival.at)
        numbered.append((key, len(times[key])))

    def time_of(key: tuple[object, ...], number: int) -> int:
        known = times[key]
        return known[number - 1] if number <= len(known) else INFINITY

    return [
        (time_of(key, round_up(i, slide)), time_of(key, round_up(i + spec.count, slide)))
        for key, i in numbered
    ]
