"""Going along with the commits of a query: as iterators that wait, and as callbacks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Literal

from penstock.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from penstock.connection.engine import Answer, Engine, Reader
    from penstock.store.result_reader import Commit

Since = Literal["beginning", "last", "now"]
"""From where to read: the first results that are kept, where the last call ended, or the next."""
WAIT_SECONDS = 0.25
"""For so long at most a thread waits for news without looking up."""


def followed(
    reader: Reader,
    engine: Engine,
    answer: Answer,
    timeout: float | None = None,
    *,
    follow: bool = False,
) -> Iterator[Commit | None]:
    """The commits of a query that say something, oldest first; None for a while without any.

    Args:
        reader: How far it has read is where this begins.
        engine: What the query runs in.
        answer: Its results.
        timeout: For how many seconds to wait for the next one; None: for ever.
        follow: Whether to wait for commits that come.
    """
    waiting_since = time.monotonic()
    while not engine.is_closed:
        # Asked before the commits are read: what comes in between is read in the next round.
        is_last_round = not follow or engine.is_finished or answer.is_over
        last = engine.position
        for commit in _unless_closed(reader.read(), engine):
            yield commit
            waiting_since = time.monotonic()
        if is_last_round:
            return
        while not engine.wait_for_news(last, _left(waiting_since, timeout)):
            if timeout is not None and time.monotonic() - waiting_since >= timeout:
                return
            yield None


def _left(since: float, timeout: float | None) -> float:
    """For how long to wait without looking up."""
    left = WAIT_SECONDS if timeout is None else timeout - (time.monotonic() - since)
    return max(min(left, WAIT_SECONDS), 0.0)


def _unless_closed(commits: Iterator[Commit], engine: Engine) -> Iterator[Commit]:
    """Commits, until the connection is closed, which may remove the files that they are in."""
    try:
        yield from commits
    except DataError:
        if not engine.is_closed:
            raise


class Subscription:
    """A function that is called with tables as they come, in a thread of its own.

    Attributes:
        error: What ended it, if that was an error: of the function, or of the engine.
    """

    def __init__(
        self, name: str, tables: Iterable[pa.Table], function: Callable[[pa.Table], object]
    ) -> None:
        self.error: Exception | None = None
        self._tables = tables
        self._function = function
        self._is_cancelled = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_active(self) -> bool:
        """Further tables will be passed on."""
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
