"""Spark's part, played in this process: rows are delivered, logs written, hosts asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.lane_host.deliveries import deliveries_for
from penstock.lane_host.exchange import Sent
from penstock.lane_host.lane_host import LEAST_LOG, LaneHost
from penstock.lane_host.logs import ROWS, RowCoding, about_log, described, pending_parts
from penstock.lane_host.row_slots import CODE, INSTANT, STREAM, slots_for
from penstock.lane_host.work import Work
from penstock.operators.block import arriving
from penstock.operators.saved_tables import arrays_of
from penstock.scheduling.work_rules import WorkRules
from penstock.shedding.input_monitor import InputMonitor
from penstock.shedding.intake_rules import IntakeRules
from penstock.store.bundles import bundle_writer
from penstock.store.records import LaneState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.lane_host.row_slots import RowFormat
    from penstock.lane_host.work import Done
    from penstock.pipeline.ledger import Ledger
    from penstock.runtime.work_clock import WorkClock
    from penstock.shedding.shedding import Shedding


class Host(Protocol):
    """Does the work of a task."""

    def do(self, work: Work) -> Done:
        """Let the lanes of the task work."""


class LaneHostDriver:
    """Drives the lanes of a home as Spark would, with a host for each task."""

    def __init__(
        self,
        ledger: Ledger,
        tasks: int,
        least_log: int = LEAST_LOG,
        rules: WorkRules | None = None,
        clock: WorkClock | None = None,
        intake: IntakeRules | None = None,
        hosts: Sequence[Host] | None = None,
    ) -> None:
        self._rules = rules or WorkRules()
        self._intake = intake or IntakeRules()
        self.monitor = InputMonitor()
        self._shedding: Shedding | None = None
        self._ledger = ledger
        self._home = ledger.home
        self._tasks = tasks
        own = [LaneHost(self._home, least_log, clock) for _ in range(tasks)]
        self._hosts: Sequence[Host] = hosts or own

    def feed(
        self,
        tables: Mapping[str, pa.Table],
        batch: tuple[str, int] | None = None,
        offsets: Mapping[str, Any] | None = None,
    ) -> list[Done]:
        """Let the lanes take in rows of streams, and commit; `batch` is Spark's name for it."""
        rows = sum(map(len, tables.values()))
        self._shedding = self.monitor.look(self._intake, self._ledger.waiting_bytes, rows)
        done = self._batch(tables, self._rules, batch, offsets)
        self._shedding = None
        return done

    def tick(self) -> list[Done]:
        """Let all lanes come to the watermarks of the record, however long it takes."""
        return self._batch({}, WorkRules())

    def _batch(
        self,
        tables: Mapping[str, pa.Table],
        rules: WorkRules,
        batch: tuple[str, int] | None = None,
        offsets: Mapping[str, Any] | None = None,
    ) -> list[Done]:
        slots = slots_for(self._ledger.plan.streams)
        parts = [self._coded(name, table, slots) for name, table in tables.items()]
        rows = pa.concat_tables(parts) if parts else None
        done = self._stages(rows, rules, is_last=False)
        self._ledger.commit_batch(done, self._tasks, batch, None, offsets)
        Sent.by(done).remove(self._home)
        return done

    def finish(self) -> list[Done]:
        """The input has come to its end."""
        done = self._stages(None, self._rules, is_last=True)
        self._ledger.commit_flush(done, self._tasks)
        Sent.by(done).remove(self._home)
        return done

    def _stages(self, rows: pa.Table | None, rules: WorkRules, *, is_last: bool) -> list[Done]:
        done: list[Done] = []
        for stage in range(self._ledger.plan.stages):
            sent = Sent.by(done)
            done += [
                self._ask(stage, task, None if stage else rows, sent, rules, is_last=is_last)
                for task in range(self._tasks)
            ]
        return done

    def _ask(
        self,
        stage: int,
        task: int,
        rows: pa.Table | None,
        sent: Sent,
        rules: WorkRules,
        *,
        is_last: bool,
    ) -> Done:
        record, plan = self._ledger.record, self._ledger.plan
        deliveries = deliveries_for(plan, self._tasks)
        about = about_log(
            [described(one) for one in plan.streams],
            RowCoding(deliveries.codes, deliveries.counting()),
            {name: one.watermark for name, one in record.streams.items()},
            relations=record.pending,
            clocks=sent.clocks,
            shedding=self._shedding.to_json() if self._shedding else None,
            brought={name: one.rows for name, one in record.streams.items()},
            is_last=is_last,
        )
        own = plan.lanes_of(stage, task, self._tasks)
        log = self._home.new_segment(record.number + 1, task, "log")
        with bundle_writer(self._home.segments / log, about) as writer:
            if rows is not None:
                share = rows.filter(pa.array(rows[CODE].to_numpy() % self._tasks == task))
                if len(share):
                    writer.add_table(ROWS, share)
            for part, table in sent.parts(self._home, own):
                writer.add_table(part, table)
            for part, table in pending_parts(self._home, record.pending, own):
                writer.add_table(part, table)
        states = {name: record.lanes.get(name, LaneState()) for name in own}
        number = record.number + 1
        work = Work(str(self._home.path), record.plan, number, task, states, log, True, rules)
        return self._hosts[task].do(work)

    def _coded(self, name: str, table: pa.Table, slots: RowFormat) -> pa.Table:
        """The rows of a stream in the common format, once for each delivery."""
        deliveries = deliveries_for(self._ledger.plan, self._tasks)
        block = arriving(tuple(arrays_of(table)), np.zeros(len(table), np.int64))
        schema = slots.streams[name].definition.schema
        return pa.concat_tables(
            _in_slots(name, share.columns, slots, number * deliveries.width + lane)
            for number, delivery in enumerate(deliveries.of_stream[name])
            for lane, share in delivery.shares(block, schema)
        )


def _in_slots(name: str, columns: Sequence[pa.Array], slots: RowFormat, code: int) -> pa.Table:
    stream = slots.streams[name]
    schema = stream.definition.schema
    by_name = dict(zip(schema.names, columns, strict=True))
    times = _number(by_name[stream.definition.time_column])
    rows = len(times)
    made = {
        STREAM: pa.array([stream.number] * rows, pa.int8()),
        CODE: pa.array([code] * rows, pa.int32()),
        INSTANT: times,
    }
    held = {slot: by_name[one] for one, slot in zip(schema.names, stream.slots, strict=True)}
    for slot in slots.all:
        column = held.get(slot)
        if column is None:
            made[slot.name] = pa.nulls(rows, slot.arrow)
        else:
            made[slot.name] = _number(column) if pa.types.is_timestamp(column.type) else column
    return pa.table(made)


def _number(column: pa.Array) -> pa.Array:
    """Instants as Spark sends them."""
    if pa.types.is_date(column.type):
        column = column.cast(pa.int32())
    return column.cast(pa.int64())
