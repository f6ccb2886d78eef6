"""A pipeline without Spark, for tests: real records, logs, lanes and results in a real home."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.types import TIMESTAMP
from penstock.home.bundles import write_bundle
from penstock.home.layout import Home
from penstock.home.records import LaneState
from penstock.home.status import Status, write_status
from penstock.operators.block import arriving
from penstock.pipeline.keeping import Keeper
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.logs import ROWS, about_log, described
from penstock.pipeline.plans import PipelinePlan, bound, groups_for
from penstock.pipeline.slots import INSTANT, LANE, STREAM, slots_for
from penstock.pipeline.work import Work
from penstock.runtime.lanes import Router

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from penstock.pipeline.plans import BoundGroup
    from penstock.pipeline.slots import StreamSlots
    from penstock.pipeline.work import Done

Rows = list[dict[str, object]]


class Driver:
    """Drives the lanes of a home as Spark would, in one task.

    `queries` names those of the statements that run, `lanes` is for those that a key divides.

    Attributes:
        home: Taken by this process until `close`.
        ledger: The newest record, and the plan.
        done: What the last batch or flush did.
    """

    def __init__(
        self,
        path: Path,
        statements: Sequence[str] = (),
        queries: Sequence[str] = (),
        *,
        lanes: int = 1,
    ) -> None:
        self.home = Home(path)
        self.home.open()
        self.ledger = Ledger(self.home)
        self.done: Done | None = None
        self._keeper = Keeper(self.home)
        self._started = time.time()
        if statements:
            self.run(statements, queries, lanes=lanes)

    def run(self, statements: Sequence[str], queries: Sequence[str], *, lanes: int = 1) -> None:
        """Run other statements and queries from the next batch on."""
        session = bound(PipelinePlan(tuple(statements))).session
        plans = {
            name: plan
            for name in queries
            if (plan := getattr(session.catalog.find(name, "query"), "plan", None)) is not None
        }
        first = 1 + max(self.ledger.plan.groups, default=-1)
        groups = groups_for(plans, first, lanes)
        self.ledger.change_plan(PipelinePlan(tuple(statements), tuple(groups)))

    def batch(self, rows: Mapping[str, Rows]) -> Done:
        """One micro-batch: rows of streams, as Python values by column; instants are numbers."""
        done = self._do(self._table(rows), is_last=False)
        query, last = self.ledger.record.batch or ("query", -1)
        self.ledger.commit_batch([done], 1, (query, last + 1))
        return done

    def flush(self) -> Done:
        """The end of the input."""
        done = self._do(None, is_last=True)
        self.ledger.commit_flush([done], 1)
        return done

    def write_status(
        self,
        *,
        seconds: Mapping[str, float] | None = None,
        offsets: Mapping[str, object] | None = None,
        errors: Sequence[tuple[float, str]] = (),
    ) -> None:
        """Write the status after the last batch, as a pipeline does."""
        assert self.done is not None
        status = Status(
            os.getpid(),
            True,
            0.0,
            self._started,
            self.ledger.record.number,
            self.done.operators,
            dict(seconds or self.done.seconds),
            sum(one.rows for one in self.done.streams.values()),
            dict(offsets or {}),
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

    def _do(self, rows: pa.Table | None, *, is_last: bool) -> Done:
        opening, plan = self.ledger.record, self.ledger.plan
        about = about_log(
            [described(one) for one in plan.streams],
            plan.plan.lane_numbers(),
            {name: one.watermark for name, one in opening.streams.items()},
            relations=opening.pending,
            is_last=is_last,
        )
        log = self.home.new_segment(opening.number + 1, 0, "log")
        write_bundle(self.home.segments / log, {} if rows is None else {ROWS: rows}, about)
        lanes = {name: opening.lanes.get(name, LaneState()) for name in plan.plan.lane_numbers()}
        work = Work(str(self.home.path), opening.plan, opening.number + 1, 0, lanes, log)
        self.done = self._keeper.do(work)
        return self.done

    def _table(self, rows: Mapping[str, Rows]) -> pa.Table | None:
        """All rows in the common format, each once for every lane that reads it."""
        slots = slots_for(self.ledger.plan.streams)
        parts = []
        for name, stream in slots.streams.items():
            columns = _columns(stream, rows.get(name, []))
            lanes, chosen = self._lanes(stream, columns)
            named = dict(zip(stream.definition.schema.names, columns, strict=True))
            whole = {
                STREAM: pa.array([stream.number] * len(chosen), pa.int8()),
                LANE: pa.array(lanes, pa.int32()),
                INSTANT: _instants(named[stream.definition.time_column]).take(chosen),
            }
            held = dict(zip(stream.slots, columns, strict=True))
            for slot in slots.all:
                column = held.get(slot)
                whole[slot.name] = (
                    pa.nulls(len(chosen), slot.arrow)
                    if column is None
                    else _plain(column, slot.type == TIMESTAMP).take(chosen)
                )
            parts.append(pa.table(whole))
        return pa.concat_tables(parts) if parts else None

    def _lanes(self, stream: StreamSlots, columns: list[pa.Array]) -> tuple[list[int], pa.Array]:
        """The lane of each row that is sent, and which row it is."""
        numbers = self.ledger.plan.plan.lane_numbers()
        lanes: list[int] = []
        rows: list[int] = []
        for group in self.ledger.plan.groups.values():
            if stream.definition.name not in group.graph.streams:
                continue
            for lane, name in enumerate(group.group.lane_names()):
                own = _share(group, stream, columns, lane)
                lanes += [numbers[name]] * len(own)
                rows += own
        return lanes, pa.array(rows, pa.int64())


def _share(group: BoundGroup, stream: StreamSlots, columns: list[pa.Array], lane: int) -> list[int]:
    """Which rows a lane of a group reads; the rows are dated by their own numbers to see it."""
    everything = arriving(tuple(columns), np.arange(len(columns[0])))
    if group.group.lanes == 1:
        return list(map(int, everything.ts))
    route = group.partitioning.routes[stream.definition.name]
    router = Router(route, stream.definition.schema, group.group.lanes)
    return list(map(int, router.share(everything, lane).ts))


def _columns(stream: StreamSlots, rows: Rows) -> list[pa.Array]:
    from penstock.streamtest.inline import column_of

    return [
        column_of([row[field.name] for row in rows], field.type)
        for field in stream.definition.schema
    ]


def _instants(column: pa.Array) -> pa.Array:
    return _plain(column, pa.types.is_timestamp(column.type)).cast(pa.int64())


def _plain(column: pa.Array, is_timestamp: bool) -> pa.Array:
    """Timestamps travel as microseconds."""
    return column.view(pa.int64()) if is_timestamp else column
