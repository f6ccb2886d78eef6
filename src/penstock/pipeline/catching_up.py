"""Catching up: new groups of queries are fed the rows that their streams retain, and then join.

This goes on beside the micro-batches. A group begins with what is retained as of a record, stretch
by stretch of time, by lanes of its own; then it is fed the logs that micro-batches have written
since, again and again, until little is left. The rest is fed between two micro-batches, and the
record that says so has all results of the group so far. From then on micro-batches feed it.

Until that record nothing of it counts: after a restart a group begins anew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import Refused
from penstock.operators.block import concatenated
from penstock.pipeline.bound import bound
from penstock.pipeline.given_rows import exact_by_query, sees_past_of, start_of_past
from penstock.pipeline.group_feed import GroupFeed
from penstock.pipeline.joining import joined
from penstock.pipeline.retained_stretches import STRETCH_ROWS, stretches
from penstock.pipeline.retained_windows import retained_windows
from penstock.pipeline.unsealed_rows import rows_of_log
from penstock.store.pins import pin_record
from penstock.store.records import StreamProgress
from penstock.store.sub_windows.piece import block_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

    from penstock.lane_host.work import Done, Work
    from penstock.operators.block import Block
    from penstock.pipeline.bound import BoundGroup, BoundPlan
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.plans import PipelinePlan, QueryGroup
    from penstock.store.records import Record

FEW_ROWS = 20_000
"""So many rows that came last may be fed while micro-batches wait."""
MOST_ROUNDS = 20
"""Rows that come as fast as they are fed are fed so often before micro-batches wait."""


def with_catching_up(ledger: Ledger, plan: PipelinePlan) -> PipelinePlan:
    """A plan in which new groups catch up whose streams retain rows that they are to see.

    Raises:
        DataError: Retained rows cannot be read.
    """
    known = ledger.plan.groups
    if all(one.number in known for one in plan.groups):
        return plan
    made = bound(plan, ledger.plan)
    groups = tuple(
        one
        if one.number in known or one.replaces is not None
        else _begun(ledger, made, made.groups[one.number])
        for one in plan.groups
    )
    return replace(plan, groups=groups)


def _begun(ledger: Ledger, plan: BoundPlan, group: BoundGroup) -> QueryGroup:
    """A new group, which catches up if it is given rows of the past, and from when it is exact."""
    record = ledger.record
    return replace(
        group.group,
        catches_up=_has_past(record, plan, group),
        exact=exact_by_query(ledger.home, record, plan, group),
    )


def _has_past(record: Record, plan: BoundPlan, group: BoundGroup) -> bool:
    """Rows are retained that the queries of a new group are to see."""
    if start_of_past(group, plan.session) == INFINITY:
        return False
    unsealed = {name for one in record.unsealed for name in one.last}
    return any(
        sees_past_of(name, plan, group)
        and name in record.retained
        and (record.retained[name].pieces is not None or name in unsealed)
        for name in group.streams
    )


@dataclass
class _Climb:
    """A group on its way: what is left of the past, its lanes, and from when it is exact."""

    feed: GroupFeed
    past: Iterator[tuple[int, dict[str, Block]]] | None
    exact: dict[str, int]


class CatchingUp:
    """The groups of a ledger that catch up now, all from the same record on.

    Args:
        ledger: What runs.
        lock: Held by who changes the ledger.
        work: Lets lanes work.
        stretch_rows: How many rows of the past are fed at once.
    """

    def __init__(
        self,
        ledger: Ledger,
        lock: threading.RLock,
        work: Callable[[Work], Done],
        stretch_rows: int = STRETCH_ROWS,
    ) -> None:
        self._ledger = ledger
        self._lock = lock
        self._logs: deque[str] = deque()
        with lock:
            record, plan = ledger.record, ledger.plan
            self._pin = pin_record(ledger.home, record.number)
            ledger.listeners.append(self._note)
        self._climbs = {
            one.number: _Climb(
                GroupFeed(ledger.home, plan, record, one, work),
                _past(ledger, record, plan, one, stretch_rows),
                exact_by_query(ledger.home, record, plan, one),
            )
            for one in plan.catching_up
        }
        self._began = record
        self._rounds = 0
        for one in self._climbs.values():
            if one.feed.group.group.replaces is not None and INFINITY in one.exact.values():
                self.close()
                msg = "rows that its windows need are not kept any more"
                raise Refused(msg, hint="RETAIN of streams keeps more.")

    @property
    def groups(self) -> list[int]:
        """The numbers of the groups."""
        return list(self._climbs)

    def step(self) -> bool:
        """Feed some more; False once so little is left that they may join.

        Raises:
            PenstockError: Rows cannot be read, or lanes could not do their work.
        """
        for one in self._climbs.values():
            if one.past is not None:
                self._feed_past(one)
                return True
        self._rounds += 1
        rows = self._feed_new()
        self._keep()
        return rows > FEW_ROWS and self._rounds < MOST_ROUNDS

    def join(self) -> None:
        """Feed the rest, and let micro-batches feed the groups from now on; none runs.

        Whoever calls holds the lock. Groups that are gone, or have changed, do not join.
        """
        self._feed_new()
        now = self._ledger.plan.groups
        ready = {
            number: (one.feed, one.exact)
            for number, one in self._climbs.items()
            if number in now and now[number].group.queries == one.feed.group.group.queries
        }
        if ready:
            self._ledger.change(*joined(self._ledger, ready))

    def close(self) -> None:
        """Let go of the files that were kept for this."""
        if self._note in self._ledger.listeners:
            self._ledger.listeners.remove(self._note)
        self._pin.release()

    def _note(self, done: Sequence[Done]) -> None:
        """Remember the logs of a micro-batch that was committed."""
        self._logs += [one.log[0] for one in done if any(n.rows for n in one.streams.values())]

    def _keep(self) -> None:
        """Keep the files that are needed still."""
        files = [name for one in self._climbs.values() for name in one.feed.files]
        self._pin.keep([*files, *self._logs])

    def _feed_past(self, climb: _Climb) -> None:
        assert climb.past is not None
        end, rows = next(climb.past)
        if end == INFINITY:
            climb.past = None
        reached = {
            name: min(end, self._watermark(self._began, name)) for name in climb.feed.group.streams
        }
        pending = self._began.pending.get(str(climb.feed.group.number), {})
        climb.feed.feed(rows, reached, pending, is_whole=end == INFINITY)
        self._keep()

    def _feed_new(self) -> int:
        """Feed what has come since; how many rows."""
        with self._lock:
            record, logs = self._ledger.record, list(self._logs)
            self._logs.clear()
        tables = [rows_of_log(self._ledger.home.segments / one) for one in logs]
        for one in self._climbs.values():
            group = one.feed.group
            several = {name: [t[name] for t in tables if name in t] for name in group.streams}
            rows = {
                name: concatenated([block_of(table) for table in found])
                for name, found in several.items()
                if found
            }
            reached = {name: self._watermark(record, name) for name in group.streams}
            pending = record.pending.get(str(group.number), {})
            has_changes = any(len(files) > one.feed.fed[name] for name, files in pending.items())
            if rows or has_changes or reached != one.feed.reached:
                one.feed.feed(rows, reached, pending, is_whole=self._rounds <= 1)
        return sum(len(table) for found in tables for table in found.values())

    def _watermark(self, record: Record, stream: str) -> int:
        return record.streams.get(stream, StreamProgress()).watermark


def _past(
    ledger: Ledger, record: Record, plan: BoundPlan, group: BoundGroup, stretch_rows: int
) -> Iterator[tuple[int, dict[str, Block]]]:
    """The rows that its streams retain, as far as the queries want them."""
    start = start_of_past(group, plan.session)
    windows = {
        name: retained_windows(ledger.home, record, plan, name)
        for name in group.streams
        if sees_past_of(name, plan, group)
    }
    for end, rows in stretches(windows, stretch_rows):
        if start == BEGINNING:
            yield end, rows
            continue
        yield end, {name: block.take(block.ts >= start) for name, block in rows.items()}
