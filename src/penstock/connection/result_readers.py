"""Readers of the results of a query, which go on where they ended."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.errors import QueryError
from penstock.results.settling import ChangingContent

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from penstock.algebra.time import TimeUnit
    from penstock.connection.engine import Answer, Reader
    from penstock.connection.following import Since
    from penstock.results.settling import Elements
    from penstock.store.result_reader import Commit


class ResultReaders:
    """One reader for each thing that is read; it begins anew if the query did."""

    def __init__(self) -> None:
        self._reading = threading.Lock()
        # By what it is read for: the run that it is of, and the reader.
        self._known: dict[str, tuple[int, Reader]] = {}

    def content(self, answer: Answer) -> tuple[pa.Array, ...]:
        """The content at the clock, folded from where the last call ended."""
        with self._reading:
            reader = self._reader("snapshot", answer, answer.content)
            reader.catch_up()
            assert isinstance(reader.fold, ChangingContent)
            return reader.fold.current()

    def read(self, what: str, answer: Answer, fold: Callable[[], Elements]) -> list[Commit]:
        """The results that came since this was last called."""
        with self._reading:
            return list(self._reader(what, answer, fold).read())

    def opened(
        self, what: str, answer: Answer, fold: Callable[[], Elements], since: Since
    ) -> Reader:
        """A reader to go along with."""
        reader = self._reader(what, answer, fold) if since == "last" else answer.reader(fold)
        if since == "now":
            reader.catch_up()
        return reader

    def _reader(self, what: str, answer: Answer, fold: Callable[[], Elements]) -> Reader:
        run, reader = self._known.get(what, (None, None))
        if reader is None or run != answer.run:
            reader = answer.reader(fold)
            self._known[what] = (answer.run, reader)
        return reader


def content_at(answer: Answer, instant: int, query: str, unit: TimeUnit) -> tuple[pa.Array, ...]:
    """The content of a query at an instant.

    Raises:
        QueryError: It may still change, or is not kept any more.
    """
    clock, earliest = answer.clock, answer.earliest
    if instant >= clock:
        msg = f'the result of query "{query}" at {unit.format(instant)} may still change'
        known = f"It is final before {unit.format(clock)}."
        raise QueryError(msg, hint="Nothing is final yet." if clock == BEGINNING else known)
    if instant < earliest:
        msg = f'the result of query "{query}" at {unit.format(instant)} is not kept any more'
        raise QueryError(msg, hint=f"The earliest that is kept is that at {unit.format(earliest)}.")
    return answer.content_at(instant)
