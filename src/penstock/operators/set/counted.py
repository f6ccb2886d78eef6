"""Rows that are counted: how often each occurs in the inputs, at every instant."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.operators.declared_state.slot_entries import WIDE, SlotEntries, SlotQueue
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.set.counted_loops import gone_rows, net_changes
from penstock.state.cancelling import DELTA, SLOT
from penstock.state.expiry import (
    ExpiryQueue,
    expiry_queue,
)
from penstock.state.sorting import order_of
from penstock.state.strict_queue import StrictQueue

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.state.arrays import Flags, Ints, Signs, Values
    from penstock.state.moving import Moved


SAVED = (np.dtype(np.int64), np.dtype(np.int64))
"""How the slot of a row that will end is saved, and how its copies change then."""


class Target(IntEnum):
    """The rule for how often a row occurs in the result, given how often it does left and right."""

    COPIES = 0
    DISTINCT = 1
    DIFFERENCE = 2
    INTERSECTION = 3
    MAX_UNION = 4
    STRICT_DIFFERENCE = 5


def only_grows(target: Target, patterns: Sequence[Pattern]) -> bool:
    """No copy of a row ever leaves the result; what is on the right of some takes away."""
    takes_away = target in (Target.DIFFERENCE, Target.STRICT_DIFFERENCE)
    return not takes_away and all(one is Pattern.MON for one in patterns)


class CopyChanges(NamedTuple):
    """The changes of the number of copies of rows: by slot of the row, in time order."""

    slots: Ints
    times: Ints
    deltas: Ints


class RowEvents(NamedTuple):
    """Rows that come and go in an input: by slot of the row, in any order."""

    slots: Ints
    times: Ints
    deltas: Signs

    def chosen(self, which: Flags) -> RowEvents:
        """Some of them."""
        return self if which.all() else RowEvents._make(one[which] for one in self)


class CountedRows:
    """One slot for each different row, with how often it occurs in each input and in the result.

    What comes and goes within one instant is not seen: changes are netted at its end.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        patterns: Sequence[Pattern],
        target: Target,
        span: int,
        partitions: int,
    ) -> None:
        self.target = target
        self.only_grows = only_grows(target, patterns)
        self.rows = SlotTable(types, keyed=len(types))
        # Copies left, right and in the result, in 32 bits until some do not fit.
        self._counts = self.rows.column(np.int32, "_count", width=3)
        self._space = self.rows.column(np.int32, None)
        self._alive = self.rows.column(np.bool_, None, there=True)
        self._met: Ints = np.zeros(0, np.int64)
        self._held = self.rows.beside(_HeldSlots())
        self._ends = [
            self.rows.beside(SlotQueue(queue, f"ends{side}", SAVED, is_net=True, counts=True))
            for side, queue in enumerate(_queue(one, span, partitions) for one in patterns)
        ]

    def step(self, inputs: Sequence[Block | None], clock: int) -> CopyChanges:
        """Count the rows of a step, and what ends in it; the changes of the result."""
        times, slots, sides, deltas = [], [], [], []
        for side, block in enumerate(inputs):
            found = [] if block is None else self._enter(side, block, clock)
            ends, (ended, change) = self._ends[side].queue.pop(clock)
            for one in (*found, RowEvents(ended.astype(np.int64), ends, change)):
                times.append(one.times)
                slots.append(one.slots)
                deltas.append(one.deltas)
                sides.append(np.full(len(one.times), side, np.int8))
        at = np.concatenate(times)
        self._met = np.concatenate(slots)
        order = order_of(at)
        changed = net_changes(
            at[order],
            self._met[order],
            np.concatenate(sides)[order],
            np.concatenate(deltas)[order],
            self.counts,
            self.space,
            int(self.target),
        )
        if changed[3] > WIDE:
            self._counts.values = self.counts.astype(np.int64)
        return CopyChanges(*changed[:3])

    def short(self) -> Ints:
        """Slots of the last step's rows that were taken out more often than they were there."""
        return self._met[(self.counts[self._met, :2] < 0).any(axis=1)]

    @property
    def counts(self) -> Values:
        """By slot: copies left, right and in the result."""
        return self._counts.values

    @property
    def space(self) -> Values:
        """A number by slot, for loops."""
        return self._space.values

    def release(self) -> None:
        """Forget the rows of the last step that occur nowhere; call it when they have been read."""
        held, alive = self._held, self._alive.values
        met = np.concatenate([self._met, held.before]) if len(held.before) else self._met
        alive[held.now] = False
        gone = gone_rows(met, self.counts, alive)
        alive[held.now] = True
        held.before = held.now
        self.rows.remove(gone)
        self._met = self._met[:0]
        self.rows.shrink()

    def take_out(self, slots: Ints) -> None:
        """Count a copy less of each of these slots, left and in the result; once for each time."""
        if len(slots):
            for place in (0, 2):
                np.subtract.at(self.counts[:, place], slots, 1)
            self._met = np.concatenate([self._met, slots])

    def hold(self, slots: Ints) -> None:
        """Keep the rows of these slots at the next release, even if they occur nowhere."""
        self._held.now = slots

    def _enter(self, side: int, block: Block, clock: int) -> list[RowEvents]:
        """Count rows, and await their ends; those before the clock are told at once."""
        slots, new = self.rows.enter(block.columns, len(block))
        self._alive.values[slots[new]] = True
        found = [RowEvents(slots, block.ts, block.signs)]
        ending = np.flatnonzero(block.te < INFINITY)
        if len(ending):
            ends = RowEvents(slots[ending], block.te[ending], -block.signs[ending])
            soon = ends.times < clock
            if soon.any():
                found.append(ends.chosen(soon))
                ends = ends.chosen(~soon)
            self._ends[side].queue.push(ends.times, [ends.slots, ends.deltas])
        return found

    @property
    def structures(self) -> tuple[str, ...]:
        """The structures where the ends of inputs wait whose rows may be withdrawn."""
        queues = (one.queue for one in self._ends)
        return tuple(one.structure for one in queues if isinstance(one, StrictQueue))


class _HeldSlots(SlotEntries):
    """Slots of rows that are kept at the next release, and of those kept at the last one."""

    def __init__(self) -> None:
        self.before: Ints = np.zeros(0, np.int64)
        self.now: Ints = np.zeros(0, np.int64)

    def move(self, moved: Moved) -> None:
        """Name other slots."""
        self.before, self.now = moved.numbers[self.before], moved.numbers[self.now]


def _queue(pattern: Pattern, span: int, partitions: int) -> ExpiryQueue:
    """The queue of the ends of an input."""
    if pattern is Pattern.STR:
        return StrictQueue(span, partitions)
    return expiry_queue(pattern, (SLOT, DELTA), span, partitions)
