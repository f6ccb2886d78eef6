"""The connection to a pipeline: CQL statements and rows in, results out, on Spark."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.incoming import changed_rows, source_of, table_of, units_of
from penstock.connection.showing import as_html, as_text, overview
from penstock.errors import QueryError
from penstock.pipeline.folders import is_brought
from penstock.pipeline.plans import is_leftover
from penstock.pipeline.replanning import due
from penstock.planner.statistics.measuring import measured
from penstock.runtime.arriving_columns import read_columns
from penstock.spark.groups import first_record_of
from penstock.spark.handle import Query
from penstock.spark.pipeline import Pipeline, PipelineFailed
from penstock.spark.pipeline_runner import PipelineRunner
from penstock.spark.progress import progress_of
from penstock.spark.registering import Registrar
from penstock.spark.relations import Relations
from penstock.spark.sinks import Sinks
from penstock.store.inserted_rows import bring
from penstock.store.rejected_rows import aside_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pyspark.sql import SparkSession

    from penstock.connection.moments import Moment
    from penstock.pipeline.plans import Group
    from penstock.planner.statistics.statistics import Statistics
    from penstock.spark.program import Program
    from penstock.store.layout import Home
    from penstock.store.records import Record


TAKE_OVER_SECONDS = 5.0
"""After how long it is tried again to let a new plan take over: micro-batches wait for that."""


class Connection:
    """Streams, relations and queries of a pipeline on Spark; `penstock.connect()` makes one.

    The pipeline runs in the background as soon as a query reads streams. All methods may be
    called from any thread.

    Attributes:
        spark: The session of Spark.
        home: The folder of the pipeline.
        running: The pipeline.
        sinks: What CREATE SINK declares, and functions that are called with results.
    """

    def __init__(
        self, spark: SparkSession, home: Home, lanes: int | None, *, is_temporary: bool
    ) -> None:
        cores = int(spark.sparkContext.defaultParallelism)
        self.spark = spark
        self.home = home
        self.is_closed = False
        self.is_finished = False
        self._is_temporary = is_temporary
        self.running = PipelineRunner(Pipeline(spark, home, min(lanes or cores, cores)))
        if lanes is not None:
            self.running.change_lanes(lanes)
        self._registrar = Registrar(self.running, home, lanes or cores)
        self._handles: dict[str, Query] = {}
        self._first: dict[int, int] = {}
        self._relations = Relations()
        self._bringing = threading.Lock()
        self._taking_over = threading.Lock()
        self._tried_to_take_over = -TAKE_OVER_SECONDS
        self.running.pipeline.listeners.append(self._watch_plans)
        self.running.open()
        self.sinks = Sinks(self)

    @property
    def program(self) -> Program:
        """The statements, and the queries that run."""
        return self._registrar.program

    def execute(self, text: str) -> pa.Table | None:
        """Run statements; the rows of the last SHOW, DESCRIBE, EXPLAIN or REPLAN.

        The queries that CREATE QUERY registers run from now on: they see the rows that are taken
        in from then on, and relations as they are. Queries of one call share operators.

        Raises:
            PenstockError: A statement is at fault; those before it have taken effect.
            PipelineFailed: A stream cannot be read as it is declared; nothing has taken effect.
        """
        with self.running.changing:
            self._require_running()
            shown = self._registrar.execute(text)
        self.sinks.look()
        return shown

    def query(self, name: str) -> Query:
        """A query of the catalog.

        Raises:
            UnknownName: There is none of that name.
        """
        self.require_open()
        found = self.program.definition(name)
        return self._handles.setdefault(found.name, Query(self, found.name))

    def __getitem__(self, name: str) -> Query:
        """The same as `query`."""
        return self.query(name)

    @property
    def queries(self) -> dict[str, Query]:
        """All queries of the catalog by name, also the stopped ones."""
        self.require_open()
        names = [one.name for one in self.program.session.catalog.of_kind("query")]
        return {name: self.query(name) for name in names if not is_leftover(name)}

    def start_query(self, name: str) -> None:
        """Let a stopped query run; `Query.start` calls this."""
        with self.running.changing:
            self._require_running()
            self._registrar.start(name)

    def stop_query(self, name: str) -> None:
        """Let a query run no more; `Query.stop` calls this."""
        with self.running.changing:
            self._require_running()
            self._registrar.stop(name)

    def replan_query(self, name: str) -> bool:
        """Plan a query anew; `Query.replan` calls this."""
        with self.running.changing:
            self._require_running()
            return self._registrar.replan(name, self._measured()).is_new

    def _measured(self) -> Statistics:
        return measured(self.running.pipeline.status.operators)

    def _watch_plans(self, record: Record) -> None:
        """After each commit: plan anew, and let new plans take over, what waits, in a thread."""
        del record
        is_time = time.monotonic() - self._tried_to_take_over >= TAKE_OVER_SECONDS
        if not is_time or self._taking_over.locked():
            return
        if due(self.running.pipeline.ledger) or self._registrar.has_wishes(self._measured()):
            threading.Thread(target=self._take_over, name="penstock planning", daemon=True).start()

    def _take_over(self) -> None:
        with self._taking_over, self.running.changing:
            self._tried_to_take_over = time.monotonic()
            if not self.is_closed and not self.is_finished:
                # What goes wrong is told to whoever waits for results.
                with suppress(PipelineFailed):
                    self._registrar.let_take_over()
                    self._registrar.grant_wishes(self._measured())

    def insert(self, stream: str, rows: object) -> int:
        """Bring rows of a stream: all of them, or none if one cannot be read as declared.

        They are written down before this returns, and taken in soon after, together. As long as
        no query reads the stream, they wait.

        Args:
            stream: Its name.
            rows: Tuples with the values in the order of the columns, or dicts; or a table: pyarrow,
                pandas, Polars, anything with `__arrow_c_stream__`. Columns of a table are found by
                name, others are not looked at.

        Returns:
            How many rows were brought.

        Raises:
            DataError: Rows, columns or values are at fault.
            UnknownName: There is no such stream.
            QueryError: The stream is read from elsewhere.
        """
        self._require_running()
        found = source_of(self.program.session.catalog, stream, "stream")
        assert isinstance(found, StreamDefinition)
        if not is_brought(found):
            msg = f'stream "{found.name}" is read from {found.format}: rows cannot be inserted'
            raise QueryError(msg, hint="Declare a stream without USING for rows from Python.")
        source = f'stream "{found.name}"'
        columns = read_columns(source, found.schema, table_of(source, found.schema, rows))
        table = pa.table(list(columns), names=list(found.schema.names))
        if len(table):
            with self._bringing:
                bring(self.home, found.name, table)
        return len(table)

    def update(
        self, relation: str, *, insert: object = (), delete: object = (), at: Moment | None = None
    ) -> None:
        """Change a relation: rows that enter and rows that leave, together.

        Args:
            relation: Its name.
            insert: Rows as for `insert`.
            delete: Rows that are there.
            at: When it takes effect: not before the clock of a query. None: at the clock of each
                query; before the first rows of streams, it is what the relation held all along.

        Raises:
            DataError: Rows or values are at fault, or a row would leave that is not there.
            QueryError: The relation is read from somewhere.
            UnknownName: There is no such relation.
        """
        self._require_running()
        catalog = self.program.session.catalog
        found = source_of(catalog, relation, "relation")
        assert isinstance(found, RelationDefinition)
        if found.format not in (None, "memory"):
            msg = f'relation "{found.name}" is read from {found.format}: that decides what it holds'
            raise QueryError(msg, hint="Change it there, or declare a relation without USING.")
        table = changed_rows(found, insert, delete, at, units_of(catalog))
        with self.running.changing, self.running.pipeline.lock:
            self._relations.update(self.running.pipeline.ledger, found, table)
            self.running.tell_timeless()

    def wait_idle(self) -> None:
        """Wait until all rows that are there have been taken in, and their results are there.

        Raises:
            PipelineFailed: The pipeline has stopped because of an error.
        """
        self.require_open()
        if not self.is_finished:
            self.running.drain()
            self.running.settle()

    def finish(self) -> None:
        """The input has come to its end: all that is left becomes final, and can still be read.

        When the home is opened again, the pipeline goes on as if the input had not ended.
        """
        self._require_running()
        self.running.end()
        self.is_finished = True
        self.sinks.settle()

    def resume(self) -> None:
        """Let the pipeline run again after a failure."""
        self._require_running()
        self.running.resume()

    def progress(self) -> dict[str, Any]:
        """How far streams and queries have come, and what is remembered for them."""
        self.require_open()
        return progress_of(self.program, self.running, list(self.queries))

    def late(self, stream: str) -> pa.Table:
        """The rows of a stream that were not taken in, oldest first, with the `_reason`.

        They were late, have no event time, or could not be read; then there is only their `_raw`
        text. `_position` says in which file a row stands, where that is known.

        Raises:
            UnknownName: There is no such stream.
        """
        self.require_open()
        found = source_of(self.program.session.catalog, stream, "stream")
        return aside_rows(self.home, self.running.record.aside, found.name, found.schema)

    def sink(self, name: str, query: str, function: Callable[[pa.Table, int], object]) -> None:
        """Call a function with the results of each commit, and the number of its record.

        It goes on where a function of the same name has come to in this home, also one of an
        earlier process. After a crash, or an error of the function, the same table comes again
        under the same number: at least once.

        Raises:
            QueryError: There is a sink of that name.
            UnknownName: There is no such query.
        """
        self.require_open()
        self.sinks.call(name, query, function)

    def on_commit(self, function: Callable[[Record], None]) -> None:
        """Call a function with each record after it was committed; the pipeline waits for it."""
        self.require_open()
        self.running.pipeline.listeners.append(function)

    def close(self) -> None:
        """Stop the pipeline and give the home free; Spark stays up. Closing twice is fine."""
        if self.is_closed:
            return
        self.sinks.close()
        self.is_closed = True
        try:
            self.running.close()
        finally:
            self.home.close()
            if self._is_temporary:
                shutil.rmtree(self.home.path, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """What is declared."""
        if self.is_closed:
            return "penstock connection, closed"
        return f"penstock connection, home {self.home.path}\n{as_text(self._overview())}"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return f"<p>{self!r}</p>" if self.is_closed else as_html(self._overview())

    def _overview(self) -> pa.Table:
        return overview([one for one in self.program.session.catalog if not is_leftover(one.name)])

    def first_record(self, group: Group) -> int:
        """The record by which a group was registered; it may be gone."""
        if group.number not in self._first:
            self._first[group.number] = first_record_of(self.home, group)
        return self._first[group.number]

    def require_open(self) -> None:
        """See that the connection is open.

        Raises:
            QueryError: It is closed.
        """
        if self.is_closed:
            msg = "the connection is closed"
            raise QueryError(msg, hint="penstock.connect() opens a new one.")

    def _require_running(self) -> None:
        self.require_open()
        if self.is_finished:
            msg = "the input has come to its end: finish() was called"
            hint = "close() it and open the home again, and the pipeline goes on."
            raise QueryError(msg, hint=hint)
