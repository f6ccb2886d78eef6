"""Who is in which group of an aggregation: whether anybody is, and when the group must be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.aggregate.accumulators.accumulator import SelfExpiring
from penstock.operators.aggregate.aggregate_loops import counts_at, expect, latest_at
from penstock.state.expiry import ExpiryQueue, expiry_queue, queue_table, restore_queue
from penstock.state.rows import grown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from penstock.operators.aggregate.accumulators.accumulator import Accumulator
    from penstock.operators.aggregate.accumulators.events import Events
    from penstock.operators.block import Block
    from penstock.state.arrays import Ints, Signs, Values
    from penstock.state.moving import Moved

    NewQueue = Callable[[], ExpiryQueue]

SLOT, CHANGE = np.dtype(np.int32), np.dtype(np.int8)
"""What is kept of each end besides the payload of the accumulators: the group, and the change."""
SAVED_SLOT = np.dtype(np.int64)
"""As which a group is saved."""
_SLACK = 64

Leavers = tuple["Ints", "Ints", "Signs", list["Values"]]
"""When groups are to be asked, which, the change of their members then, and payload kept."""


class Members(Protocol):
    """The members of groups."""

    def enter(self, block: Block, groups: Ints, payloads: list[Values], clock: int) -> None:
        """Rows come into groups; the payload is that of accumulators that must see them leave."""

    def leave(self, clock: int) -> Leavers:
        """What happens by itself before the clock."""

    def after(self, events: Events) -> Ints:
        """Whether the group of each point has members after it: 0, or more."""

    def settle(self, groups: Ints, clock: int) -> None:
        """A sweep is over that touched these groups; the step goes up to the clock."""

    def clear(self, groups: Ints) -> None:
        """Groups without members are forgotten."""

    def reserve(self, capacity: int) -> None:
        """Room for groups below the capacity."""

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots."""

    def recode(self, column: int, codes: Ints) -> None:
        """Code c has become `codes[c]` in a column of the payload."""

    def saved(self, groups: Ints) -> Ints:
        """What is known of groups."""

    def restore(self, known: Ints, ends: pa.Table, moved: Moved) -> None:
        """Take back what is known of groups, and the ends to come; groups have other slots."""

    def ends(self) -> pa.Table:
        """The ends to come."""

    def __len__(self) -> int:
        """How many ends are to come."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""


def members_for(
    accumulators: Sequence[Accumulator],
    kept: Sequence[np.dtype[Any]],
    pattern: Pattern,
    span: int,
    partitions: int,
) -> Members:
    """What suits the accumulators: all rows, or only those that may be the answer."""

    def queue() -> ExpiryQueue:
        return expiry_queue(pattern, [SLOT, CHANGE, *kept], span, partitions)

    expiring = [one for one in accumulators if isinstance(one, SelfExpiring)]
    if pattern is Pattern.STR or len(expiring) < len(accumulators):
        return CountedMembers(queue(), kept)
    return Candidates(expiring, queue)


class CountedMembers:
    """All rows: how many each group has, and who leaves when."""

    def __init__(self, queue: ExpiryQueue, kept: Sequence[np.dtype[Any]]) -> None:
        self._counts: Ints = np.zeros(0, np.int64)
        self._queue = queue
        self._kept = kept

    def enter(self, block: Block, groups: Ints, payloads: list[Values], clock: int) -> None:
        """Await the ends of the rows."""
        del clock
        ending = np.flatnonzero(block.te < INFINITY)
        if len(ending):
            kept = [values[ending] for values in payloads]
            self._queue.push(block.te[ending], [groups[ending], -block.signs[ending], *kept])

    def leave(self, clock: int) -> Leavers:
        """The rows that end."""
        ended, (groups, changes, *kept) = self._queue.pop(clock)
        return ended, groups.astype(np.int64), changes, kept

    def after(self, events: Events) -> Ints:
        """Count."""
        return counts_at(events.groups, events.signs, events.points, self._counts)

    def settle(self, groups: Ints, clock: int) -> None:
        """All ends are known already."""

    def clear(self, groups: Ints) -> None:
        """The counts of these groups are zero."""

    def reserve(self, capacity: int) -> None:
        """Room for groups below the capacity."""
        self._counts = grown(self._counts, capacity)

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots."""
        self._counts = moved.rows(self._counts)
        self._queue.renumber(moved.numbers)

    def recode(self, column: int, codes: Ints) -> None:
        """Code c has become `codes[c]` in a column of the payload."""
        self._queue.renumber(codes, len((SLOT, CHANGE)) + column)

    def saved(self, groups: Ints) -> Ints:
        """How many rows groups have."""
        return self._counts[groups]

    def restore(self, known: Ints, ends: pa.Table, moved: Moved) -> None:
        """Take back counts and ends."""
        self._counts[: len(known)] = known
        restore_queue(self._queue, ends, moved)

    def ends(self) -> pa.Table:
        """The ends to come."""
        return queue_table(self._queue, [SAVED_SLOT, CHANGE, *self._kept])

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._counts.nbytes + self._queue.nbytes


