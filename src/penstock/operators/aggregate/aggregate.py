"""Aggregation: one row per group, kept up to date as rows come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.aggregates import facts_of
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.aggregate.accumulators.events import GroupEvents
from penstock.operators.aggregate.aggregate_calls import ComputedCall, GroupedRows
from penstock.operators.aggregate.aggregate_loops import by_group, change_ends
from penstock.operators.aggregate.aggregate_members import members_for
from penstock.operators.aggregate.aggregate_order import in_time, portions_in_time
from penstock.operators.block import Block, rows_by_time
from penstock.operators.declared_state.known_values import LATEST, KnownValues
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.set.sameness import same_rows
from penstock.state.arrays import is_text
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.algebra.failures import Failures
    from penstock.algebra.patterns import Pattern
    from penstock.compute.evaluate import Evaluator
    from penstock.state.arrays import Flags, Ints, Values


class AggregateOperator(Operator):
    """Groups in slots: their keys, how many rows they have, and the row last sent out.

    What begins and ends in one step is sent with its interval. The last row of a group in a step
    is sent for ever, and withdrawn by a negative row when the group changes in a later step.
    """

    def __init__(
        self,
        keys: Sequence[tuple[Evaluator, pa.DataType]],
        calls: Sequence[tuple[ComputedCall, pa.DataType]],
        pattern: Pattern,
        span: int,
        partitions: int,
        failures: Failures,
        *,
        row_over_nothing: bool,
    ) -> None:
        self._keys = tuple(key for key, _ in keys)
        self._calls = tuple(call for call, _ in calls)
        self._failures = failures
        self._always = not keys and row_over_nothing
        self._types = [type_ for _, type_ in (*keys, *calls)]
        self._with_text = any(map(is_text, self._types))
        # The row last sent out; whether it is out, whether the group is there, and space.
        self._groups = SlotTable(self._types, port=None, keyed=len(keys))
        self._out = self._groups.column(np.bool_, "_out")
        self._alive = self._groups.column(np.bool_, None, there=True)
        self._space = self._groups.column(np.int64, None)
        accumulators = [call.accumulator for call in self._calls]
        self._members = members_for(self._groups, accumulators, pattern, span, partitions)
        self._begun = False
        begun = KnownValues(self, _begun=LATEST)
        self.state = DeclaredState(groups=self._groups, begun=begun)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of groups that changed."""
        (block,) = map(rows_by_time, inputs)
        made: list[Block] = []
        starts_empty = self._always and not self._begun
        self._begun = True
        if starts_empty and (block is None or int(block.ts[0]) > BEGINNING):
            made.append(self._over_nothing())
        arrived = self._arrivals(block, clock)
        emptied: list[tuple[Ints, Flags]] = []
        for events, payloads in self._events(arrived, clock):
            made += self._changes(events, payloads, emptied)
            self._members.end_sweep(emptied[-1][0], clock)
        self._forget(emptied)
        self._give_back(block, arrived.payloads)
        return made

    def _over_nothing(self) -> Block:
        """The single row of an aggregate without keys before all input."""
        (slot,), _ = self._groups.find_or_add(np.zeros((1, 2), np.uint64))
        row = tuple(
            pa.array([facts_of(call.function).over_nothing], type_)
            for call, type_ in zip(self._calls, self._types, strict=True)
        )
        slots = np.array([slot])
        self._groups.rows.put(slots, row)
        self._out.values[slots] = True
        forever = np.array([INFINITY])
        return Block(row, np.array([BEGINNING]), forever, np.ones(1, np.int8))

    def _events(
        self, arrived: GroupedRows, clock: int
    ) -> Iterator[tuple[GroupEvents, list[tuple[Values, ...]]]]:
        """The rows that enter and leave groups, by group and time, with their payload by call.

        They come in portions that follow each other in time, most often all in one.
        """
        ended, slots, changes, kept = self._members.leave(clock)
        groups = np.concatenate([arrived.groups, slots])
        times = np.concatenate([arrived.times, ended])
        signs = np.concatenate([arrived.signs, changes])
        ends = np.concatenate([arrived.ends, ended])
        follow = in_time(times, signs)
        longest = max(arrived.longest, self._groups.rows.longest)
        for portion in portions_in_time(times, follow, longest):
            order = by_group(groups, portion, self._space.values)
            group, at = groups[order], times[order]
            is_last = np.ones(len(order), np.bool_)
            is_last[:-1] = (group[1:] != group[:-1]) | (at[1:] != at[:-1])
            events = GroupEvents(group, at, signs[order], ends[order], np.flatnonzero(is_last))
            yield events, self._payloads(arrived.payloads, kept, len(ended), order)

    def _arrivals(self, block: Block | None, clock: int) -> GroupedRows:
        if block is None:
            nothing = np.zeros(0, np.int64)
            payloads = [
                tuple(np.zeros(0, one) for one in call.accumulator.payload_types)
                for call in self._calls
            ]
            return GroupedRows(nothing, nothing, nothing, nothing.astype(np.int8), payloads, 0)
        failures = self._failures
        keys = tuple(key(block.columns, len(block), failures) for key in self._keys)
        groups, new = self._groups.find_or_add(fingerprints(keys, len(block)))
        if len(new):
            self._alive.values[groups[new]] = True
            self._enter_keys(groups[new], [key.take(pa.array(new)) for key in keys])
        payloads = [call.payload(block, failures) for call in self._calls]
        kept = [
            values
            for call, payload in zip(self._calls, payloads, strict=True)
            if call.kept
            for values in payload
        ]
        self._members.enter(block, groups, kept, clock)
        longest = int(block.texts().max(initial=0)) if self._with_text else 0
        return GroupedRows(groups, block.ts, block.te, block.signs, payloads, longest)

    def _enter_keys(self, slots: Ints, keys: Sequence[pa.Array]) -> None:
        nulls = [pa.nulls(len(slots), type_) for type_ in self._types[len(keys) :]]
        self._groups.rows.put(slots, [*keys, *nulls])

    def _payloads(
        self, arrived: list[tuple[Values, ...]], kept: list[Values], left: int, order: Ints
    ) -> list[tuple[Values, ...]]:
        """The payload of all events by call, in the order of the events."""
        payloads = []
        for call, entering in zip(self._calls, arrived, strict=True):
            if call.kept:
                leaving, kept = kept[: len(entering)], kept[len(entering) :]
            else:
                leaving = [np.zeros(left, one) for one in call.accumulator.payload_types]
            both = zip(entering, leaving, strict=True)
            payloads.append(tuple(np.concatenate(pair)[order] for pair in both))
        return payloads

    def _changes(
        self,
        events: GroupEvents,
        payloads: list[tuple[Values, ...]],
        emptied: list[tuple[Ints, Flags]],
    ) -> list[Block]:
        """The groups' rows before and after; `emptied` gets the groups that are empty then."""
        points = events.points
        groups, times = events.groups[points], events.times[points]
        counts = self._members.after(events)
        values = [
            self._value(call, events, payload)
            for call, payload in zip(self._calls, payloads, strict=True)
        ]
        is_first = np.diff(groups, prepend=-1) != 0
        exists = (counts > 0) | self._always
        keys = self._groups.rows.take(groups, len(self._keys))
        row = (*keys, *values)
        before = self._groups.take(groups[is_first])
        was_out = self._out.values[groups[is_first]]
        # The keys of a group are what they were.
        unchanged = same_rows(values, before[len(keys) :], is_first, exists, was_out)
        te = change_ends(groups, times, unchanged)
        begins = exists & ~unchanged & (times < te)
        made = Block(row, times, te, np.ones(len(times), np.int8)).take(begins)
        withdrawn = self._withdrawn(groups, times, te, unchanged, is_first, before)
        is_last = np.flatnonzero(np.append(is_first[1:], True))
        self._remember(groups[is_last], row, is_last, exists[is_last])
        emptied.append((groups[is_last], counts[is_last] == 0))
        return [withdrawn, made]

    def _give_back(self, block: Block | None, payloads: list[tuple[Values, ...]]) -> None:
        """A withdrawal for ever is never undone, nor does its element leave once more."""
        if block is None or block.sign is None:
            return
        settled = np.flatnonzero((block.sign < 0) & (block.te == INFINITY))
        for call, payload in zip(self._calls, payloads, strict=True):
            call.accumulator.drop(tuple(values[settled] for values in payload))

    def _value(
        self, call: ComputedCall, events: GroupEvents, payload: tuple[Values, ...]
    ) -> pa.Array:
        value, failed = call.accumulator.sweep(events, payload)
        self._failures.add(call.function, failed)
        return value

    def _withdrawn(
        self,
        groups: Ints,
        times: Ints,
        te: Ints,
        unchanged: Flags,
        is_first: Flags,
        before: tuple[pa.Array, ...],
    ) -> Block:
        """Negative rows for the rows sent in earlier steps, from the first change on."""
        firsts = np.flatnonzero(is_first)
        # Where the first point changes nothing, the row ends at the next that does.
        since = np.where(unchanged[firsts], te[firsts], times[firsts])
        ended = self._out.values[groups[firsts]] & (since < INFINITY)
        forever = np.full(len(firsts), INFINITY, np.int64)
        return Block(before, since, forever, np.full(len(firsts), -1, np.int8)).take(ended)

    def _remember(
        self, slots: Ints, row: tuple[pa.Array, ...], places: Ints, exists: Flags
    ) -> None:
        """The last row of each group, by its place among the rows."""
        self._out.values[slots] = exists
        kept = pa.array(places[exists])
        self._groups.rows.put(slots[exists], [column.take(kept) for column in row])

    def _forget(self, emptied: list[tuple[Ints, Flags]]) -> None:
        """Forget the groups that are empty after all portions of a step."""
        if not emptied:
            return
        slots, empty = map(np.concatenate, zip(*emptied, strict=True))
        if len(emptied) > 1:
            # What counts is the last portion that touched a group.
            slots, last = np.unique(slots[::-1], return_index=True)
            empty = empty[::-1][last]
        gone = slots[empty]
        for call in self._calls:
            call.accumulator.clear(gone)
        if not self._always:
            # A withdrawn element and its withdrawal still end together, maybe in a slot set free.
            gone = gone[self._alive.values[gone]]
            self._alive.values[gone] = False
            self._members.clear(gone)
            self._groups.remove(gone)

    def restored(self) -> None:
        """Await what follows from the groups, and have no more room than they need."""
        self._members.restored()
        self.shrink()
