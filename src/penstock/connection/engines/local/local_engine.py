"""The engine of this process: operators, state and results, without Spark."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.algebra.time import BEGINNING
from penstock.connection import statements
from penstock.connection.engines.local.element_log import LogReader
from penstock.connection.engines.local.feeding import Feeding
from penstock.connection.engines.local.generating import generated_streams
from penstock.connection.engines.local.local_progress import progress_of
from penstock.connection.engines.local.local_view import LocalView
from penstock.connection.engines.local.query_registry import Registry
from penstock.connection.engines.local.saving import save_engine
from penstock.connection.operator_table import operator_table
from penstock.connection.questions.one_time_query import asked, reading_note
from penstock.connectors.generate import is_generated
from penstock.errors import NotSupported, QueryError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.builder import QueryBuilder as BuiltQuery
    from penstock.catalog.definitions import (
        Catalog,
        QueryDefinition,
        RelationDefinition,
        StreamDefinition,
    )
    from penstock.connection.engine import Replanned
    from penstock.connection.engines.local.batch import Batch, Options, Shape
    from penstock.connection.engines.local.element_log import ElementLog
    from penstock.connection.engines.local.file_feeding import FileShare
    from penstock.connection.questions.one_time_answer import OneTimeAnswer
    from penstock.cql import syntax
    from penstock.results.settling import ChangingContent, Elements
    from penstock.session import Outcome, Session


class LocalAnswer:
    """The results of a query as its batch computes them."""

    def __init__(self, batch: Batch, query: str, lock: threading.RLock) -> None:
        self._batch = batch
        self._query = query
        self._lock = lock
        self._log: ElementLog = batch.outcomes[query]

    @property
    def run(self) -> int:
        """A number of its own."""
        return self._log.number

    @property
    def plan(self) -> Plan:
        """The query's plan."""
        return self._batch.plans[self._query]

    @property
    def shape(self) -> Shape:
        """Types and span of its rows, and into how many parts that time is divided."""
        return self._batch.row_shape(self._query)

    @property
    def clock(self) -> int:
        """Results for instants before this are final."""
        return self._log.clock

    @property
    def earliest(self) -> int:
        """Of instants before this nothing is kept."""
        clock = self._log.left_clock
        return clock if clock == BEGINNING else clock - 1

    @property
    def is_over(self) -> bool:
        """No further results will come."""
        return self._log.is_over

    def content(self) -> ChangingContent:
        """An empty content of the query."""
        return self._batch.content(self._query)

    def reader(self, fold: Callable[[], Elements]) -> LogReader:
        """A reader that begins with the first results that are kept."""
        return LogReader(self._log, self._lock, self._batch.look, fold)

    def content_at(self, instant: int) -> tuple[pa.Array, ...]:
        """The rows that hold at an instant, which is final and kept."""
        content = self.content()
        with self._lock:
            for blocks, clock in self._log.steps():
                content.take_in(blocks, min(clock, instant + 1))
        return content.current()


