"""The ways to write a sink: this process does, commit by commit, or tasks of Spark's do.

Where few results come, this process writes them at once. Where more come than it keeps up with,
their rows are divided: each task folds, nets and writes its part, and what they have written is
published here, all of a commit by one note.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import uuid4

from penstock.errors import DataError
from penstock.results.result_tables import results_table
from penstock.spark.sink_targets import ConsoleSink

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.connectors.folder_sink import FolderSink
    from penstock.lane_host.sink_work import SinkWork
    from penstock.spark.sink_progress import Written
    from penstock.spark.sink_targets import SinkTarget
    from penstock.spark.sink_tasks import SinkJobs
    from penstock.store.layout import Home
    from penstock.store.result_reader import Commit, ResultsReader

Way = Literal["driver", "tasks"]

TASK_RESULTS = 500_000
"""A sink that is so many results behind is written by tasks."""
FEW_RESULTS = 50_000
"""If so few wait,"""
FEW_TIMES = 50
"""so often in a row, this process writes it again."""
MOST_RECORDS = 64
"""Commits that tasks write in one job."""


class TasksCannotWrite(DataError):
    """The drafts of tasks are not seen here: they run where the folder is another one."""


class SinkWriting(Protocol):
    """One way to write a sink, once it is known where to begin."""

    way: Way

    def write(self, last: int, end: int | None) -> None:
        """Write all up to a record; `end` if that is the end of the input."""


class DriverWriting:
    """This process reads the results of a query, commit by commit, and writes them."""

    way: Way = "driver"

    def __init__(
        self,
        reader: ResultsReader,
        plan: Plan,
        target: SinkTarget | ConsoleSink,
        written: Written,
    ) -> None:
        self._reader = reader
        self._plan = plan
        self._target = target
        self._written = written
        # Read, but not written yet: a reader does not read twice.
        self._pending: Commit | None = None

    def write(self, last: int, end: int | None) -> None:
        """Write all up to a record."""
        self._deliver(end)
        for commit in self._reader.read(last):
            self._pending = commit
            self._deliver(end)
        self._written.done(last, end)

    def _deliver(self, end: int | None) -> None:
        """Write the commit that waits, unless that was done before."""
        commit = self._pending
        if commit is not None and commit.block is not None:
            if not self._written.has(commit.number):
                self._put(commit)
                self._written.done(commit.number, end, commit.results)
            elif isinstance(self._target, ConsoleSink) and commit.number != end:
                self._target.pass_over(self._plan, commit.block)
        self._pending = None

    def _put(self, commit: Commit) -> None:
        assert commit.block is not None
        if isinstance(self._target, ConsoleSink):
            self._target.print(self._plan, commit.block)
        else:
            self._target.write(commit.number, results_table(self._plan, commit.block))


class TaskWriting:
    """Tasks of Spark's write drafts, each its part of the rows; here they are published."""

    way: Way = "tasks"

    def __init__(
        self, jobs: SinkJobs, home: Home, work: SinkWork, target: FolderSink, written: Written
    ) -> None:
        self._jobs = jobs
        self._home = home
        self._work = work
        self._target = target
        self._written = written

    def write(self, last: int, end: int | None) -> None:
        """Write all up to a record.

        Raises:
            TasksCannotWrite: They see another folder.
        """
        while self._written.record < last and self._written.progress.end != last:
            stop = self._stop(last)
            self._write(stop, end if stop == last else None)

    def _stop(self, last: int) -> int:
        """The last record of the next job; no end of input that was none."""
        stop = min(last, self._written.record + MOST_RECORDS)
        while stop < last and self._home.chain.read(stop).kind == "flush":
            stop += 1
        return stop

    def _write(self, last: int, end: int | None) -> None:
        progress = self._written.progress
        work = replace(
            self._work,
            written=progress.record,
            end=progress.end,
            last=last,
            is_end=end is not None,
        )
        try:
            drafts = self._jobs.write(progress.sink, work)
        except Exception:
            # Some parts may have gone further than others: the next attempt begins anew.
            self._work = replace(self._work, key=uuid4().hex)
            self._target.remove_drafts()
            raise
        missing = self._target.missing(drafts)
        if missing:
            msg = f"{missing[0]}, which a task has written, is not seen by the driver"
            hint = "Let the sink's folder be one that all nodes see: then tasks write it."
            raise TasksCannotWrite(msg, hint=hint)
        self._written.publish(drafts, self._target, last, end)
