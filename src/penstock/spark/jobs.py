"""The Spark jobs of a batch: one for each stage of the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.files.folders import is_read_by_tasks
from penstock.lane_host.deliveries import deliveries_for
from penstock.lane_host.exchange import Sent
from penstock.lane_host.logs import RowCoding, described
from penstock.lane_host.row_slots import slots_for
from penstock.lane_host.work import Done
from penstock.pipeline.file_rows import file_rows
from penstock.pipeline.reading_choice import SETTING, begun_reading, wanted_way
from penstock.spark.feeds import SparkFeed
from penstock.spark.placement import Placement
from penstock.spark.routing import routed
from penstock.spark.sink_tasks import SETTING as SINKS_SETTING
from penstock.spark.sink_tasks import SinkJobs, wanted_writer
from penstock.spark.sources import stream_frame
from penstock.spark.tasks import (
    HOLDS,
    READING,
    RECORD,
    REPORTS,
    RULES,
    SENT,
    SHEDDING,
    LaneTask,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

    from penstock.catalog.definitions import StreamDefinition
    from penstock.pipeline.bound import BoundPlan
    from penstock.pipeline.file_cuts import FilesShare
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.reading import FileReading
    from penstock.shedding.shedding import Shedding

    TakeBatch = Callable[[DataFrame, int], None]

PROPERTIES = (RECORD, READING, HOLDS, REPORTS, RULES, SENT, SHEDDING)
"""What tasks of each batch are told, as properties of the thread that runs it."""


class Jobs:
    """Runs the stages of batches on the newest record of a ledger.

    Attributes:
        reading: The way in which the last batch that read files did so, and why.
    """

    def __init__(
        self, spark: SparkSession, ledger: Ledger, tasks: int, most: int | None = None
    ) -> None:
        self._spark = spark
        self._ledger = ledger
        # Jobs are the same in every batch of a plan, and it takes time to make them.
        self._known: dict[tuple[int, bool, bool], RDD[Any]] = {}
        self._known_for: BoundPlan | None = None
        self._read: FileReading | None = None
        self._placement = Placement(spark.sparkContext, tasks, most)
        self._wanted = wanted_way(spark.conf.get(SETTING, "") or "auto")
        self.reading = ""

    @property
    def tasks(self) -> int:
        """In how many tasks batches run now."""
        return self._placement.tasks

    def for_sinks(self, note: Callable[[str], None]) -> SinkJobs:
        """The jobs that write sinks, whose tasks are where those of batches are.

        Args:
            note: Told, in a sentence, of processes that had to be replaced.
        """
        wanted = wanted_writer(self._spark.conf.get(SINKS_SETTING, "") or "")
        return SinkJobs(self._spark.sparkContext, self._placement, note, wanted)

    def _follow(self) -> None:
        """Have the tasks where, and as many as, the cluster suggests; between two batches."""
        streams = self._ledger.plan.streams
        # Spark's own query has been told of the tasks, and divides its rows for them.
        if self._placement.look(may_resize=all(map(is_read_by_tasks, streams))):
            self._known = {}

    def streaming(
        self,
        streams: Sequence[StreamDefinition],
        take: TakeBatch,
        *,
        finite: bool,
        frame: DataFrame | None = None,
    ) -> SparkFeed:
        """Spark's streaming query over streams that only Spark can read.

        Args:
            streams: The streams.
            take: Called with the first job of a micro-batch, and its number.
            finite: Whether it ends when all that is there has been read.
            frame: The DataFrame that the only stream is, if it is one.
        """
        plan, home = self._ledger.plan, self._ledger.home
        slots = slots_for(plan.streams)
        deliveries = deliveries_for(plan, self.tasks)
        if frame is None:
            frames = {one.name: stream_frame(self._spark, home, one) for one in streams}
            checkpoint = home.checkpoint
        else:
            frames = {streams[0].name: frame}
            checkpoint = home.frame_checkpoint(streams[0].name)
        rows = routed(frames, plan, slots, deliveries)
        first = rows.mapInArrow(self._task(0, with_rows=True).arrow, "done string")
        writer = first.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
        return SparkFeed((writer.trigger(availableNow=True) if finite else writer).start())

    def without_rows(self, *, is_last: bool = False, to_the_end: bool = False) -> list[Done]:
        """Run all stages of a batch without rows; the last one ends the input."""
        done = self.run(None, is_last=is_last, to_the_end=to_the_end)
        # This may be the user's own thread, whose later jobs would carry what was for ours.
        context: Any = self._spark.sparkContext  # To its types, None is no value.
        for name in PROPERTIES:
            context.setLocalProperty(name, None)
        return done

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
        self._follow()
        reading = self._read = self._begun_reading(files) if files else None
        context.setLocalProperty(READING, reading.to_json() if reading else "")
        context.setLocalProperty(HOLDS, json.dumps(dict(holds or {})))
        decision = None if shedding is None else shedding.to_json()
        context.setLocalProperty(SHEDDING, json.dumps(decision))
        context.setLocalProperty(REPORTS, "yes" if with_reports else "no")
        rules = self._ledger.rules
        if to_the_end:
            rules = replace(rules, budget=None)
        context.setLocalProperty(RULES, json.dumps(rules.to_json()))
        context.setLocalProperty(RECORD, str(self._ledger.record.number))
        if reading is not None and reading.way == "job":
            self._job(0, only_read=True).collect()
        if first is not None:
            done = _answers(row[0] for row in first.collect())
        else:
            done = _answers(self._job(0, is_last=is_last).collect())
        for stage in range(1, self._ledger.plan.stages):
            context.setLocalProperty(SENT, Sent.by(done).to_json())
            done += _answers(self._job(stage, is_last=is_last).collect())
        return done

    def tidy(self, done: Sequence[Done]) -> None:
        """Remove what tasks of a batch left for each other; it is committed, and in their logs."""
        Sent.by(done).remove(self._ledger.home)
        if self._read is not None:
            self._read.remove(self._ledger.home)
            self._read = None

    def _begun_reading(self, files: Mapping[str, FilesShare]) -> FileReading:
        """The reading of the files of a batch that begins."""
        streams = {one.name: one for one in self._ledger.plan.streams}
        is_local = str(self._spark.sparkContext.master).startswith("local")
        number = self._ledger.record.number + 1
        reading, self.reading = begun_reading(
            number, files, streams, self.tasks, is_local=is_local, wanted=self._wanted
        )
        return reading

    def _job(self, stage: int, *, is_last: bool = False, only_read: bool = False) -> RDD[Any]:
        """A job that gets no rows from Spark."""
        plan = self._ledger.plan
        if plan is not self._known_for:
            self._known, self._known_for = {}, plan
        key = stage, is_last, only_read
        if key not in self._known:
            # Not a DataFrame: planning one, and rows as Arrow, would take half of a small batch.
            task = self._task(stage, is_last=is_last)
            self._known[key] = self._placement.numbers().mapPartitions(
                task.read if only_read else task.plain
            )
        return self._known[key]

    def _task(self, stage: int, *, is_last: bool = False, with_rows: bool = False) -> LaneTask:
        plan = self._ledger.plan
        deliveries = deliveries_for(plan, self.tasks)
        folders = [one for one in plan.streams if is_read_by_tasks(one) and not stage]
        return LaneTask(
            self._spark.sparkContext.applicationId,
            str(self._ledger.home.path),
            tuple(described(one) for one in plan.streams),
            tuple(tuple(plan.lanes_of(stage, task, self.tasks)) for task in range(self.tasks)),
            None if stage else RowCoding(deliveries.codes, deliveries.counting()),
            None if with_rows else tuple(file_rows(deliveries, one) for one in folders),
            deliveries.are_plain,
            is_last,
        )


def _answers(texts: Iterable[str]) -> list[Done]:
    return [Done.from_json(json.loads(one)) for one in texts]
