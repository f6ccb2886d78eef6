"""What a task of a micro-batch does: write its rows down, and let its lanes take them in."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.home.bundles import bundle_writer
from penstock.home.files import sync_file
from penstock.home.layout import Home
from penstock.home.records import LaneState
from penstock.pipeline.asking import ask
from penstock.pipeline.logs import ROWS, about_log
from penstock.pipeline.work import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark import TaskContext

RECORD = "penstock.record"
"""The local property with the number of the record that a job builds on."""
DONE = pa.schema([("done", pa.string())])


@dataclass(frozen=True)
class LaneTask:
    """The function of `mapInArrow`: rows of the common format in, one row about them out.

    Args:
        application: The Spark application.
        home: The path of the home.
        tasks: How many tasks share the lanes.
        streams: The streams in the order of their numbers, described as in a log.
        lanes: The numbers of all lanes.
        with_lanes: Whether rows say which lane they belong to.
        is_last: Whether the input has come to its end.
    """

    application: str
    home: str
    tasks: int
    streams: tuple[dict[str, Any], ...]
    lanes: dict[str, int]
    with_lanes: bool
    is_last: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Do the work of one task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        done = self._work(context, batches)
        yield pa.RecordBatch.from_pydict({"done": [done]}, DONE)

    def _work(self, context: TaskContext, batches: Iterator[pa.RecordBatch]) -> str:
        home = Home(Path(self.home))
        task = context.partitionId()
        opening = home.chain.read(int(context.getLocalProperty(RECORD) or 0))
        own = {name: number for name, number in self.lanes.items() if number % self.tasks == task}
        watermarks = {name: one.watermark for name, one in opening.streams.items()}
        about = about_log(
            self.streams,
            self.lanes,
            watermarks,
            relations=opening.pending,
            only_lane=None if self.with_lanes else task,
            is_last=self.is_last,
        )
        log = home.new_segment(opening.number + 1, task, "log")
        with bundle_writer(home.segments / log, about) as writer:
            # All rows are read, whatever happens to them: Spark counts on it.
            first = next(batches, None)
            if first is not None:
                writer.add(ROWS, first.schema, _chained(first, batches))
        lanes = {name: opening.lanes.get(name, LaneState()) for name in own}
        work = Work(self.home, opening.plan, opening.number + 1, task, lanes, log)
        with ThreadPoolExecutor(1) as aside:
            # The log has to be on disk before the commit, not before the lanes begin.
            synced = aside.submit(sync_file, home.segments / log)
            done = ask(self.application, work, os.getppid())
            synced.result()
        return json.dumps(done.to_json())


def _chained(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others
