"""Runs an accumulator as the aggregation operator would, beside the rows that are really live."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock.algebra.expressions import AggregateCall, Column, Literal, Value
from penstock.algebra.failures import Failures
from penstock.algebra.time import INFINITY
from penstock.algebra.types import DATE, DOUBLE, TIMESTAMP, Type, to_arrow
from penstock.catalog.functions import resolve_aggregate
from penstock.operators.aggregate.accumulators.choice import accumulator_for
from penstock.operators.aggregate.accumulators.events import GroupEvents, Payload
from penstock.reference.aggregate_values import aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.patterns import Pattern
    from penstock.operators.aggregate.accumulators.accumulator import Accumulator


def call_of(
    function: str, *types: Type, distinct: bool = False, at: float | None = None
) -> AggregateCall:
    """An aggregate of columns of the types; `at` is the second argument of QUANTILE."""
    args = [Column(f"c{i}", type_) for i, type_ in enumerate(types)]
    fraction = [] if at is None else [Literal(at, DOUBLE)]
    return resolve_aggregate(function, (*args, *fraction), distinct=distinct)


@dataclass(eq=False)
class Element:
    """A row that is in a group from `enters` to `leaves`; `end` is what is said of it before."""

    group: int
    row: tuple[Value, ...]
    enters: int
    leaves: int
    end: int
    payload: Payload = ()


def columns_of(call: AggregateCall, rows: Sequence[tuple[Value, ...]]) -> list[pa.Array]:
    """The argument columns, cut out of longer ones so that offsets matter."""
    columns = []
    for index, arg in enumerate(call.args):
        values = [row[index] for row in rows]
        columns.append(array_of([*values[:1], *values], arg.type).slice(1 if values else 0))
    return columns


def array_of(values: list[Any], type_: Type) -> pa.Array:
    if type_ == DATE:
        return pa.array(values, pa.int32()).view(pa.date32())
    if type_ == TIMESTAMP:
        return pa.array(values, pa.int64()).view(pa.timestamp("us"))
    return pa.array(values, to_arrow(type_))


def values_of(array: pa.Array) -> list[Any]:
    plain = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}.get(array.type)
    result: list[Any] = (array.view(plain) if plain else array).to_pylist()
    return result


@dataclass
class Run:
    """An accumulator, the slots of groups, and what is live; everything is checked as it goes."""

    call: AggregateCall
    pattern: Pattern
    random: Random = field(default_factory=lambda: Random(0))
    slots: dict[int, int] = field(default_factory=dict)
    live: dict[int, Counter[Element]] = field(default_factory=dict)
    points: int = 0
    largest_state: int = 0

    def __post_init__(self) -> None:
        self.accumulator = accumulator_for(self.call, self.pattern)

    def prepare(self, elements: list[Element]) -> None:
        columns = columns_of(self.call, [element.row for element in elements])
        payload = self.accumulator.prepare(columns, len(elements))
        assert tuple(part.dtype for part in payload) == self.accumulator.payload_types
        for index, element in enumerate(elements):
            element.payload = tuple(part[index] for part in payload)

    def block(self, entering: list[Element], leaving: list[Element]) -> None:
        """Feed the events of a block; values must be those of the judge at every point."""
        for element in entering:
            if element.group not in self.slots:
                free = set(range(len(self.slots) + 1)) - set(self.slots.values())
                self.slots[element.group] = self.random.choice(sorted(free))
        moves = [(self.slots[one.group], one.enters, 1, one) for one in entering]
        moves += [(self.slots[one.group], one.leaves, -1, one) for one in leaving]
        self.random.shuffle(moves)
        moves.sort(key=lambda move: move[:2])
        events, wanted, failed = self._judged(moves)
        values, failures = self.accumulator.sweep(events, self._payload(moves))
        assert values.type == to_arrow(self.call.of)
        assert failures == failed
        self._compare(values_of(values), wanted, events)
        self.largest_state = max(self.largest_state, self.accumulator.state_rows)
        empty = [group for group in self.slots if not self.live.get(group)]
        self.accumulator.clear(np.array([self.slots.pop(group) for group in empty], np.int64))

    def _payload(self, moves: list[tuple[int, int, int, Element]]) -> Payload:
        parts = []
        for index, dtype in enumerate(self.accumulator.payload_types):
            part = np.array([one.payload[index] for *_, one in moves], dtype)
            if not self.accumulator.needs_departures:
                part[[sign < 0 for _, _, sign, _ in moves]] = 0
            parts.append(part)
        return tuple(parts)

    def _judged(
        self, moves: list[tuple[int, int, int, Element]]
    ) -> tuple[GroupEvents, list[tuple[Value, float]], int]:
        """The events, and for each point the judge's value and the slack."""
        points, wanted, failures = [], [], Failures()
        for index, (slot, time, sign, element) in enumerate(moves):
            # An element may leave in the instant in which it enters, in any order.
            rows = self.live.setdefault(element.group, Counter())
            rows[element] += sign
            if not rows[element]:
                del rows[element]
            if index + 1 == len(moves) or moves[index + 1][:2] != (slot, time):
                points.append(index)
                args = [one.row for one in rows.elements()]
                wanted.append((aggregate(self.call, args, failures), slack_of(args)))
        columns = [np.array([move[i] for move in moves], np.int64) for i in range(3)]
        ends = np.array([one.end for *_, one in moves], np.int64)
        signs = columns[2].astype(np.int8)
        return (
            GroupEvents(columns[0], columns[1], signs, ends, np.array(points, np.int64)),
            wanted,
            failures.count,
        )

    def _compare(
        self, values: list[Any], wanted: list[tuple[Value, float]], events: GroupEvents
    ) -> None:
        assert len(values) == len(wanted)
        self.points += len(wanted)
        for value, (right, slack), point in zip(values, wanted, events.points, strict=True):
            assert same(right, value, slack), (
                f"{self.call}: {value!r} instead of {right!r} in slot {events.groups[point]} "
                f"at {events.times[point]}"
            )

    def save_and_restore(self) -> None:
        saved = self.accumulator.segments()
        again = accumulator_for(self.call, self.pattern)
        again.restore(through_file(saved))
        assert again.state_rows == self.accumulator.state_rows
        self.accumulator = again


