"""A task of a micro-batch: it writes its rows down, and lets its lanes take them in."""

from __future__ import annotations

import json
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.errors import DataError
from penstock.lane_host.exchange import Sent
from penstock.lane_host.lane_client import ask
from penstock.lane_host.logs import ROWS, RowCoding, about_log, pending_parts
from penstock.lane_host.work import Work
from penstock.pipeline.reading import DividedReading, FileReading, FoundRows, read_whole
from penstock.scheduling.work_rules import WorkRules
from penstock.store.bundles import bundle_writer
from penstock.store.layout import Home
from penstock.store.records import LaneState
from penstock.store.whole_files import sync_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark import TaskContext

    from penstock.pipeline.file_rows import FileRows
    from penstock.store.records import Record

RECORD = "penstock.record"
"""The local property with the number of the record that a job builds on."""
SENT = "penstock.sent"
"""The local property with what fragments sent in earlier stages: files, and clocks."""
READING = "penstock.reading"
"""The local property with the files that tasks read themselves."""
HOLDS = "penstock.holds"
"""The local property with the earliest row of streams in files that wait."""
REPORTS = "penstock.reports"
"""The local property that is "yes" where operators are asked what they have done."""
RULES = "penstock.rules"
"""The local property with the rules of the work of lanes."""
SHEDDING = "penstock.shedding"
"""The local property with the decision which rows are shed; "null" if none are."""
DONE = pa.schema([("done", pa.string())])


@dataclass(frozen=True)
class LaneTask:
    """The work of a task in a stage: rows that Spark brings, or files, in; what was done out.

    Args:
        application: The Spark application.
        home: The path of the home.
        streams: The streams in the order of their numbers, described as in a log.
        lanes: The lanes of each task in this stage.
        coded: How rows are coded; None in stages that get no rows.
        files: How files are read, in jobs that get no rows from Spark.
        are_plain: Whether the code of all rows is the number of the task.
        is_last: Whether the input has come to its end.
    """

    application: str
    home: str
    streams: tuple[dict[str, Any], ...]
    lanes: tuple[tuple[str, ...], ...]
    coded: RowCoding | None
    files: tuple[FileRows, ...] | None = None
    are_plain: bool = False
    is_last: bool = False

    def arrow(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The function of `mapInArrow`: rows of the common format in, one row about them out."""
        yield pa.RecordBatch.from_pydict({"done": [self._work(batches)]}, DONE)

    def plain(self, numbers: Iterable[int]) -> Iterator[str]:
        """The function of `mapPartitions`, where Spark brings no rows."""
        yield from (self._work(iter(())) for _ in numbers)

    def read(self, numbers: Iterable[int]) -> Iterator[int]:
        """Only read files, so that the lanes find their rows."""
        context = _context()
        reading = FileReading.from_json(context.getLocalProperty(READING) or "")
        tasks = len(self.lanes)
        for task in numbers:
            DividedReading(Home(Path(self.home)), reading, self._files).help(task, tasks)
            yield task

    def _work(self, batches: Iterator[pa.RecordBatch]) -> str:
        context = _context()
        home = Home(Path(self.home))
        task = context.partitionId()
        opening = _opening(home, int(context.getLocalProperty(RECORD) or 0))
        sent = Sent.from_json(context.getLocalProperty(SENT) or "") if self.coded is None else None
        began = time.perf_counter()
        log = home.new_segment(opening.number + 1, task, "log")
        holds = json.loads(context.getLocalProperty(HOLDS) or "{}")
        found = self._found(context, home, task)
        shedding = json.loads(context.getLocalProperty(SHEDDING) or "null")
        about = self._about(opening, task, sent, holds, found.latest, shedding)
        with bundle_writer(home.segments / log, about) as writer:
            # All rows are read, whatever happens to them: Spark counts on it.
            first = next(batches, None)
            if first is not None:
                writer.add(ROWS, first.schema, _chained(first, batches))
            for part, table in found.parts.items():
                writer.add_table(part, table)
            for part, table in sent.parts(home, self.lanes[task]) if sent else ():
                writer.add_table(part, table)
            for part, table in pending_parts(home, opening.pending, self.lanes[task]):
                writer.add_table(part, table)
        read = time.perf_counter() - began
        lanes = {name: opening.lanes.get(name, LaneState()) for name in self.lanes[task]}
        reports = context.getLocalProperty(REPORTS) == "yes"
        rules = WorkRules(**json.loads(context.getLocalProperty(RULES) or "{}"))
        number = opening.number + 1
        work = Work(self.home, opening.plan, number, task, lanes, log, reports, rules)
        with ThreadPoolExecutor(1) as aside:
            # The log has to be on disk before the commit, not before the lanes begin.
            synced = aside.submit(sync_file, home.segments / log)
            done = ask(self.application, work, os.getppid())
            synced.result()
        done["seconds"]["read"] = read
        if context.attemptNumber():
            done["notes"].append(f"task {task} of record {number} was tried again by Spark")
        return json.dumps(done)

    def _found(self, context: TaskContext, home: Home, task: int) -> FoundRows:
        """The rows that the task's lanes get from files."""
        told = context.getLocalProperty(READING) if self.files else None
        if not told:
            return FoundRows({}, {})
        reading = FileReading.from_json(told)
        if reading.way == "whole":
            return read_whole(reading, self._files, task)
        shared = DividedReading(home, reading, self._files)
        shared.help(task, len(self.lanes))
        return shared.found(task, len(self.lanes))

    @property
    def _files(self) -> dict[str, FileRows]:
        return {one.definition.name: one for one in self.files or ()}

    def _about(
        self,
        opening: Record,
        task: int,
        sent: Sent | None,
        holds: dict[str, int],
        latest: dict[str, int],
        shedding: dict[str, Any] | None,
    ) -> dict[str, Any]:
        coded = self.coded or RowCoding()
        return about_log(
            self.streams,
            replace(coded, only=task) if self.are_plain else coded,
            {name: one.watermark for name, one in opening.streams.items()},
            relations=opening.pending,
            clocks=sent.clocks if sent else None,
            holds=holds,
            latest=latest,
            shedding=shedding,
            brought={name: one.rows for name, one in opening.streams.items()},
            is_last=self.is_last,
        )


def _opening(home: Home, number: int) -> Record:
    """The record that a task builds on.

    Raises:
        DataError: It cannot be read, or the home is not there where the task runs.
    """
    if not home.segments.is_dir():
        # All in one sentence: of what fails in a task, the user sees the first line.
        msg = (
            f"the home {home.path} is not there on {socket.gethostname()}, where a task runs:"
            " it has to be a folder that all nodes of the cluster see under one path (home, --home)"
        )
        raise DataError(msg)
    return home.chain.read(number)


def _context() -> TaskContext:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context


def _chained(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others
