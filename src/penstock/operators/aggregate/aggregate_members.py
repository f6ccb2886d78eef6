"""The members of an aggregation's groups: if there are any, and when the group must be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.aggregate.accumulators.accumulator import SelfExpiring
from penstock.operators.aggregate.aggregate_loops import counts_at, expect, latest_at
from penstock.operators.aggregate.group_ends import (
    CHANGE,
    SAVED_SLOT,
    SLOT,
    GroupEnds,
    kept_payload,
)
from penstock.state.expiry import ExpiryQueue, expiry_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.operators.aggregate.accumulators.accumulator import Accumulator
    from penstock.operators.aggregate.accumulators.events import GroupEvents
    from penstock.operators.block import Block
    from penstock.operators.declared_state.slot_table import SlotTable
    from penstock.state.arrays import Ints, Signs, Values

    NewQueue = Callable[[], ExpiryQueue]

_SLACK = 64

Leavers = tuple["Ints", "Ints", "Signs", list["Values"]]
"""When groups are to be asked, which, the change of their members then, and payload kept."""


class Members(Protocol):
    """The members of groups."""

    def enter(self, block: Block, groups: Ints, payloads: list[Values], clock: int) -> None:
        """Rows come into groups; the payload is that of accumulators that must see them leave."""

    def leave(self, clock: int) -> Leavers:
        """The departures that happen by themselves before the clock."""

    def after(self, events: GroupEvents) -> Ints:
        """A number for each point: 0 if its group has no members after it, else more."""

    def end_sweep(self, groups: Ints, clock: int) -> None:
        """A sweep is over that touched these groups; the step goes up to the clock."""

    def clear(self, groups: Ints) -> None:
        """Groups without members are forgotten."""

    def restored(self) -> None:
        """Make what follows from restored state."""


def members_for(
    groups: SlotTable,
    accumulators: Sequence[Accumulator],
    pattern: Pattern,
    span: int,
    partitions: int,
) -> Members:
    """The members that suit the accumulators: all rows, or only those that may be the answer."""
    kept = kept_payload(accumulators)

    def queue() -> ExpiryQueue:
        return expiry_queue(pattern, [SLOT, CHANGE, *kept], span, partitions)

    ends = groups.beside(GroupEnds(queue(), [SAVED_SLOT, CHANGE, *kept], accumulators))
    expiring = [one for one in accumulators if isinstance(one, SelfExpiring)]
    if pattern is Pattern.STR or len(expiring) < len(accumulators):
        return CountedMembers(groups, ends)
    return Candidates(groups, ends, expiring, queue)


class CountedMembers:
    """All rows: how many each group has, and who leaves when."""

    def __init__(self, groups: SlotTable, ends: GroupEnds) -> None:
        self._counts = groups.column(np.int64, "_rows")
        self._ends = ends

    def enter(self, block: Block, groups: Ints, payloads: list[Values], clock: int) -> None:
        """Await the ends of the rows."""
        del clock
        ending = np.flatnonzero(block.te < INFINITY)
        if len(ending):
            kept = [values[ending] for values in payloads]
            self._ends.queue.push(block.te[ending], [groups[ending], -block.signs[ending], *kept])

    def leave(self, clock: int) -> Leavers:
        """The rows that end."""
        ended, (groups, changes, *kept) = self._ends.queue.pop(clock)
        return ended, groups.astype(np.int64), changes, kept

    def after(self, events: GroupEvents) -> Ints:
        """Count."""
        return counts_at(events.groups, events.signs, events.points, self._counts.values)

    def end_sweep(self, groups: Ints, clock: int) -> None:
        """All ends are known already."""

    def clear(self, groups: Ints) -> None:
        """The counts of these groups are zero."""

    def restored(self) -> None:
        """Counts and ends are saved."""


class Candidates:
    """Only what the accumulators keep, and the latest end of each group.

    A group is asked when an element that may be its answer ends, and when the last of its rows
    does. Elements that have lost their chance since leave an end behind; when there are more of
    these than of others, they are cleared away.
    """

    def __init__(
        self,
        groups: SlotTable,
        ends: GroupEnds,
        accumulators: Sequence[SelfExpiring],
        new_queue: NewQueue,
    ) -> None:
        self._accumulators = accumulators
        self._new_queue = new_queue
        self._ends = ends
        # The latest end of a group's rows, and the latest that is in the queue.
        self._latest = groups.column(np.int64, "_rows", fill=BEGINNING)
        self._awaited = groups.column(np.int64, None, fill=BEGINNING)

    def enter(self, block: Block, groups: Ints, payloads: list[Values], clock: int) -> None:
        """Await the ends in this step; of the others it is seen later which ones matter."""
        del payloads
        soon = np.flatnonzero(block.te < clock)
        self._await([(groups[soon], block.te[soon])], BEGINNING)

    def leave(self, clock: int) -> Leavers:
        """The points where groups are to be asked; nobody is counted."""
        ended, (groups, changes) = self._ends.queue.pop(clock)
        return ended, groups.astype(np.int64), changes, []

    def after(self, events: GroupEvents) -> Ints:
        """The latest end is still to come."""
        return latest_at(
            events.groups,
            events.times,
            events.signs,
            events.ends,
            events.points,
            self._latest.values,
        )

    def end_sweep(self, groups: Ints, clock: int) -> None:
        """Await the ends of what became a candidate, and of groups."""
        parts = [one.new_elements() for one in self._accumulators]
        for part in parts:
            expect(*part, self._awaited.values)
        latest = self._latest.values[groups]
        late = np.flatnonzero((latest > self._awaited.values[groups]) & (latest >= clock))
        self._awaited.values[groups[late]] = latest[late]
        self._await([*parts, (groups[late], latest[late])], clock)
        kept = sum(one.state_rows for one in self._accumulators)
        if len(self._ends.queue) > 2 * kept + len(self._latest.values) + _SLACK:
            self._clear_queue(clock)

    def clear(self, groups: Ints) -> None:
        """Forget the ends."""
        self._latest.values[groups] = self._awaited.values[groups] = BEGINNING

    def restored(self) -> None:
        """All latest ends are awaited."""
        self._awaited.values = self._latest.values.copy()

    def _await(self, parts: Sequence[tuple[Ints, Ints]], clock: int) -> None:
        """Ask groups at ends from the clock on, all at once: a FIFO is given them in order."""
        groups, ends = map(np.concatenate, zip(*parts, strict=True))
        matter = np.flatnonzero((ends >= clock) & (ends < INFINITY))
        if len(matter):
            self._ends.queue.push(ends[matter], [groups[matter], np.zeros(len(matter), np.int8)])

    def _clear_queue(self, clock: int) -> None:
        """Await only what is still kept."""
        self._ends.queue = self._new_queue()
        latest = self._latest.values
        there = np.flatnonzero(latest >= clock)
        parts = [one.elements() for one in self._accumulators]
        self._await([*parts, (there, latest[there])], clock)
