"""Aggregation: one row per group, kept up to date as rows come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.aggregate_loops import by_group, change_ends, counts_at
from penstock.operators.aggregates.events import Events
from penstock.operators.block import Block
from penstock.operators.buffered import Buffered
from penstock.operators.sameness import same_rows
from penstock.operators.tables import arrays_of
from penstock.state.expiry import ExpiryQueue, expiry_queue, queue_table, restore_queue
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.rows import RowStore, grown
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.patterns import Pattern
    from penstock.compute.evaluate import Evaluator
    from penstock.compute.failures import Failures
    from penstock.operators.aggregates.accumulator import Accumulator
    from penstock.operators.operator import Segments
    from penstock.state.arrays import Flags, Ints, Signs, Values

SLOT, CHANGE = np.dtype(np.int32), np.dtype(np.int8)
"""What is kept of each live element besides the payload of the accumulators."""
SAVED_SLOT = np.dtype(np.int64)
"""As which a slot is saved."""


class Call:
    """An aggregate of the query: its accumulator, and what its arguments are computed by."""

    def __init__(
        self, function: str, arguments: Sequence[Evaluator], accumulator: Accumulator
    ) -> None:
        self.function = function
        self.arguments = tuple(arguments)
        self.accumulator = accumulator
        # What drops expired candidates by itself does not have to be told who leaves.
        self.kept = tuple(accumulator.payload_types) if accumulator.needs_departures else ()

    def payload(self, block: Block, failures: Failures) -> tuple[Values, ...]:
        """What the accumulator keeps of each row."""
        values = [argument(block.columns, len(block), failures) for argument in self.arguments]
        return self.accumulator.prepare(values, len(block))


class Aggregate(Buffered):
    """Groups in slots: their keys, how many rows they have, and the row last sent out.

    What begins and ends in one step is sent with its interval. The last row of a group in a step
    is sent for ever, and withdrawn by a negative row when the group changes in a later step.
    """

    def __init__(
        self,
        keys: Sequence[tuple[Evaluator, pa.DataType]],
        calls: Sequence[tuple[Call, pa.DataType]],
        pattern: Pattern,
        span: int,
        partitions: int,
        failures: Failures,
        *,
        row_over_nothing: bool,
    ) -> None:
        super().__init__()
        self._keys = tuple(key for key, _ in keys)
        self._calls = tuple(call for call, _ in calls)
        self._failures = failures
        self._always = not keys and row_over_nothing
        self._index = KeyIndex()
        self._types = [type_ for _, type_ in (*keys, *calls)]
        self._sent = RowStore(self._types)
        # By group: how many rows it has; whether a row of it is out; whether it is there; space.
        self._counts: Ints = np.zeros(0, np.int64)
        self._out: Flags = np.zeros(0, np.bool_)
        self._alive: Flags = np.zeros(0, np.bool_)
        self._space: Ints = np.zeros(0, np.int64)
        self._kept = [type_ for call in self._calls for type_ in call.kept]
        types: list[np.dtype[Any]] = [SLOT, CHANGE, *self._kept]
        self._ends: ExpiryQueue = expiry_queue(pattern, types, span, partitions)
        self._begun = False

    def step(self, inputs: Sequence[Block | None], clock: int) -> Sequence[Block]:
        """The rows of groups that changed."""
        (block,) = inputs
        made: list[Block] = []
        starts_empty = self._always and not self._begun
        self._begun = True
        if starts_empty and (block is None or int(block.ts[0]) > BEGINNING):
            made.append(self._over_nothing())
        arrived = self._arrivals(block)
        events, payloads = self._events(arrived, clock)
        if len(events.groups):
            made += self._changes(events, payloads)
        self._give_back(block, arrived.payloads)
        return made

    def _over_nothing(self) -> Block:
        """The single row of an aggregate without keys before all input."""
        (slot,), _ = self._index.find_or_add(np.zeros((1, 2), np.uint64))
        self._reserve()
        row = tuple(
            pa.array([0 if call.function in ("count", "count_if") else None], type_)
            for call, type_ in zip(self._calls, self._types, strict=True)
        )
        slots = np.array([slot])
        self._sent.put(slots, row)
        self._out[slots] = True
        forever = np.array([INFINITY])
        return Block(row, np.array([BEGINNING]), forever, np.ones(1, np.int8))

    def _events(self, arrived: _Arrivals, clock: int) -> tuple[Events, list[tuple[Values, ...]]]:
        """Who enters and leaves which group, by group and time, with their payload by call."""
        ended, (slots, changes, *kept) = self._ends.pop(clock)
        groups = np.concatenate([arrived.groups, slots.astype(np.int64)])
        times = np.concatenate([arrived.times, ended])
        signs = np.concatenate([arrived.signs, changes])
        order = by_group(groups, _in_time(times, signs), self._space)
        groups, times = groups[order], times[order]
        is_last = np.ones(len(order), np.bool_)
        is_last[:-1] = (groups[1:] != groups[:-1]) | (times[1:] != times[:-1])
        ends = np.concatenate([arrived.ends, ended])[order]
        events = Events(groups, times, signs[order], ends, np.flatnonzero(is_last))
        return events, self._payloads(arrived.payloads, kept, len(ended), order)

    def _arrivals(self, block: Block | None) -> _Arrivals:
        if block is None:
            nothing = np.zeros(0, np.int64)
            payloads = [
                tuple(np.zeros(0, one) for one in call.accumulator.payload_types)
                for call in self._calls
            ]
            return _Arrivals(nothing, nothing, nothing, nothing.astype(np.int8), payloads)
        signs = block.signs
        failures = self._failures
        keys = tuple(key(block.columns, len(block), failures) for key in self._keys)
        groups, new = self._index.find_or_add(fingerprints(keys, len(block)))
        self._reserve()
        if len(new):
            self._alive[groups[new]] = True
            self._enter_keys(groups[new], [key.take(pa.array(new)) for key in keys])
        payloads = [call.payload(block, failures) for call in self._calls]
        ending = np.flatnonzero(block.te < INFINITY)
        if len(ending):
            kept = [
                values[ending]
                for call, payload in zip(self._calls, payloads, strict=True)
                if call.kept
                for values in payload
            ]
            self._ends.push(block.te[ending], [groups[ending], -signs[ending], *kept])
        return _Arrivals(groups, block.ts, block.te, signs, payloads)

    def _enter_keys(self, slots: Ints, keys: Sequence[pa.Array]) -> None:
        nulls = [pa.nulls(len(slots), type_) for type_ in self._types[len(keys) :]]
        self._sent.put(slots, [*keys, *nulls])

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

    def _changes(self, events: Events, payloads: list[tuple[Values, ...]]) -> list[Block]:
        """What the groups' rows were, and what they become."""
        points = events.points
        groups, times = events.groups[points], events.times[points]
        counts = counts_at(events.groups, events.signs, points, self._counts)
        values = [
            self._value(call, events, payload)
            for call, payload in zip(self._calls, payloads, strict=True)
        ]
        is_first = np.diff(groups, prepend=-1) != 0
        exists = (counts > 0) | self._always
        keys = self._sent.take(groups)[: len(self._keys)]
        row = (*keys, *values)
        before = self._sent.take(groups[is_first])
        was_out = self._out[groups[is_first]]
        unchanged = same_rows(row, before, is_first, exists, was_out)
        te = change_ends(groups, times, unchanged)
        begins = exists & ~unchanged & (times < te)
        made = Block(row, times, te, np.ones(len(times), np.int8)).take(begins)
        withdrawn = self._withdrawn(groups, times, te, unchanged, is_first, before)
        self._remember(groups, row, exists, counts)
        return [withdrawn, made]

    def _give_back(self, block: Block | None, payloads: list[tuple[Values, ...]]) -> None:
        """A withdrawal for ever is never undone, nor does its element leave once more."""
        if block is None or block.sign is None:
            return
        settled = np.flatnonzero((block.sign < 0) & (block.te == INFINITY))
        for call, payload in zip(self._calls, payloads, strict=True):
            call.accumulator.drop(tuple(values[settled] for values in payload))

    def _value(self, call: Call, events: Events, payload: tuple[Values, ...]) -> pa.Array:
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
        ended = self._out[groups[firsts]] & (since < INFINITY)
        forever = np.full(len(firsts), INFINITY, np.int64)
        return Block(before, since, forever, np.full(len(firsts), -1, np.int8)).take(ended)

    def _remember(
        self, groups: Ints, row: tuple[pa.Array, ...], exists: Flags, counts: Ints
    ) -> None:
        """The last row of each group; groups without rows are forgotten."""
        is_last = np.flatnonzero(np.append(groups[1:] != groups[:-1], True))
        slots = groups[is_last]
        self._out[slots] = exists[is_last]
        kept = is_last[exists[is_last]]
        self._sent.put(groups[kept], [column.take(pa.array(kept)) for column in row])
        gone = slots[counts[is_last] == 0]
        for call in self._calls:
            call.accumulator.clear(gone)
        if not self._always:
            # A withdrawn element and its withdrawal still end together, maybe in a slot set free.
            gone = gone[self._alive[gone]]
            self._alive[gone] = False
            self._index.remove(gone)
            self._sent.forget(gone)

    def _reserve(self, capacity: int = 0) -> None:
        capacity = max(capacity, self._index.capacity)
        self._sent.reserve(capacity)
        self._counts = grown(self._counts, capacity)
        self._out = grown(self._out, capacity)
        self._alive = grown(self._alive, capacity)
        self._space = grown(self._space, capacity)

    @property
    def state_rows(self) -> int:
        """Groups, live elements, and what the accumulators keep."""
        kept = sum(call.accumulator.state_rows for call in self._calls)
        return len(self._index) + len(self._ends) + kept

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        kept = sum(call.accumulator.state_bytes for call in self._calls)
        by_group = (self._counts, self._out, self._alive, self._space)
        groups = self._index.nbytes + self._sent.nbytes + sum(one.nbytes for one in by_group)
        return groups + self._ends.nbytes + kept

    def segments(self) -> Segments:
        """Groups, the elements that will leave them, and what the accumulators keep."""
        if not self._begun:
            return {}
        slots = self._index.live_slots()
        columns = {str(number): one for number, one in enumerate(self._sent.take(slots))}
        columns |= {"_slot": pa.array(slots), "_rows": pa.array(self._counts[slots])}
        columns |= {"_out": pa.array(self._out[slots])}
        ends = queue_table(self._ends, [SAVED_SLOT, CHANGE, *self._kept])
        made = {"groups": pa.table(columns), "ends": ends}
        for number, call in enumerate(self._calls):
            parts = call.accumulator.segments()
            made |= {f"{number}/{name}": table for name, table in parts.items()}
        return made

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        *columns, slot, rows, out = arrays_of(segments["groups"])
        slots = slot.to_numpy()
        keys = columns[: len(self._keys)]
        self._index.restore(fingerprints(keys, len(slots)), slots)
        ends = segments["ends"]
        self._reserve(int(ends["payload0"].to_numpy().max()) + 1 if len(ends) else 0)
        self._alive[slots] = True
        self._sent.put(slots, columns)
        self._counts[slots] = rows.to_numpy()
        self._out[slots] = out.to_numpy(zero_copy_only=False)
        restore_queue(self._ends, ends)
        for number, call in enumerate(self._calls):
            start = f"{number}/"
            parts = {k.removeprefix(start): t for k, t in segments.items() if k.startswith(start)}
            call.accumulator.restore(parts)
        self._begun = True


def _in_time(times: Ints, signs: Signs) -> Ints:
    """Events by time; at one instant rows enter before others leave, so no count is ever short."""
    entering_first = np.argsort(signs < 0, kind="stable")
    return entering_first[order_of(times[entering_first])]


class _Arrivals:
    """The rows of a step as they enter their groups."""

    def __init__(
        self,
        groups: Ints,
        times: Ints,
        ends: Ints,
        signs: Values,
        payloads: list[tuple[Values, ...]],
    ) -> None:
        self.groups = groups
        self.times = times
        self.ends = ends
        self.signs = signs
        self.payloads = payloads  # fmt: skip
