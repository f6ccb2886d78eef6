"""Feeds: what calls for the micro-batches of a pipeline, and knows what has been read.

Spark's streaming query reads the sources that only Spark can read. Folders of files, and rows that
were brought from Python, are watched here: their micro-batches are plain Spark jobs, which take
half of the time, or less.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from penstock.errors import PenstockError
from penstock.pipeline.generated_cuts import GeneratedCuts
from penstock.spark.spark_session import java_end

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.pipeline.file_cuts import FilesShare
    from penstock.pipeline.stream_cuts import Cuts

    Files = Mapping[str, FilesShare]

LOOK_SECONDS = 0.005
"""Folders are looked at so often when nothing comes, unless that takes too much of the time."""
YIELD_SECONDS = 0.0005
"""So long others may take the pipeline between two micro-batches."""
LOOKING_SHARE = 0.05
"""Of the time, looking at folders may take so much."""
MOST_SECONDS = 1.0
"""However long it takes, folders are looked at so often."""


@dataclass(frozen=True)
class FeedLimits:
    """The limits of what the next micro-batch reads.

    Args:
        most_rows: About so many rows of a stream; None: as many as there are,
        batch_rows: but no more than so many of files that say how many they have.
        paused: The streams of which nothing is read, as they are too far ahead of others.
    """

    most_rows: int | None = None
    batch_rows: int | None = None
    paused: frozenset[str] = frozenset()


class Limits(Protocol):
    """Asked for the limits before a micro-batch."""

    def __call__(self, waiting: frozenset[str], *, to_the_end: bool) -> FeedLimits:
        """The limits.

        Args:
            waiting: The streams of which files wait.
            to_the_end: Whether somebody waits until all of them have been read.
        """


class Stopped(PenstockError):
    """The pipeline was stopped while somebody waited, or when a micro-batch was about to begin."""

    def __init__(self) -> None:
        super().__init__("the pipeline has been stopped")


class Feed(Protocol):
    """The source of calls for micro-batches."""

    @property
    def is_active(self) -> bool:
        """Micro-batches may come."""

    def wait(self) -> None:
        """Wait until no more come; raises what went wrong."""

    def drain(self) -> None:
        """Wait until all that is there now has been read; raises what went wrong.

        Raises:
            Stopped: It was stopped meanwhile.
        """

    def stop(self) -> None:
        """Call for no more, after the one that runs."""

    def found(self) -> dict[str, int]:
        """The number of files found of each stream, those that were read among them."""


class SparkFeed:
    """A streaming query of Spark's."""

    def __init__(self, query: StreamingQuery) -> None:
        self._query = query

    @property
    def is_active(self) -> bool:
        """Micro-batches may come."""
        try:
            return bool(self._query.isActive)
        except Exception as fault:
            if java_end(fault) is None:
                raise
            return False

    def wait(self) -> None:
        """Wait until no more come; raises what went wrong."""
        self._query.awaitTermination()

    def drain(self) -> None:
        """Wait until all that is there now has been read; raises what went wrong."""
        self._query.processAllAvailable()
        if not self._query.isActive:
            # Spark returns then, whatever has been read.
            raise Stopped

    def stop(self) -> None:
        """Call for no more, after the one that runs."""
        try:
            self._query.stop()
        except Exception as fault:
            if java_end(fault) is None:
                raise

    def found(self) -> dict[str, int]:
        """None: what it finds is known to Spark alone."""
        return {}


class FolderFeed:
    """Watches folders; whatever appears is read in the next micro-batch.

    Args:
        cuts: The folders, with what has been read of them, and what is generated.
        limits: Asked before a micro-batch for what it may read.
        take: Runs a micro-batch that reads files, and commits it; it is told the earliest row of
            each stream in files that wait.
        finite: Whether only what is there at the beginning is read.
    """

    def __init__(
        self,
        cuts: Sequence[Cuts],
        limits: Limits,
        take: Callable[[Files, Mapping[str, int]], None],
        *,
        finite: bool,
    ) -> None:
        self._cuts = cuts
        self._limits = limits
        self._take = take
        self._finite = finite
        self._news = threading.Condition()
        self._is_stopping = self._is_over = False
        # How many wait until all that is there has been read.
        self._drains = 0
        # When the last look began that found nothing, and who wants a later one.
        self._idle_since = self._wanted = -1.0
        self._fault: BaseException | None = None
        for one in cuts:
            one.tidy()
            one.look()
        self._thread = threading.Thread(target=self._run, name="penstock folders", daemon=True)
        self._thread.start()

    @property
    def is_active(self) -> bool:
        """Micro-batches may come."""
        return self._thread.is_alive()

    def wait(self) -> None:
        """Wait until no more come; raises what went wrong."""
        self._thread.join()
        if self._fault is not None:
            raise self._fault

    def drain(self) -> None:
        """Wait until all that is there now has been read; raises what went wrong."""
        with self._news:
            # First this: a look that begins after the call knows of it.
            self._drains += 1
            self._wanted = called = time.monotonic()
            self._news.notify_all()
            try:
                self._news.wait_for(lambda: self._idle_since > called or self._is_over)
            finally:
                self._drains -= 1
            is_read = self._idle_since > called
        if self._fault is not None:
            raise self._fault
        if not is_read:
            raise Stopped

    def stop(self) -> None:
        """Call for no more, after the one that runs."""
        with self._news:
            self._is_stopping = True
            self._news.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def found(self) -> dict[str, int]:
        """The number of files found of each stream, those that were read among them."""
        return {
            one.stream: one.known.read.count + len(one)
            for one in self._cuts
            if not isinstance(one, GeneratedCuts)
        }

    def _run(self) -> None:
        try:
            while not self._is_stopping and self._goes_on():
                pass
        except BaseException as fault:  # Whoever waits is told.
            self._fault = fault
        finally:
            with self._news:
                self._is_over = True
                self._news.notify_all()

    def _goes_on(self) -> bool:
        """Run a micro-batch, or rest if there is nothing to read; False if there will not be."""
        began = time.monotonic()
        for one in self._cuts:
            if not len(one) and not self._finite:
                one.look()
        if not any(one.waited_at(self._wanted) for one in self._cuts):
            # What waits came after somebody began to wait.
            self._rest(began, 0.0)
        if any(map(len, self._cuts)) and self._takes_some():
            # Whoever waits for the pipeline's lock gets it now; else the next batch would.
            time.sleep(YIELD_SECONDS)
            return True
        if self._finite:
            return False
        looked = time.monotonic() - began
        rest = min(max(LOOK_SECONDS, looked / LOOKING_SHARE), MOST_SECONDS)
        self._rest(began, rest)
        return True

    def _rest(self, began: float, seconds: float) -> None:
        """Say that nothing waits that somebody waits for, and wait for more."""
        with self._news:
            self._idle_since = began
            self._news.notify_all()
            if seconds:
                self._news.wait_for(lambda: self._is_stopping or self._wanted >= began, seconds)

    def _takes_some(self) -> bool:
        """Run a micro-batch of files that wait; False if all of them are to wait on."""
        waiting = frozenset(one.stream for one in self._cuts if len(one))
        limits = self._limits(waiting, to_the_end=self._finite or self._drains > 0)
        shares = [
            share
            for one in self._cuts
            if one.stream not in limits.paused
            and (share := one.next_share(limits.most_rows, limits.batch_rows))
        ]
        if not shares:
            return False
        holds = {one.stream: one.hold for one in self._cuts if len(one)}
        self._take({one.folder.stream: one for one in shares}, holds)
        return True
