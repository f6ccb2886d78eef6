"""The Spark jobs of a batch: one for each stage of the plan."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.pipeline.deliveries import deliveries_for
from penstock.pipeline.logs import Coded, described
from penstock.pipeline.sending import Sent
from penstock.pipeline.work import Done
from penstock.spark.tasks import RECORD, REPORTS, SENT, LaneTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.pipeline.bound import BoundPlan
    from penstock.pipeline.ledger import Ledger


class Jobs:
    """Runs the stages of batches on the newest record of a ledger."""

    def __init__(self, spark: SparkSession, ledger: Ledger, tasks: int) -> None:
        self._spark = spark
        self._ledger = ledger
        self._tasks = tasks
        # What tasks are told is the same in every batch of a plan, and takes time to find out.
        self._known: dict[tuple[int, bool], LaneTask] = {}
        self._known_for: BoundPlan | None = None

    def first(self, rows: DataFrame) -> DataFrame:
        """The job of the first stage, for rows that are routed to tasks."""
        return rows.mapInArrow(self._task(0), "done string")

    def without_rows(self, *, is_last: bool = False) -> list[Done]:
        """Run all stages of a batch without rows; the last one ends the input."""
        return self.run(self._job(0, is_last=is_last), is_last=is_last)

    def run(
        self, first: DataFrame, *, is_last: bool = False, with_reports: bool = True
    ) -> list[Done]:
        """Run all stages of a batch, given the job of the first; what their tasks say."""
        context = self._spark.sparkContext
        context.setLocalProperty(REPORTS, "yes" if with_reports else "no")
        context.setLocalProperty(RECORD, str(self._ledger.record.number))
        done = _answers(first)
        for stage in range(1, self._ledger.plan.stages):
            context.setLocalProperty(SENT, Sent.by(done).to_json())
            done += _answers(self._job(stage, is_last=is_last))
        return done

    def _job(self, stage: int, *, is_last: bool) -> DataFrame:
        """A job that gets no rows from Spark."""
        from pyspark.sql import functions as F

        nothing = self._spark.range(0).repartitionById(self._tasks, F.col("id").cast("int"))
        return nothing.mapInArrow(self._task(stage, is_last=is_last), "done string")

    def _task(self, stage: int, *, is_last: bool = False) -> LaneTask:
        plan = self._ledger.plan
        if plan is not self._known_for:
            self._known, self._known_for = {}, plan
        key = stage, is_last
        if key not in self._known:
            self._known[key] = self._task_of(plan, stage, is_last)
        return self._known[key]

    def _task_of(self, plan: BoundPlan, stage: int, is_last: bool) -> LaneTask:
        deliveries = deliveries_for(plan, self._tasks)
        return LaneTask(
            self._spark.sparkContext.applicationId,
            str(self._ledger.home.path),
            tuple(described(one) for one in plan.streams),
            tuple(tuple(plan.lanes_of(stage, task, self._tasks)) for task in range(self._tasks)),
            None if stage else Coded(deliveries.codes, deliveries.counting()),
            deliveries.are_plain,
            is_last,
        )


def _answers(frame: DataFrame) -> list[Done]:
    return [Done.from_json(json.loads(row[0])) for row in frame.collect()]