def through_file(segments: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """As read back from Arrow files."""
    read = {}
    for name, table in segments.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        read[name] = pa.ipc.open_stream(sink.getvalue()).read_all()
    return read


def slack_of(rows: list[tuple[Value, ...]]) -> float:
    """How far results of type DOUBLE may be off, by the largest argument."""
    numbers = [row[0] for row in rows if row and isinstance(row[0], int | float | Decimal)]
    size = max([abs(float(x)) for x in numbers if math.isfinite(x)], default=0.0)
    return size * (1e-25 if any(isinstance(x, Decimal) for x in numbers) else 1e-15)


def same(right: Value, value: Value, slack: float) -> bool:
    if isinstance(right, float) and isinstance(value, float):
        if math.isnan(right) or math.isnan(value):
            return math.isnan(right) and math.isnan(value)
        return math.isclose(right, value, rel_tol=1e-12, abs_tol=slack)
    return right == value and type(right) is type(value)


def run_elements(
    run: Run, elements: list[Element], cuts: list[int], saves: set[int], ahead: bool = False
) -> None:
    """Feed elements in blocks: one up to each cut, and a last one for all the rest."""
    prepared: set[int] = set()
    start = -(10**9)
    for index, stop in enumerate([*cuts, INFINITY]):
        horizon = stop + 3 if ahead and stop < INFINITY else stop
        new = [one for one in elements if one.enters < horizon and id(one) not in prepared]
        run.prepare(new)
        prepared |= {id(one) for one in new}
        if index in saves:
            run.save_and_restore()
        run.block(
            [one for one in elements if start <= one.enters < stop],
            [one for one in elements if start <= one.leaves < stop],
        )
        start = stop


def emptied(accumulator: Accumulator) -> None:
    assert accumulator.state_rows == 0
    for name, table in accumulator.segments().items():
        assert len(table) == 0, name
