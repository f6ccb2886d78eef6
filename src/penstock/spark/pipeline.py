"""The pipeline: feeds that call for micro-batches, and the commits that these lead to."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.errors import PipelineFailed
from penstock.files.folders import is_read_by_tasks
from penstock.observe.status import Status, write_status
from penstock.pipeline.housekeeping import Housekeeping
from penstock.pipeline.ledger import Ledger
from penstock.pipeline.rollback import step_back
from penstock.pipeline.stream_cuts import cuts_of
from penstock.pipeline.sweeping import Retention
from penstock.shedding.input_monitor import InputMonitor
from penstock.spark.batch_intake import BatchIntake
from penstock.spark.batch_notes import note_batch
from penstock.spark.causes import cause_of
from penstock.spark.feeds import FolderFeed, Stopped
from penstock.spark.given_frames import GivenFrames, is_frame
from penstock.spark.jobs import Jobs
from penstock.spark.offsets import read_offsets
from penstock.spark.reloading import Reloading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from penstock.spark.feeds import Feed, FeedLimits, Files
    from penstock.spark.sink_tasks import SinkJobs
    from penstock.store.layout import Home
    from penstock.store.records import Record

STATUS_SECONDS = 1.0
"""The status is written at most so often."""
RESTARTS = 3
"""How often feeds are started again after a failure, without a commit between."""
RESTART_SECONDS = 1.0
_QUERY_ID = "sql.streaming.queryId"


class Pipeline:
    """Runs the plan of a home on Spark.

    The home is open, and nobody else writes to it. Only one thing happens at a time: a
    micro-batch, or a change of the ledger, under `lock`.

    Attributes:
        ledger: The newest record, and the plan.
        given: The DataFrames that streams and relations are.
        reloading: The relations that are declared with a source.
        lock: Held while a micro-batch runs, or the ledger changes.
        listeners: Told of each record that rows or the end of the input led to, under the lock.
        status: How the last batch went.
        failure: Why micro-batches run no more, if they failed too often.
        trouble: Why the last micro-batch failed, while it is tried again.
        monitor: Decides how many rows are taken in, and how many of them stay.
        intake: Holds rows back when that has to be.
        sink_facts: Asked for what the status says of sinks.
        retention: What is kept, and for how long.
        housekeeping: Folds old results and removes old files, beside the micro-batches.
    """

    def __init__(
        self, spark: SparkSession, home: Home, tasks: int, most_tasks: int | None = None
    ) -> None:
        self.spark = spark
        self.home = home
        taken_back = step_back(home)
        self.ledger = Ledger(home)
        self.given = GivenFrames()
        self.reloading = Reloading(spark, self.ledger, self.given, self.note_error)
        self._jobs = Jobs(spark, self.ledger, tasks, most_tasks)
        self.lock = threading.RLock()
        self.listeners: list[Callable[[Record], None]] = []
        now = time.time()
        self.status = Status(os.getpid(), False, 0.0, now, self.ledger.record.number)
        if taken_back is not None:
            self.note_error(taken_back)
        self._feeds: list[Feed] = []
        # Which start of the feeds may commit; any other one is a leftover.
        self._run = 0
        self._failed = 0
        self._ended = threading.Event()
        self.failure: PipelineFailed | None = None
        self.trouble: str | None = None
        self.monitor = InputMonitor()
        self.intake = BatchIntake(self)
        self.sink_facts: Callable[[], dict[str, dict[str, Any]]] = dict
        self.retention = Retention()
        self.housekeeping = Housekeeping(self.ledger, self.lock, self.note_error)

    @property
    def is_running(self) -> bool:
        """Micro-batches run."""
        return any(feed.is_active for feed in self._feeds)

    @property
    def tasks(self) -> int:
        """In how many tasks batches run now; on a cluster it follows the cores."""
        return self._jobs.tasks

    @property
    def reading(self) -> str:
        """The way in which the last batch that read files did so, and why."""
        return self._jobs.reading

    def sink_jobs(self) -> SinkJobs:
        """The way in which jobs write sinks."""
        return self._jobs.for_sinks(self.note_error)

    def start(self, *, finite: bool = False) -> None:
        """Let micro-batches run: until all that is there has been read, or until `stop`."""
        self._run += 1
        self.failure = None
        self._ended.clear()
        folders = [one for one in self.ledger.plan.streams if is_read_by_tasks(one)]
        given = [one for one in self.ledger.plan.streams if is_frame(one)]
        by_spark = [one for one in self.ledger.plan.streams if one not in folders + given]
        begun: list[Feed] = []
        with ExitStack() as undoing:
            if by_spark:
                batch = partial(self._batch, self._run, None)
                begun.append(self._jobs.streaming(by_spark, batch, finite=finite))
                undoing.callback(begun[-1].stop)
            for one in given:
                batch = partial(self._batch, self._run, one.name)
                frame = self.given.of(one)
                begun.append(self._jobs.streaming([one], batch, finite=finite, frame=frame))
                undoing.callback(begun[-1].stop)
            if folders:
                cuts = [cuts_of(self.ledger, one, self.tasks, finite=finite) for one in folders]
                take, limits = partial(self._take, self._run), partial(self._limits, self._run)
                begun.append(FolderFeed(cuts, limits, take, finite=finite))
            undoing.pop_all()
        # All at once: without feeds, whoever waits would take it that there is nothing to read.
        self._feeds = begun
        feeds, run = tuple(begun), self._run
        for feed in feeds:
            target = partial(self._watch, feed, feeds, run, finite=finite)
            threading.Thread(target=target, daemon=True).start()

    def _limits(self, run: int, waiting: frozenset[str], *, to_the_end: bool) -> FeedLimits:
        """The limits of what the next micro-batch reads; it is about to come."""
        self.intake.wait_for_sinks(lambda: run != self._run)
        with self.lock:
            self._require(run)
            return self.intake.limits(waiting, to_the_end=to_the_end)

    def _watch(self, feed: Feed, feeds: Sequence[Feed], run: int, *, finite: bool) -> None:
        """Wait for the end of a feed; if it failed, start all again a few times."""
        try:
            feed.wait()
        except Exception as fault:  # Spark's, ours, or that of a lost connection.
            if run == self._run:
                self._recover(fault, feeds, run, finite=finite)
            return
        if run == self._run and not any(one.is_active for one in feeds):
            self._ended.set()

    def _recover(self, fault: Exception, feeds: Sequence[Feed], run: int, *, finite: bool) -> None:
        """After a failure: start again, or give up."""
        cause = cause_of(fault)
        self.note_error(cause.text)
        self._failed += 1
        if cause.may_pass and self._failed <= RESTARTS:
            self.trouble = cause.text
            self.write_status()
            time.sleep(RESTART_SECONDS * self._failed)
            if self._started_again(feeds, run, finite=finite):
                return
        self.failure = PipelineFailed(cause.text, hint="Its state is as of the last commit.")
        self.trouble = None
        self.write_status()
        if run == self._run:
            self._ended.set()

    def _started_again(self, feeds: Sequence[Feed], run: int, *, finite: bool) -> bool:
        """Start the feeds anew, unless somebody else did; False if that fails."""
        for feed in feeds:
            feed.stop()
        with self.lock:
            if run != self._run:
                return True
            try:
                self.start(finite=finite)
            except Exception as fault:  # Whoever waits has to learn of it.
                self.note_error(cause_of(fault).text)
                self._run = run
                return False
            return True

    def wait(self) -> None:
        """Wait until a finite run has ended.

        Raises:
            PipelineFailed: It cannot go on.
        """
        if self._feeds:
            self._ended.wait()
        if self.failure is not None:
            raise self.failure

    def drain(self) -> None:
        """Wait until all rows that are there now have been taken in.

        Raises:
            PipelineFailed: It cannot go on.
        """
        while self._feeds and not self._ended.is_set():
            try:
                for feed in self._feeds:
                    feed.drain()
            except Exception:  # `_watch` says what it was, and starts again.
                self._ended.wait(0.1)
            else:
                break
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Let no more micro-batches run, after the one that runs."""
        with self.lock:
            self._run += 1
            self.trouble = None
            feeds, self._feeds = self._feeds, []
        self._ended.set()
        # Not under the lock: a batch that waits for it has to learn that it is too late.
        for feed in feeds:
            feed.stop()
        if feeds:
            self.write_status(feeds)
        self.housekeeping.wait()

    def flush(self) -> None:
        """The input has come to its end: let the lanes say all that is left."""
        with self.lock:
            self._look_around()
            done = self._jobs.without_rows(is_last=True)
            self.ledger.commit_flush(done, self.tasks)
            self._jobs.tidy(done)
            self.tell()

    def note_error(self, text: str) -> None:
        """Add a sentence to the last errors, which the status shows."""
        with self.lock:
            self.status.note_error(text)

    def look(self) -> None:
        """Let the lanes know of what changed apart from rows, unless a micro-batch runs.

        That one looks by itself; without rows there is none. Lanes that are behind go on.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            if self.ledger.plan.groups and (self._look_around() or self.ledger.is_behind):
                self.tick()
        finally:
            self.lock.release()

    def tick(self, *, to_the_end: bool = False) -> None:
        """Let the lanes take in what changed apart from the rows of streams, and go on.

        To the end: until nothing waits any more, so that all lanes have come equally far.
        """
        with self.lock:
            self._look_around()
            done = self._jobs.without_rows(to_the_end=to_the_end)
            self.ledger.commit_batch(done, self.tasks, None)
            self._jobs.tidy(done)
            self.tell()

    def _look_around(self) -> bool:
        """Take note of what happens apart from rows; whether anything did.

        Relations have changed, or streams have been silent for too long.
        """
        has_changed = self.reloading.refresh()
        return self.ledger.pass_idle(time.monotonic()) or has_changed

    def _batch(self, run: int, stream: str | None, rows: DataFrame, batch: int) -> None:
        """Run a micro-batch of Spark's and commit it, unless that was done before a restart.

        Its rows are of the stream that is a DataFrame, or else of all that only Spark can read.
        """
        self.intake.wait_for_sinks(lambda: run != self._run)
        with self.lock:
            self._require(run)
            query = str(self.spark.sparkContext.getLocalProperty(_QUERY_ID))
            if not self.ledger.has_committed(query, batch, stream):
                self.intake.watch_lanes()
                self._run_batch(rows, None, (query, batch), frame=stream)

    def _take(self, run: int, files: Files, holds: Mapping[str, int]) -> None:
        """Run a micro-batch that reads files, and commit it."""
        with self.lock:
            self._require(run)
            self._run_batch(None, files, None, holds)
            for one in files.values():
                if one.folder.is_inserted:
                    known = self.ledger.known_files(one.folder.stream)
                    known.remove_earlier(one.folder, one.read_to_the_end)

    def _require(self, run: int) -> None:
        if run != self._run:
            raise Stopped

    def _run_batch(
        self,
        rows: DataFrame | None,
        files: Files | None,
        batch: tuple[str, int] | None,
        holds: Mapping[str, int] | None = None,
        frame: str | None = None,
    ) -> None:
        """Run the stages of a micro-batch, and commit what comes of them."""
        self._look_around()
        shedding = self.monitor.decision
        began = time.perf_counter()
        is_looked_at = time.time() - self.status.written_at >= STATUS_SECONDS
        done = self._jobs.run(rows, files, holds, shedding=shedding, with_reports=is_looked_at)
        worked = time.perf_counter()
        for note in (note for task in done for note in task.notes):
            self.note_error(note)
        self.status.batch_rows = sum(one.rows for task in done for one in task.streams.values())
        streams = self.ledger.plan.streams
        offsets = read_offsets(self.home, batch[1], streams) if batch and not frame else None
        self.ledger.commit_batch(done, self.tasks, batch, files, offsets, holds, frame)
        self._jobs.tidy(done)
        self._failed, self.trouble = 0, None
        self.tell()
        seconds = {"job": worked - began, "commit": time.perf_counter() - worked}
        self.status.batches.add(sum(seconds.values()))
        if is_looked_at:
            note_batch(self.status, done, seconds, self.reading)
            self.write_status()

    def tell(self) -> None:
        """Let those who wait know of a new record."""
        self.intake.note(self.ledger.record)
        for listener in self.listeners:
            listener(self.ledger.record)
        self.housekeeping.note(self.ledger.record)
        run = self._run
        self.housekeeping.begin_if_due(self.retention, lambda: run == self._run)

    def clean(self) -> None:
        """Fold old results if they are many, and remove files that nobody needs any more, now."""
        self.housekeeping.clean(self.retention)

    def write_status(self, stopped: Sequence[Feed] = ()) -> None:
        """Write down how it goes."""
        self.status.is_running = self.is_running
        self.status.intake, self.status.one_in = self.monitor.most_rows, self.monitor.one_in
        for feed in (*self._feeds, *stopped):
            self.status.found |= feed.found()
        self.status.record = self.ledger.record.number
        self.status.sinks = self.sink_facts()
        # Nobody relies on the status: a full disk must not end a pipeline here.
        with suppress(OSError):
            write_status(self.home, self.status)