class Candidates:
    """Only what the accumulators keep, and the latest end of each group.

    A group is asked when an element that may be its answer ends, and when the last of its rows
    does. Elements that have lost their chance since leave an end behind; when there are more of
    these than of others, they are cleared away.
    """

    def __init__(self, accumulators: Sequence[SelfExpiring], new_queue: NewQueue) -> None:
        self._accumulators = accumulators
        self._new_queue = new_queue
        self._queue = new_queue()
        # By group: the latest end of its rows, and the latest that is in the queue.
        self._latest: Ints = np.zeros(0, np.int64)
        self._awaited: Ints = np.zeros(0, np.int64)

    def enter(self, block: Block, groups: Ints, payloads: list[Values], clock: int) -> None:
        """Await the ends in this step; of the others it is seen later which ones matter."""
        del payloads
        soon = np.flatnonzero(block.te < clock)
        self._await([(groups[soon], block.te[soon])], BEGINNING)

    def leave(self, clock: int) -> Leavers:
        """Where groups are to be asked; nobody is counted."""
        ended, (groups, changes) = self._queue.pop(clock)
        return ended, groups.astype(np.int64), changes, []

    def after(self, events: Events) -> Ints:
        """Whether the latest end is still to come."""
        return latest_at(
            events.groups, events.times, events.signs, events.ends, events.points, self._latest
        )

    def settle(self, groups: Ints, clock: int) -> None:
        """Await the ends of what became a candidate, and of groups."""
        parts = [one.new_elements() for one in self._accumulators]
        for part in parts:
            expect(*part, self._awaited)
        latest = self._latest[groups]
        late = np.flatnonzero((latest > self._awaited[groups]) & (latest >= clock))
        self._awaited[groups[late]] = latest[late]
        self._await([*parts, (groups[late], latest[late])], clock)
        kept = sum(one.state_rows for one in self._accumulators)
        if len(self._queue) > 2 * kept + len(self._latest) + _SLACK:
            self._clear_queue(clock)

    def clear(self, groups: Ints) -> None:
        """Forget the ends."""
        self._latest[groups] = self._awaited[groups] = BEGINNING

    def reserve(self, capacity: int) -> None:
        """Room for groups below the capacity."""
        before = len(self._latest)
        self._latest = grown(self._latest, capacity)
        self._awaited = grown(self._awaited, capacity)
        self._latest[before:] = self._awaited[before:] = BEGINNING

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots."""
        self._latest, self._awaited = self._latest[moved.kept], self._awaited[moved.kept]
        self.reserve(len(moved.kept) + 1)
        self._queue.renumber(moved.numbers)

    def recode(self, column: int, codes: Ints) -> None:
        """No payload is kept."""

    def saved(self, groups: Ints) -> Ints:
        """The latest ends of groups."""
        return self._latest[groups]

    def restore(self, known: Ints, ends: pa.Table, moved: Moved) -> None:
        """Take back the latest ends, all of which are awaited."""
        self._latest[: len(known)] = self._awaited[: len(known)] = known
        restore_queue(self._queue, ends, moved)

    def ends(self) -> pa.Table:
        """The ends to come."""
        return queue_table(self._queue, [SAVED_SLOT, CHANGE])

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._latest.nbytes + self._awaited.nbytes + self._queue.nbytes

    def _await(self, parts: Sequence[tuple[Ints, Ints]], clock: int) -> None:
        """Ask groups at ends from the clock on, all at once: a FIFO is given them in order."""
        groups, ends = map(np.concatenate, zip(*parts, strict=True))
        matter = np.flatnonzero((ends >= clock) & (ends < INFINITY))
        if len(matter):
            self._queue.push(ends[matter], [groups[matter], np.zeros(len(matter), np.int8)])

    def _clear_queue(self, clock: int) -> None:
        """Await only what is still kept."""
        self._queue = self._new_queue()
        there = np.flatnonzero(self._latest >= clock)
        parts = [one.elements() for one in self._accumulators]
        self._await([*parts, (there, self._latest[there])], clock)
