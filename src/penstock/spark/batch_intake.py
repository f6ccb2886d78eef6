"""The intake of a pipeline: what holds for the rows that come next.

No more rows come in while a sink is too far behind. Fewer come in at once while too much waits in
lanes. And of a stream that is far ahead of another one in event time none come in until that one
has come nearer: its rows would wait in the memory of lanes, and wait where they are instead.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from penstock.pipeline.leads import Leads
from penstock.spark.feeds import FeedLimits

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.spark.pipeline import Pipeline
    from penstock.store.records import Record

LOOK_SECONDS = 0.2
"""So often it is seen whether sinks have come nearer."""
SAY_SECONDS = 1.0
"""So often the status says that the intake waits."""


class BatchIntake:
    """The limits of what the next micro-batch may read, and the wait while it may read nothing.

    Attributes:
        sinks_behind: Asked for the sinks that are too far behind; it may wait so many seconds until
            there are none.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self.sinks_behind: Callable[[float], list[str]] = lambda _seconds: []
        self._leads = Leads()

    def wait_for_sinks(self, is_over: Callable[[], bool]) -> None:
        """Wait until no sink is too far behind, or the pipeline has been stopped.

        Not under its lock: others may want it meanwhile.
        """
        status = self._pipeline.status
        said = began = time.monotonic()
        while not is_over() and (names := self.sinks_behind(LOOK_SECONDS)):
            now = time.monotonic()
            if now - said >= SAY_SECONDS or status.waiting_for != names:
                said, status.waiting_for = now, names
                self._pipeline.write_status()
        if status.waiting_for:
            status.waiting_for = []
        status.sink_seconds += time.monotonic() - began

    def note(self, record: Record) -> None:
        """Take note of a commit."""
        self._leads.note(record.streams)

    def limits(self, waiting: frozenset[str], *, to_the_end: bool) -> FeedLimits:
        """The limits of what tasks read in the next micro-batch; under the pipeline's lock."""
        self.watch_lanes()
        work = self._pipeline.ledger.plan.session.settings.work
        paused = self._paused(work.ahead_rows, waiting, to_the_end=to_the_end)
        self._pipeline.status.paused = paused
        return FeedLimits(self._pipeline.monitor.most_rows, work.batch_rows, frozenset(paused))

    def _paused(
        self, limit: int | None, waiting: frozenset[str], *, to_the_end: bool
    ) -> dict[str, tuple[int, str]]:
        """The streams that are too far ahead, by how many rows, and of which other stream.

        Who wants all that is there to be read gets it, once nothing is left to be read of others.
        """
        if limit is None:
            return {}
        groups = self._pipeline.ledger.plan.groups.values()
        return {
            name: (lead.rows, lead.last)
            for name, lead in self._leads.ahead(one.streams for one in groups).items()
            if lead.rows > limit and (lead.last in waiting or not to_the_end)
        }

    def watch_lanes(self) -> None:
        """Decide, before rows are taken in, how many at once, and which of them are shed.

        Unless some may be, lanes work first until what waits in them is below the limit.
        """
        pipeline, ledger = self._pipeline, self._pipeline.ledger
        rules = ledger.plan.session.settings.work.intake
        pipeline.monitor.look(rules, ledger.waiting_bytes, pipeline.status.batch_rows)
        while rules.holds_back and ledger.waiting_bytes > (rules.queue_limit or 0):
            pipeline.status.held_back += 1
            pipeline.tick()
