"""A pipeline without Spark, for tests: real records, logs, lanes and results in a real home."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.catalog.definitions import QueryDefinition
from penstock.lane_host.lane_host import LEAST_LOG
from penstock.observe.status import Status, write_status
from penstock.pipeline.bound import understood
from penstock.pipeline.housekeeping import Housekeeping
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.plans import PipelinePlan
from penstock.pipeline.query_groups import groups_for
from penstock.pipeline.sweeping import Retention
from penstock.planner.physical.building import Choices
from penstock.reference.arrow_rows import column_of
from penstock.store.layout import Home
from penstock_fuzz.driving import LaneHostDriver

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from penstock.catalog.definitions import StreamDefinition
    from penstock.lane_host.work import Done

Rows = list[dict[str, object]]


def plan_of(
    statements: Sequence[str], queries: Sequence[str], lanes: int = 1, first: int = 0
) -> PipelinePlan:
    """A plan in which those of the statements run that are named, all under the same tactics."""
    session = understood(tuple(statements))
    found = [session.catalog.find(name, "query") for name in queries]
    definitions = [one for one in found if isinstance(one, QueryDefinition)]
    choices = Choices.of(definitions[0].tactics) if definitions else None
    plans = {one.name: one.plan for one in definitions}
    groups = tuple(groups_for(plans, first, lanes, choices))
    return PipelinePlan(tuple(statements), groups, session=session)


class Driver:
    """Drives the lanes of a home as Spark would, in one task.

    `queries` names those of the statements that run, `lanes` is for those that a key divides,
    and images are written after `least_log` bytes of logs.

    Attributes:
        home: Taken by this process until `close`.
        ledger: The newest record, and the plan.
        done: What the last batch or flush did, stage by stage.
        lock: Held by who changes the ledger, if threads do.
        housekeeping: Keeps the home small, if it is told to.
        faults: What went wrong with that in the background.
    """

    def __init__(
        self,
        path: Path,
        statements: Sequence[str] = (),
        queries: Sequence[str] = (),
        *,
        lanes: int = 1,
        least_log: int = LEAST_LOG,
    ) -> None:
        self.home = Home(path)
        self.home.open()
        self.ledger = Ledger(self.home)
        self.done: Sequence[Done] = ()
        self.faults: list[str] = []
        self._driver = LaneHostDriver(self.ledger, 1, least_log)
        self.lock = threading.RLock()
        self.housekeeping = Housekeeping(self.ledger, self.lock, self.faults.append)
        self._started = time.time()
        if statements:
            self.run(statements, queries, lanes=lanes)

    def run(self, statements: Sequence[str], queries: Sequence[str], *, lanes: int = 1) -> None:
        """Run other statements and queries from the next batch on."""
        first = 1 + max(self.ledger.plan.groups, default=-1)
        self.ledger.change_plan(plan_of(statements, queries, lanes, first))

    def batch(self, rows: Mapping[str, Rows], offsets: Mapping[str, object] | None = None) -> None:
        """One micro-batch: rows of streams, as Python values by column; instants are numbers."""
        query, last = self.ledger.record.batch or ("query", -1)
        self.done = self._driver.feed(self._tables(rows), (query, last + 1), offsets)

    def tick(self) -> None:
        """Let all lanes come to the watermarks of the record."""
        self.done = self._driver.tick()

    def flush(self) -> None:
        """The end of the input."""
        self.done = self._driver.finish()

    @property
    def operators(self) -> dict[str, list[dict[str, object]]]:
        """What the operators of each lane said after the last batch."""
        return {name: one for done in self.done for name, one in done.operators.items()}

    def fold(self) -> None:
        """Fold all results so far."""
        self.housekeeping.clean(Retention(fold_records=0))

    def write_status(
        self,
        *,
        seconds: Mapping[str, float] | None = None,
        found: Mapping[str, int] | None = None,
        errors: Sequence[tuple[float, str]] = (),
    ) -> None:
        """Write the status after the last batch, as a pipeline does."""
        assert self.done
        status = Status(
            os.getpid(),
            True,
            0.0,
            self._started,
            self.ledger.record.number,
            self.operators,
            dict(seconds or self.done[0].seconds),
            sum(one.rows for done in self.done for one in done.streams.values()),
            dict(found or {}),
            list(errors),
        )
        write_status(self.home, status)

    def close(self) -> None:
        """Let others take the home."""
        self.home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _tables(self, rows: Mapping[str, Rows]) -> dict[str, pa.Table]:
        streams = self.ledger.plan.streams
        return {one.name: _table(one, rows.get(one.name, [])) for one in streams}


def _table(stream: StreamDefinition, rows: Rows) -> pa.Table:
    columns = [column_of([row[one.name] for row in rows], one.type) for one in stream.schema]
    return pa.table(columns, names=list(stream.schema.names))
