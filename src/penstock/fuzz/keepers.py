"""The pipeline without Spark on trial: logs, keepers, images and commits, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.fuzz.pipelines import change_relations, new_home, plan_of, ran, stream_rows
from penstock.home.bundles import bundle_writer
from penstock.home.records import LaneState
from penstock.operators.block import arriving
from penstock.operators.tables import arrays_of
from penstock.pipeline.keeping import LEAST_LOG, Keeper
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.logs import ROWS, about_log, described
from penstock.pipeline.slots import INSTANT, LANE, STREAM, slots_for
from penstock.pipeline.work import Work
from penstock.runtime.lanes import Router

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.fuzz.trial import Ran, Trial
    from penstock.home.layout import Home
    from penstock.pipeline.slots import Slots
    from penstock.pipeline.work import Done

TASKS = 2


class KeeperContender:
    """Feeds logs to keepers; a restore puts new keepers in place of the old."""

    takes_edits = False

    def run_trial(self, trial: Trial, plan: Plan) -> Ran:
        """Feed a trial to the end."""
        with new_home() as home:
            ledger = Ledger(home)
            ledger.change_plan(plan_of(trial, plan))
            change_relations(trial, ledger, None)
            # Every other trial writes an image with each batch.
            least = LEAST_LOG if trial.partitions % 2 else 0
            driver = _Driver(home, ledger, least)
            for number, feed in enumerate(trial.feeds):
                change_relations(trial, ledger, feed)
                driver.feed(stream_rows(trial, ledger, feed))
                if number in trial.restore_after:
                    driver = _Driver(home, ledger, least)
            driver.finish()
            return ran(home, ledger, trial, plan)


class _Driver:
    """Plays Spark: routes rows, and asks the keeper of each task."""

    def __init__(self, home: Home, ledger: Ledger, least_log: int) -> None:
        self._home = home
        self._ledger = ledger
        self._keepers = [Keeper(home, least_log) for _ in range(TASKS)]

    def feed(self, tables: Mapping[str, pa.Table]) -> None:
        slots = slots_for(self._ledger.plan.streams)
        rows = [self._rows(name, table, slots) for name, table in tables.items()]
        whole = pa.concat_tables(rows) if rows else None
        done = [self._ask(task, whole, is_last=False) for task in range(TASKS)]
        self._ledger.commit_batch(done, TASKS, None)

    def finish(self) -> None:
        done = [self._ask(task, None, is_last=True) for task in range(TASKS)]
        self._ledger.commit_flush(done, TASKS)

    def _ask(self, task: int, rows: pa.Table | None, *, is_last: bool) -> Done:
        record, plan = self._ledger.record, self._ledger.plan
        numbers = plan.plan.lane_numbers()
        own = {name: number for name, number in numbers.items() if number % TASKS == task}
        watermarks = {name: one.watermark for name, one in record.streams.items()}
        about = about_log(
            [described(one) for one in plan.streams],
            numbers,
            watermarks,
            relations=record.pending,
            is_last=is_last,
        )
        log = self._home.new_segment(record.number + 1, task, "log")
        with bundle_writer(self._home.segments / log, about) as writer:
            if rows is not None:
                lanes = rows[LANE].to_numpy()
                share = rows.filter(pa.array(np.isin(lanes, list(own.values()))))
                if len(share):
                    writer.add_table(ROWS, share)
        states = {name: record.lanes.get(name, LaneState()) for name in own}
        work = Work(str(self._home.path), record.plan, record.number + 1, task, states, log)
        return self._keepers[task].do(work)

    def _rows(self, name: str, table: pa.Table, slots: Slots) -> pa.Table:
        """The rows of a stream in the common format, each for every lane that it goes to."""
        plan = self._ledger.plan
        numbers = plan.plan.lane_numbers()
        parts = []
        for group in plan.groups.values():
            lanes = group.group.lanes
            block = arriving(tuple(arrays_of(table)), np.zeros(len(table), np.int64))
            for lane in range(lanes):
                if lanes > 1:
                    route = group.partitioning.routes[name]
                    router = Router(route, slots.streams[name].definition.schema, lanes)
                    block_here = router.share(block, lane)
                else:
                    block_here = block
                number = numbers[f"{group.group.number}.{lane}"]
                parts.append(_in_slots(name, block_here.columns, slots, number))
        return pa.concat_tables(parts)


def _in_slots(name: str, columns: tuple[pa.Array, ...], slots: Slots, lane: int) -> pa.Table:
    stream = slots.streams[name]
    schema = stream.definition.schema
    by_name = dict(zip(schema.names, columns, strict=True))
    times = _number(by_name[stream.definition.time_column])
    rows = len(times)
    made = {
        STREAM: pa.array([stream.number] * rows, pa.int8()),
        LANE: pa.array([lane] * rows, pa.int32()),
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
