"""RSTREAM: the whole result at given instants, in an order where one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.block import Block, rows_by_time, stored_arrivals
from penstock.operators.set.set_counts import CountingOperator
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.operator import Inputs
    from penstock.operators.output.order_limit import RowOrder
    from penstock.operators.set.counted import CountedRows
    from penstock.state.arrays import Ints

Chosen = tuple["Ints", "Ints"]
"""Slots of rows and the instants they are sent out at."""


class WholeResult(CountingOperator):
    """Port 0 brings the result, port 1 the instants; at each all rows are sent out."""

    meets = False

    def __init__(self, counted: CountedRows, ordering: RowOrder | None) -> None:
        super().__init__(counted)
        self.ordering = ordering

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """All rows that are valid at each instant of the step."""
        result, told = inputs
        instants = rows_by_time(told)
        if instants is None:
            self.counts([result], clock)
            self.counted.release()
            return ()
        slots, times = self._valid([result], instants.ts, clock)
        if self.ordering is not None:
            slots, times = self.ordering.arranged(self.counted.rows, slots, times)
        made = stored_arrivals(self.counted.rows, slots, times)
        self.counted.release()
        return made if self.ordering is None else list(map(self.ordering.shown, made))

    def _valid(self, inputs: Inputs, instants: Ints, clock: int) -> Chosen:
        """The rows that are valid at instants, each as often as there are copies."""
        before = self.counted.rows.live_slots()
        counts = self.counted.counts[before, 2].copy()
        changes = self.counts(inputs, clock)
        slots = np.concatenate([before, changes.slots])
        # What was there before the step counts as a change before all instants.
        times = np.concatenate([np.full(len(before), instants[0], np.int64), changes.times])
        deltas = np.concatenate([counts, changes.deltas])
        order = order_of(slots, times)
        return _expanded(slots[order], times[order], deltas[order], instants)


def _expanded(slots: Ints, times: Ints, deltas: Ints, instants: Ints) -> Chosen:
    """Copies at instants, from the changes of each slot in time order."""
    if not len(slots):
        return slots, times
    is_first = np.diff(slots, prepend=slots[0] - 1) != 0
    total = np.cumsum(deltas)
    starts = np.flatnonzero(is_first)
    base = np.repeat(total[starts] - deltas[starts], np.diff(starts, append=len(slots)))
    copies = total - base
    first = np.searchsorted(instants, times, side="left")
    after = np.append(first[1:], len(instants))
    last = np.where(np.append(is_first[1:], True), len(instants), after)
    spans = np.maximum(last - first, 0)
    entries = np.repeat(np.arange(len(slots)), spans)
    offsets = np.arange(len(entries)) - np.repeat(np.cumsum(spans) - spans, spans)
    at = instants[first[entries] + offsets]
    repeated = np.repeat(np.arange(len(entries)), copies[entries])
    return slots[entries][repeated], at[repeated]
