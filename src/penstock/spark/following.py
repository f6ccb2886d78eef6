"""Going along with the commits of a pipeline: as iterators that wait, and as callbacks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from penstock.spark.pipeline_runner import PipelineRunner
    from penstock.store.result_reader import Commit, ResultsReader

Since = Literal["beginning", "now"]
"""From where to go along: from the first results that are kept, or the next that come."""


def followed(
    reader: ResultsReader,
    running: PipelineRunner,
    timeout: float | None,
    has_ended: Callable[[], bool] | None,
) -> Iterator[Commit]:
    """The commits of a query that say something, oldest first.

    Args:
        reader: How far it has read is where this begins.
        running: The pipeline.
        timeout: For how many seconds to wait for the next one; None: for ever.
        has_ended: Whether the query runs no more. None: do not wait for anything.
    """
    waiting_since = time.monotonic()
    while not running.is_closed:
        # Asked before the records are read: what comes in between is read in the next round.
        is_last_round = has_ended is None or running.is_over or has_ended()
        last = running.record.number
        for commit in _unless_closed(reader.read(last), running):
            yield commit
            waiting_since = time.monotonic()
        if is_last_round:
            return
        left = None if timeout is None else timeout - (time.monotonic() - waiting_since)
        if not running.wait_for_news(last, left):
            return


def _unless_closed(commits: Iterator[Commit], running: PipelineRunner) -> Iterator[Commit]:
    """Commits, until the connection is closed, which may remove the files that they are in."""
    try:
        yield from commits
    except DataError:
        if not running.is_closed:
            raise


class Subscription:
    """A function that is called with tables as they come, in a thread of its own.

    Attributes:
        error: What ended it, if that was an error: of the function, or of the pipeline.
    """

    def __init__(
        self, name: str, tables: Iterator[pa.Table], function: Callable[[pa.Table], object]
    ) -> None:
        self.error: Exception | None = None
        self._tables = tables
        self._function = function
        self._is_cancelled = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_active(self) -> bool:
        """Whether further tables will be passed on."""
        return self._thread.is_alive() and not self._is_cancelled

    def cancel(self) -> None:
        """Pass on no further table."""
        self._is_cancelled = True

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the query runs no more and all its tables were passed on.

        Raises:
            Exception: What ended it, if that was an error.
        """
        self._thread.join(timeout)
        if self.error is not None:
            raise self.error

    def _run(self) -> None:
        try:
            for table in self._tables:
                if self._is_cancelled:
                    return
                self._function(table)
        except Exception as error:  # It belongs to whoever asks; there is nobody to raise it to.
            self.error = error
