"""Aggregates over the rows that each stream row matched, all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.types import to_arrow
from penstock.operators.aggregate.accumulators.choice import accumulator_for
from penstock.operators.aggregate.accumulators.events import GroupEvents
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.state.arrays import Ints


class MatchTotals:
    """The values of aggregate calls for each stream row; over no match what SQL says of nothing."""

    def __init__(
        self,
        calls: Sequence[AggregateCall],
        arguments: Sequence[Sequence[Evaluator]],
        failures: Failures,
        *,
        row_over_nothing: bool,
    ) -> None:
        self._calls = tuple(zip(calls, arguments, strict=True))
        self._failures = failures
        self._row_over_nothing = row_over_nothing

    def __call__(
        self, numbers: Ints, columns: tuple[pa.Array, ...], rows: int
    ) -> tuple[pa.Array, ...]:
        """One column for each call."""
        order = order_of(numbers)
        groups = numbers[order]
        is_last = np.append(groups[1:] != groups[:-1], True)[: len(groups)]
        points = np.flatnonzero(is_last)
        once = np.zeros(len(groups), np.int64)
        ends = np.full(len(groups), INFINITY, np.int64)
        events = GroupEvents(groups, once, np.ones(len(groups), np.int8), ends, points)
        chosen = tuple(column.take(pa.array(order)) for column in columns)
        return tuple(
            self._total(call, arguments, events, chosen, rows) for call, arguments in self._calls
        )

    def _total(
        self,
        call: AggregateCall,
        arguments: Sequence[Evaluator],
        events: GroupEvents,
        columns: tuple[pa.Array, ...],
        rows: int,
    ) -> pa.Array:
        counts = call.function in ("count", "count_if") and self._row_over_nothing
        nothing = pa.array([0 if counts else None], to_arrow(call.of))
        places = np.zeros(rows, np.int64)
        if not len(events.groups):
            return nothing.take(pa.array(places))
        accumulator = accumulator_for(call, Pattern.MON)
        args = [one(columns, len(events.groups), self._failures) for one in arguments]
        values, failed = accumulator.sweep(events, accumulator.prepare(args, len(events.groups)))
        self._failures.add(call.function, failed)
        places[events.groups[events.points]] = 1 + np.arange(len(events.points))
        return pa.concat_arrays([nothing, values]).take(pa.array(places))
