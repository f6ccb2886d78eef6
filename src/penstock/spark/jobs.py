"""The Spark jobs of a batch: one for each stage of the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.files.folders import is_folder
from penstock.lane_host.deliveries import deliveries_for
from penstock.lane_host.exchange import Sent
from penstock.lane_host.logs import RowCoding, described
from penstock.lane_host.work import Done
from penstock.pipeline.file_rows import file_rows
from penstock.spark.tasks import (
    FILES,
    HOLDS,
    RECORD,
    REPORTS,
    RULES,
    SENT,
    SHEDDING,
    LaneTask,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipeline.bound import BoundPlan
    from penstock.pipeline.file_cuts import FilesShare
    from penstock.pipeline.ledger import Ledger
    from penstock.shedding.shedding import Shedding


class Jobs:
    """Runs the stages of batches on the newest record of a ledger."""

    def __init__(self, spark: SparkSession, ledger: Ledger, tasks: int) -> None:
        self._spark = spark
        self._ledger = ledger
        self._tasks = tasks
        # Jobs are the same in every batch of a plan, and it takes time to make them.
        self._known: dict[tuple[int, bool], DataFrame] = {}
        self._known_for: BoundPlan | None = None

    def first(self, rows: DataFrame) -> DataFrame:
        """The job of the first stage, for rows that are routed to tasks."""
        return rows.mapInArrow(self._task(0, with_rows=True), "done string")

    def without_rows(self, *, is_last: bool = False, to_the_end: bool = False) -> list[Done]:
        """Run all stages of a batch without rows; the last one ends the input."""
        return self.run(None, is_last=is_last, to_the_end=to_the_end)

    def run(
        self,
        first: DataFrame | None,
        files: Mapping[str, FilesShare] | None = None,
        holds: Mapping[str, int] | None = None,
        *,
        shedding: Shedding | None = None,
        is_last: bool = False,
        with_reports: bool = True,
        to_the_end: bool = False,
    ) -> list[Done]:
        """Run all stages of a batch; what their tasks say.

        Args:
            first: The job of the first stage, if Spark brings rows.
            files: The files that tasks read otherwise, by stream.
            holds: The earliest row of a stream in files that wait.
            shedding: Which of the rows are shed; None: none are.
            is_last: Whether the input has come to its end.
            with_reports: Whether operators are asked what they have done.
            to_the_end: Whether lanes do all that waits, however long that takes.
        """
        context = self._spark.sparkContext
        told = {
            name: (str(one.folder.path), one.names, one.start, one.stop)
            for name, one in (files or {}).items()
        }
        context.setLocalProperty(FILES, json.dumps(told))
        context.setLocalProperty(HOLDS, json.dumps(dict(holds or {})))
        decision = None if shedding is None else shedding.to_json()
        context.setLocalProperty(SHEDDING, json.dumps(decision))
        context.setLocalProperty(REPORTS, "yes" if with_reports else "no")
        rules = self._ledger.rules
        if to_the_end:
            rules = replace(rules, budget=None)
        context.setLocalProperty(RULES, json.dumps(rules.to_json()))
        context.setLocalProperty(RECORD, str(self._ledger.record.number))
        done = _answers(first if first is not None else self._job(0, is_last=is_last))
        for stage in range(1, self._ledger.plan.stages):
            context.setLocalProperty(SENT, Sent.by(done).to_json())
            done += _answers(self._job(stage, is_last=is_last))
        return done

    def _job(self, stage: int, *, is_last: bool) -> DataFrame:
        """A job that gets no rows from Spark."""
        plan = self._ledger.plan
        if plan is not self._known_for:
            self._known, self._known_for = {}, plan
        key = stage, is_last
        if key not in self._known:
            nothing = self._spark.range(0, self._tasks, 1, self._tasks)
            task = self._task(stage, is_last=is_last)
            self._known[key] = nothing.mapInArrow(task, "done string")
        return self._known[key]

    def _task(self, stage: int, *, is_last: bool = False, with_rows: bool = False) -> LaneTask:
        plan = self._ledger.plan
        deliveries = deliveries_for(plan, self._tasks)
        folders = [one for one in plan.streams if is_folder(one) and not stage]
        return LaneTask(
            self._spark.sparkContext.applicationId,
            str(self._ledger.home.path),
            tuple(described(one) for one in plan.streams),
            tuple(tuple(plan.lanes_of(stage, task, self._tasks)) for task in range(self._tasks)),
            None if stage else RowCoding(deliveries.codes, deliveries.counting()),
            None if with_rows else tuple(file_rows(deliveries, one) for one in folders),
            deliveries.are_plain,
            is_last,
        )


def _answers(frame: DataFrame) -> list[Done]:
    return [Done.from_json(json.loads(row[0])) for row in frame.collect()]
