"""Sinks: the results of queries go where CREATE SINK says, commit by commit, in order.

A thread of its own writes behind the commits, so micro-batches do not wait. How far each sink has
come is written down behind each write: a commit may be written again after a crash, and none is
left out. What fails is tried again; the pipeline goes on.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from penstock.catalog.definitions import SinkDefinition
from penstock.errors import PenstockError, QueryError
from penstock.observe.status import write_status
from penstock.results.paragraphs import Paragraphs, print_line
from penstock.spark.causes import cause_of
from penstock.spark.sink_declarations import place_of, refuse_sink, sink_format
from penstock.spark.sink_lag import SinkLag, facts_of
from penstock.spark.sink_progress import Progress, ProgressFiles, quoted
from penstock.spark.sink_targets import (
    PYTHON,
    CallSink,
    ConsoleSink,
    MemorySink,
    refuse_columns,
    target_for,
)
from penstock.spark.sink_writing import Sink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from penstock.connection.following import Since
    from penstock.spark.sink_targets import SinkTarget
    from penstock.spark.spark_engine import SparkEngine
    from penstock.store.records import Record

TRIES = 3
"""So often a write is tried before its failure is reported."""
MOST_PAUSE = 30.0
"""Seconds until a sink that fails again and again is tried again, at most."""
CLOSING_SECONDS = 10.0
"""How long the end of a connection waits for sinks that have not written all."""


class Sinks:
    """The sinks of a connection, and the thread that writes to them.

    Attributes:
        paragraphs: Where answers are printed; it may be replaced before statements run.
    """

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine
        self.paragraphs = Paragraphs(print_line)
        self._files = ProgressFiles(engine.home)
        self._jobs = engine.running.pipeline.sink_jobs()
        # Guards what follows; never held while a sink writes.
        self._news = threading.Condition()
        self._sinks: dict[str, Sink] = {}
        self._is_closed = False
        self._lag = SinkLag()
        # Set while a function that a sink calls waits for rows to be taken in.
        self._waits_itself = False
        # Of those that cannot be opened as they were declared: what is wrong with them.
        self._refused: dict[str, str] = {}
        for name, refusal in self._open_declared().items():
            self._refuse(name, refusal)
        engine.on_commit(self._wake)
        engine.running.pipeline.intake.sinks_behind = self.too_far_behind
        engine.running.pipeline.sink_facts = self.facts
        self._thread = threading.Thread(target=self._run, name="penstock sinks", daemon=True)
        self._thread.start()

    @property
    def errors(self) -> dict[str, str]:
        """Why sinks do not get on, by name; what they have not written is not lost."""
        with self._news:
            failing = {s.name: s.error for s in self._sinks.values() if s.error is not None}
            return self._refused | failing

    def look(self) -> None:
        """Open the sinks that have been declared, and close those that have been dropped.

        A new one that cannot be written to is not declared any more, and one that it was to
        replace is as before.

        Raises:
            PenstockError: A sink that is new cannot be written to; the others can.
        """
        refusals = self._open_declared()
        with self._news:
            # Those that could not be opened again with the home stay until they are dropped.
            new = [name for name in refusals if name not in self._refused]
        for name in refusals.keys() - set(new):
            self._refuse(name, refusals[name])
        if new:
            self._engine.execute(";\n".join(self._taking_back(name) for name in new))
            raise refusals[new[0]]

    def _open_declared(self) -> dict[str, PenstockError]:
        """Open what is declared, and close what is not; why some cannot be opened, by name."""
        with self._engine.running.changing:
            found = self._engine.program.session.catalog.of_kind("sink")
        declared = {one.name.lower(): one for one in found if isinstance(one, SinkDefinition)}
        self._forget(declared)
        refusals: dict[str, PenstockError] = {}
        for name, definition in declared.items():
            with self._news:
                known = self._sinks.get(name)
            if known is not None and known.progress.is_of(definition):
                continue
            try:
                opened = self._opened(definition)
            except PenstockError as refusal:
                refusals[definition.name] = refusal
            else:
                with self._news:
                    self._sinks[name] = opened
                    self._refused.pop(definition.name, None)
        self._wake()
        return refusals

    def _taking_back(self, name: str) -> str:
        """The statement that undoes the declaration of a sink."""
        with self._news:
            replaced = self._sinks.get(name.lower())
        if replaced is None:
            return f"DROP SINK {quoted(name)}"
        return replaced.progress.statement()

    def call(
        self,
        name: str,
        query: str,
        function: Callable[[pa.Table, int], object],
        since: Since = "beginning",
    ) -> None:
        """Call a function with the results of each commit, and the number of its record.

        It goes on where a function of the same name has come to in this home, also one of an
        earlier process. After a crash, or an error of the function, the same table comes again
        under the same number. Until `forget` is called, results that it has not seen are kept.

        Args:
            name: Its name.
            query: Whose results.
            function: What to call.
            since: Where a new one begins: with all that is kept, or with what comes next.

        Raises:
            QueryError: There is a sink of that name.
            UnknownName: There is no such query.
        """
        self._add(name, query, CallSink(function), since)

    def print_answer(
        self,
        name: str,
        query: str,
        title: str | None,
        since: Since = "beginning",
        *,
        intervals: bool = False,
    ) -> None:
        """Print the answer of a query as it goes on, until `forget` is called.

        Args:
            name: A name for the printing, by which it goes on in a later process.
            query: Whose answer.
            title: What it is called, if it has a name.
            since: Where a new one begins: with all that is kept, or with what comes next.
            intervals: Whether rows are printed with the time in which they hold.
        """
        target = ConsoleSink(title, self.paragraphs, intervals=intervals)
        self._add(name, query, target, since)

    def _add(self, name: str, query: str, target: SinkTarget | ConsoleSink, since: Since) -> None:
        definition = self._engine.program.definition(query)
        with self._news:
            is_known = name.lower() in self._sinks
        if is_known or self._engine.program.session.catalog.get(name) is not None:
            msg = f'there is a "{name}" already'
            raise QueryError(msg, hint="Choose another name.")
        sink = SinkDefinition(name, definition.name, PYTHON)
        refuse_columns(sink, definition.plan.schema.names)
        progress = self._files.read(name)
        if progress is None or not progress.is_of(sink):
            begin = self._engine.position if since == "now" else -1
            progress = Progress(name, definition.name, PYTHON, {}, record=begin)
        with self._news:
            self._sinks[name.lower()] = Sink(
                self._engine, self._jobs, self._files, progress, target
            )
        self._wake()

    def hold(self, name: str, query: str) -> None:
        """Keep all results of a query that there are, and that will come, until `forget`."""
        self._files.write(Progress(name, query, PYTHON, {}))

    def forget(self, name: str) -> None:
        """Call a function no more; one that is passed under its name later begins anew."""
        with self._news:
            found = self._sinks.get(name.lower())
            if found is not None and found.progress.format != PYTHON:
                return
            self._sinks.pop(name.lower(), None)
        self._files.remove(name)

    def table(self, sink: str) -> pa.Table | None:
        """All that a memory sink has taken since this connection was opened; None if nothing.

        Raises:
            QueryError: There is no memory sink of that name.
        """
        with self._news:
            found = self._sinks.get(sink.lower())
        if found is None or not isinstance(found.target, MemorySink):
            msg = f'there is no sink "{sink}" in memory'
            raise QueryError(msg, hint="CREATE SINK name FROM query USING memory makes one.")
        return found.target.table()

    def wait_written(self, timeout: float | None = None) -> bool:
        """Wait until all that is committed has been written, but by sinks that fail.

        Returns:
            Whether every sink has written all.
        """
        if self.calls_here:
            return False  # A function that a sink calls would wait for itself.
        last = self._engine.position
        with self._news:
            # Records of other statements are no news to the thread.
            self._news.notify_all()
            self._news.wait_for(
                lambda: all(s.reached >= last or s.error for s in self._sinks.values()), timeout
            )
            return not self._refused and all(s.reached >= last for s in self._sinks.values())

    def too_far_behind(self, seconds: float) -> list[str]:
        """The names of sinks that are too far behind; waits so many seconds until there are none.

        `SET sink_lag` says how far they may be.
        """

        def names() -> list[str]:
            if self._is_closed or self._waits_itself:
                return []
            ledger = self._engine.running.pipeline.ledger
            limit = ledger.plan.session.settings.work.sink_lag
            return self._lag.too_far(list(self._sinks.values()), ledger.record, limit)

        with self._news:
            if names():
                self._news.wait_for(lambda: not names(), seconds)
            return names()

    @property
    def calls_here(self) -> bool:
        """A sink has called the function that asks: it is waited for, and must not wait."""
        return threading.current_thread() is self._thread

    @contextmanager
    def let_in(self) -> Iterator[None]:
        """While a function that a sink calls waits for rows, these do not wait for the sink."""
        is_own = self.calls_here
        self._waits_itself |= is_own
        try:
            yield
        finally:
            self._waits_itself &= not is_own

    def facts(self) -> dict[str, dict[str, Any]]:
        """The words of the status about them."""
        with self._news:
            declared = [one for one in self._sinks.values() if one.progress.format != PYTHON]
        return facts_of(declared, self._engine.running.pipeline.ledger.record)

    def close(self) -> None:
        """Write what is committed, unless it takes long, and write no more."""
        self.wait_written(CLOSING_SECONDS)
        with self._news:
            self._is_closed = True
            self._news.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(CLOSING_SECONDS)

    def _opened(self, definition: SinkDefinition) -> Sink:
        refuse_sink(self._engine.spark, definition)
        refuse_columns(
            definition, self._engine.program.definition(definition.query).plan.schema.names
        )
        progress = self._files.read(definition.name)
        in_memory = sink_format(definition).written == "memory"
        is_new = in_memory or progress is None or not progress.is_of(definition)
        if progress is None or is_new:
            progress = Progress(
                definition.name,
                definition.query,
                definition.format,
                dict(definition.options),
                place_of(definition),
            )
        place, key = progress.place, progress.key
        target = target_for(self._engine.spark, definition, place, key, self.paragraphs)
        if is_new:
            target.begin()
            # Before the first write: from then on the files there are its own.
            self._files.write(progress)
        return Sink(self._engine, self._jobs, self._files, progress, target)

    def _forget(self, declared: dict[str, SinkDefinition]) -> None:
        """Let go of sinks that are declared no more."""
        with self._news:
            gone = [
                name
                for name, one in self._sinks.items()
                if one.progress.format != PYTHON and name not in declared
            ]
            for name in gone:
                del self._sinks[name]
            known = {one.name for one in declared.values()}
            self._refused = {name: why for name, why in self._refused.items() if name in known}
        for progress in self._files.all():
            if progress.format != PYTHON and progress.sink.lower() not in declared:
                self._files.remove(progress.sink)

    def _wake(self, record: Record | None = None) -> None:
        del record
        with self._news:
            self._news.notify_all()

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(self._has_work, self._pause())
                if self._is_closed:
                    return
                due = [one for one in self._sinks.values() if self._is_due(one)]
            for sink in due:
                self._catch_up(sink)
            with self._news:
                self._news.notify_all()

    def _has_work(self) -> bool:
        return self._is_closed or any(map(self._is_due, self._sinks.values()))

    def _is_due(self, sink: Sink) -> bool:
        return sink.reached < self._engine.position and sink.next_try <= time.monotonic()

    def _pause(self) -> float | None:
        """The time for which nothing is due, if no news comes."""
        times = [one.next_try for one in self._sinks.values() if one.failed]
        return max(min(times) - time.monotonic(), 0.01) if times else None

    def _catch_up(self, sink: Sink) -> None:
        """Let a sink write; what goes wrong there is its own."""
        try:
            sink.catch_up(self._engine.position)
        except Exception as fault:
            if self._engine.is_closed:
                return
            known = isinstance(fault, PenstockError)
            why = fault.message if isinstance(fault, PenstockError) else cause_of(fault).text
            # What a sentence was written for does not pass by itself.
            sink.failed = max(sink.failed + 1, TRIES if known else 0)
            sink.next_try = time.monotonic() + min(0.25 * 2**sink.failed, MOST_PAUSE)
            if sink.failed >= TRIES and sink.error != why:
                sink.error = why
                self._report(f'sink "{sink.name}": {why}')
        else:
            sink.failed, sink.error, sink.next_try = 0, None, 0.0

    def _refuse(self, sink: str, refusal: PenstockError) -> None:
        with self._news:
            is_news = self._refused.get(sink) != refusal.message
            self._refused[sink] = refusal.message
        if is_news:
            self._report(refusal.message)

    def _report(self, text: str) -> None:
        """Add to the last errors that `penstock status` shows."""
        pipeline = self._engine.running.pipeline
        with pipeline.lock:
            pipeline.note_error(text)
            # Nobody relies on the status; the disk may be what is at fault.
            with suppress(OSError):
                write_status(self._engine.home, pipeline.status)
