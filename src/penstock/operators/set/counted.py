"""Rows that are counted: how often each occurs in the inputs, at every instant."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.operators.division import Moves, netted, with_column
from penstock.operators.saved_tables import arrays_of
from penstock.operators.set.counted_loops import gone_rows, net_changes
from penstock.state.cancelling import DELTA, SLOT
from penstock.state.expiry import (
    ExpiryQueue,
    expiry_queue,
    queue_table,
    restore_queue,
    restored_slots,
)
from penstock.state.fingerprints import fingerprints
from penstock.state.keyed import KeyedRows
from penstock.state.keys import KeyIndex
from penstock.state.rows import grown
from penstock.state.sorting import order_of
from penstock.state.strict_queue import StrictQueue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.block import Block
    from penstock.operators.division import Division, Spread
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Flags, Ints, Signs, Values
    from penstock.state.moving import Moved


SAVED = (np.dtype(np.int64), np.dtype(np.int64))
"""How the slot of a row that will end is saved, and how its copies change then."""
WIDE = 2**30
"""A number of copies from which on 32 bits might not do."""


class Target(IntEnum):
    """How often a row occurs in the result, given how often it does left and right."""

    COPIES = 0
    DISTINCT = 1
    DIFFERENCE = 2
    INTERSECTION = 3
    MAX_UNION = 4
    STRICT_DIFFERENCE = 5


class Changes(NamedTuple):
    """How the number of copies of rows changes: by slot of the row, in time order."""

    slots: Ints
    times: Ints
    deltas: Ints


class Events(NamedTuple):
    """Rows that come and go in an input: by slot of the row, in any order."""

    slots: Ints
    times: Ints
    deltas: Signs

    def chosen(self, which: Flags) -> Events:
        """Some of them."""
        return self if which.all() else Events._make(one[which] for one in self)


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
        self.rows = KeyedRows(types)
        # By slot: copies left, right and in the result, in 32 bits until some do not fit.
        self.counts: Values = np.zeros((0, 3), np.int32)
        self.space: Values = np.zeros(0, np.int32)
        self._alive: Flags = np.zeros(0, np.bool_)
        self._met: Ints = np.zeros(0, np.int64)
        self._held: Ints = np.zeros(0, np.int64)
        self._held_now: Ints = np.zeros(0, np.int64)
        self._ends = [_queue(pattern, span, partitions) for pattern in patterns]

    def step(self, inputs: Sequence[Block | None], clock: int) -> Changes:
        """Count the rows of a step, and what ends in it; the changes of the result."""
        times, slots, sides, deltas = [], [], [], []
        for side, block in enumerate(inputs):
            found = [] if block is None else self._enter(side, block, clock)
            ends, (ended, change) = self._ends[side].pop(clock)
            for one in (*found, Events(ended.astype(np.int64), ends, change)):
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
            self.counts = self.counts.astype(np.int64)
        return Changes(*changed[:3])

    def short(self) -> Ints:
        """Slots of the last step's rows that were taken out more often than they were there."""
        return self._met[(self.counts[self._met, :2] < 0).any(axis=1)]

    def release(self) -> Moved | None:
        """Forget the rows of the last step that occur nowhere; call it when they have been read.

        Returns:
            The new slots of rows, if most room was empty and all rows have moved together.
        """
        met = np.concatenate([self._met, self._held]) if len(self._held) else self._met
        self._alive[self._held_now] = False
        gone = gone_rows(met, self.counts, self._alive)
        self._alive[self._held_now] = True
        self._held = self._held_now
        self.rows.remove(gone)
        self._met = self._met[:0]
        return self._compact() if self.rows.is_spacious else None

    def _compact(self) -> Moved:
        moved = self.rows.compact()
        self.counts, self.space = moved.rows(self.counts), moved.rows(self.space)
        self._alive = moved.rows(self._alive)
        self._held = self._held_now = moved.numbers[self._held]
        for queue in self._ends:
            queue.renumber(moved.numbers)
        return moved

    def hold(self, slots: Ints) -> None:
        """Keep the rows of these slots at the next release, even if they occur nowhere."""
        self._held_now = slots

    def _enter(self, side: int, block: Block, clock: int) -> list[Events]:
        """Count rows, and await their ends; those before the clock are told at once."""
        slots, new = self.rows.enter(block.columns, len(block))
        self._reserve(self.rows.capacity)
        self._alive[slots[new]] = True
        found = [Events(slots, block.ts, block.signs)]
        ending = np.flatnonzero(block.te < INFINITY)
        if len(ending):
            ends = Events(slots[ending], block.te[ending], -block.signs[ending])
            soon = ends.times < clock
            if soon.any():
                found.append(ends.chosen(soon))
                ends = ends.chosen(~soon)
            self._ends[side].push(ends.times, [ends.slots, ends.deltas])
        return found

    def _reserve(self, capacity: int) -> None:
        self.counts = grown(self.counts, capacity)
        self.space = grown(self.space, capacity)
        self._alive = grown(self._alive, capacity)

    def __len__(self) -> int:
        """How many different rows there are."""
        return len(self.rows)

    @property
    def pending(self) -> int:
        """How many ends are still to come."""
        return sum(len(queue) for queue in self._ends)

    @property
    def structures(self) -> tuple[str, ...]:
        """Where the ends of inputs wait whose rows may be withdrawn."""
        return tuple(one.structure for one in self._ends if isinstance(one, StrictQueue))

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        by_slot = self.counts.nbytes + self.space.nbytes + self._alive.nbytes
        return self.rows.nbytes + by_slot + sum(queue.nbytes for queue in self._ends)

    def segments(self) -> Segments:
        """Rows with their slots and counts, and the ends to come."""
        slots = self.rows.live_slots()
        columns = self.rows.columns(slots) | {"_slot": pa.array(slots)}
        counts = self.counts[slots].astype(np.int64)
        columns |= {f"_count{n}": pa.array(counts[:, n]) for n in range(3)}
        queues = {f"ends{side}": queue_table(one, SAVED) for side, one in enumerate(self._ends)}
        return {"rows": pa.table(columns), **queues}

    def divided(
        self, parts: Sequence[Segments], division: Division, spread: Spread
    ) -> tuple[list[Segments], Moves]:
        """Each different row with its counts and ends; and where the slots are now."""
        shares = division.shares([part["rows"] for part in parts], spread)
        met = [_met(shares.of(lane)) for lane in range(division.lanes)]
        moves = Moves(shares, [slots for _, slots in met])
        made: list[Segments] = [{"rows": rows} for rows, _ in met]
        for side in range(len(self._ends)):
            ends = [netted(part[f"ends{side}"], "payload1") for part in parts]
            for segments, one in zip(made, moves.moved(ends, "payload0", "payload1"), strict=True):
                segments[f"ends{side}"] = one
        return made, moves

    def restore(self, segments: Mapping[str, pa.Table]) -> Moved:
        """Take back what `segments` gave; rows have new slots now."""
        *columns, slot, first, second, third = arrays_of(segments["rows"])
        ends = [segments[f"ends{side}"] for side in range(len(self._ends))]
        moved = restored_slots(slot.to_numpy(), ends)
        slots = np.arange(len(moved.kept))
        self.rows.restore(columns, slots)
        self._reserve(len(slots) + 1)
        self._alive[slots] = True
        counts = np.stack([one.to_numpy() for one in (first, second, third)], axis=1)
        if np.abs(counts).max(initial=0) > WIDE:
            self.counts = self.counts.astype(np.int64)
        self.counts[slots] = counts
        for queue, one in zip(self._ends, ends, strict=True):
            restore_queue(queue, one, moved)
        return moved


def _queue(pattern: Pattern, span: int, partitions: int) -> ExpiryQueue:
    """Where the ends of an input wait."""
    if pattern is Pattern.STR:
        return StrictQueue(span, partitions)
    return expiry_queue(pattern, (SLOT, DELTA), span, partitions)


def _met(rows: pa.Table) -> tuple[pa.Table, Ints]:
    """Rows under new slots, those alike in one; and the new slot of each row."""
    columns = arrays_of(rows)
    slots, new = KeyIndex().find_or_add(fingerprints(columns[:-4], len(rows)))
    made = with_column(rows.take(pa.array(new)), "_slot", np.arange(len(new)))
    for name in rows.column_names[-3:]:
        counts = np.zeros(len(new), np.int64)
        np.add.at(counts, slots, rows[name].to_numpy())
        made = with_column(made, name, counts)
    return made, slots