class LocalEngine:
    """Runs queries while they are fed: when a call returns, its rows have been taken in.

    Attributes:
        feeding: Streams, relations, and the batches that are fed.
        registry: The catalog, and the queries that run.
        failed_before: Failures of queries before the engine was restored.
    """

    title = "in this process"
    reopening = "penstock.connect_inline() opens a new one."

    def __init__(self, options: Options) -> None:
        self.feeding = Feeding(options)
        self.registry = Registry(self.feeding)
        self.failed_before: dict[str, Counter[str]] = {}
        self.is_closed = False
        self.is_finished = False
        self.failure: str | None = None
        self.trouble: str | None = None
        self.position = 0
        self._lock = threading.RLock()
        self._news = threading.Condition(self._lock)

    @property
    def session(self) -> Session:
        """The catalog and the settings."""
        return self.registry.session

    @property
    def reads_sources(self) -> bool:
        """Rows come by insert and update only."""
        return False

    @property
    def catalog(self) -> Catalog:
        """All declarations."""
        return self.registry.session.catalog

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Held while something changes; whoever waits for news is told then."""
        with self._lock:
            try:
                yield
            finally:
                self.position += 1
                self._news.notify_all()

    def execute(self, text: str) -> pa.Table | None:
        """Run statements; the rows that the last of them shows."""
        with self._changing():
            return statements.execute(self, text)

    def register(self, name: str, query: str | BuiltQuery) -> None:
        """Put a query into the catalog and let it run."""
        with self._changing():
            statements.register(self, name, query)

    def prepare(self, statement: syntax.Statement) -> None:
        """See that a statement can be performed here."""
        self.registry.prepare(statement)

    def take_in(self, outcome: Outcome, text: str, before: QueryDefinition | None) -> None:
        """Note what a statement did to the catalog."""
        del before
        self.registry.take_in(outcome, text)

    def apply(self) -> None:
        """Start the queries that have been noted."""
        self.registry.apply()

    def is_running(self, query: str) -> bool:
        """A query is computed."""
        return self.registry.batch_of(query) is not None

    def start(self, query: str) -> None:
        """Let a stopped query run, with empty windows."""
        with self._changing():
            self.registry.start(query)

    def stop(self, query: str) -> None:
        """Let a query run no more, and free its state."""
        with self._changing():
            self.registry.stop(query)

    def replan(self, query: str, *, later: bool = False) -> Replanned:
        """Refused: there is one plan for a query.

        Raises:
            NotSupported: Always.
        """
        del query, later
        msg = "a connection in this process plans a query once, when it is registered"
        hint = "penstock.connect() runs it on Spark, where REPLAN and replan() choose another plan."
        raise NotSupported(msg, hint=hint)

    def explain(self, query: QueryDefinition) -> str:
        """The plan of a query, as it runs or would."""
        with self._lock:
            return self.registry.explain(query)

    def exact_from(self, query: str) -> int:
        """The instant from which on a query answers as if it had always run."""
        batch = self.registry.batch_of(query)
        return BEGINNING if batch is None else batch.exact.get(query, BEGINNING)

    def operators(self, query: str) -> pa.Table:
        """Work and state of each operator of a query."""
        batch = self.registry.batch_of(query)
        assert batch is not None
        with self._lock:
            lanes = [lane.reports() for lane in batch.lanes.lanes]
        below = sorted(batch.graph.below(batch.graph.results[query]))
        return operator_table([[lane[number] for lane in lanes] for number in below])

    def answer(self, query: str) -> LocalAnswer | None:
        """The results of a query that runs."""
        batch = self.registry.batch_of(query)
        return None if batch is None else LocalAnswer(batch, query, self._lock)

    def ask(self, text: str) -> OneTimeAnswer:
        """Answer a question from what is retained."""
        with self._lock:
            view = LocalView(self)
            return asked(text, self.session, view, view.tables)

    def reading_note(self, plan: Plan) -> str:
        """The rows that a query would read if it were asked once, now, and who would read them."""
        with self._lock:
            return reading_note(plan, self.session, LocalView(self))

    def failures(self, query: str) -> dict[str, int]:
        """The number of failures of a query's expressions, by function."""
        batch = self.registry.batch_of(query)
        now = Counter[str]() if batch is None else batch.failures(query).by_function
        return dict(self.failed_before.get(query, Counter()) + now)

    def give_stream(
        self, name: str, frame: object, watermark: str | None, options: Mapping[str, str]
    ) -> NoReturn:
        """Refused: there is no Spark.

        Raises:
            NotSupported: Always.
        """
        del frame, watermark, options
        msg = f'stream "{name}": a connection in this process has no Spark, which reads DataFrames'
        hint = "penstock.connect(spark=session) has; or declare it, and db.insert brings rows."
        raise NotSupported(msg, hint=hint)

    def give_relation(self, name: str, frame: object, options: Mapping[str, str]) -> NoReturn:
        """Refused: there is no Spark.

        Raises:
            NotSupported: Always.
        """
        del frame, options
        msg = f'relation "{name}": a connection in this process has no Spark to read a DataFrame'
        hint = "penstock.connect(spark=session) has; or db.update(name, insert=frame.toArrow())."
        raise NotSupported(msg, hint=hint)

    def insert(self, stream: StreamDefinition, rows: pa.Table) -> None:
        """Take in rows of a stream."""
        if is_generated(stream):
            msg = f'stream "{stream.name}" is generated: rows cannot be inserted'
            raise QueryError(msg, hint="Declare a stream without USING for rows from Python.")
        with self._changing():
            self.feeding.insert(stream.name, rows)

    def insert_files(self, stream: StreamDefinition, files: Sequence[FileShare], hold: int) -> None:
        """Take in rows of files together.

        Args:
            stream: Their stream.
            files: The files.
            hold: The earliest row of the stream in files that wait: its watermark stays there.
        """
        with self._changing():
            self.feeding.insert_files(stream, files, hold)

    def update(self, relation: RelationDefinition, changes: pa.Table) -> None:
        """Change a relation."""
        with self._changing():
            self.feeding.update(relation.name, changes)

    def advance(self, stream: StreamDefinition, instant: int) -> None:
        """Let no row of a stream before an instant come any more."""
        with self._changing():
            self.feeding.advance(stream.name, instant)

    def late(self, source: StreamDefinition | RelationDefinition) -> pa.Table:
        """Rows that were not taken in as they came."""
        return self.feeding.aside.of(source.name, source.schema)

    def progress(self) -> dict[str, Any]:
        """The progress of streams and queries, and what is remembered."""
        with self._lock:
            return progress_of(self)

    def wait_idle(self) -> None:
        """Take in what is generated, and let lanes with a budget do what they have left undone."""
        with self._changing():
            self._generate()
            for batch in self.feeding.batches:
                batch.work_off()

    def wait_for_news(self, after: int, timeout: float) -> bool:
        """Wait until a call of another thread has changed something; False if the time is over."""
        with self._news:
            return self._news.wait_for(lambda: self.is_closed or self.position > after, timeout)

    def finish(self) -> None:
        """Take it that the input has come to its end."""
        with self._changing():
            self._generate()
            self.is_finished = True
            self.feeding.finish()

    def _generate(self) -> None:
        """Take in the rows of streams that are generated; all else was taken in when it came."""
        for stream, rows in generated_streams(self):
            self.feeding.insert(stream.name, rows)

    def resume(self) -> None:
        """Nothing has to be done: what fails here fails in the call that caused it."""

    def sink(self, name: str, query: str, function: Callable[[pa.Table, int], object]) -> NoReturn:
        """Refused: there are no commits whose number could be remembered.

        Raises:
            NotSupported: Always.
        """
        del name, query, function
        msg = "a connection in this process has no commits that a sink could go by"
        raise NotSupported(msg, hint="db[query].on_change(function) calls a function.")

    def on_commit(self, function: Callable[[Any], None]) -> NoReturn:
        """Refused: there are no commits.

        Raises:
            NotSupported: Always.
        """
        del function
        msg = "a connection in this process has no commits"
        raise NotSupported(msg, hint="db[query].on_change(function) calls a function.")

    def frame(self, table: pa.Table) -> NoReturn:
        """Refused: there is no Spark.

        Raises:
            NotSupported: Always.
        """
        del table
        msg = "a connection in this process has no Spark to make a DataFrame with"
        raise NotSupported(msg, hint='Use format="pandas", and spark.createDataFrame.')

    def save(self, path: Path) -> None:
        """Write everything into a folder."""
        with self._lock:
            save_engine(self, path)

    def close(self) -> None:
        """Run no more, and forget everything."""
        with self._changing():
            self.is_closed = True
            self.feeding = Feeding(self.feeding.options)
            self.registry = Registry(self.feeding)
