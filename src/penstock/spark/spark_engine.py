"""The engine on Spark: queries of a pipeline that runs in the background, its home, its sinks."""

from __future__ import annotations

import shutil
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.connection import statements
from penstock.connection.operator_table import operator_table
from penstock.connection.questions.one_time_query import asked, reading_note
from penstock.connectors.memory import is_inserted
from penstock.cql import syntax
from penstock.errors import NotSupported, PipelineFailed, QueryError
from penstock.pipeline.replanning import due
from penstock.planner.statistics.measuring import measured
from penstock.spark.child_session import frame_of
from penstock.spark.executors import cores_to_come, is_cluster
from penstock.spark.explaining import explained_query
from penstock.spark.frame_sources import give_relation, give_stream, note_statement
from penstock.spark.groups import first_record_of
from penstock.spark.home_view import view_of
from penstock.spark.insert_limit import InsertLimit
from penstock.spark.pipeline import Pipeline
from penstock.spark.pipeline_runner import PipelineRunner
from penstock.spark.progress import progress_of
from penstock.spark.question_jobs import QuestionJobs
from penstock.spark.registering import Registrar
from penstock.spark.relations import Relations
from penstock.spark.sinks import Sinks
from penstock.spark.spark_answer import SparkAnswer
from penstock.spark.table_columns import with_table_columns
from penstock.store.rejected_rows import read_rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from penstock.algebra.plan import Plan
    from penstock.builder import QueryBuilder as BuiltQuery
    from penstock.catalog.definitions import (
        Catalog,
        QueryDefinition,
        RelationDefinition,
        StreamDefinition,
    )
    from penstock.connection.connection import Connection
    from penstock.connection.engine import Replanned
    from penstock.connection.questions.one_time_answer import OneTimeAnswer
    from penstock.pipeline.plans import QueryGroup
    from penstock.planner.statistics.statistics import Statistics
    from penstock.session import Outcome, Session
    from penstock.spark.program import Program
    from penstock.store.layout import Home
    from penstock.store.records import Record


TAKE_OVER_SECONDS = 5.0
"""After how long it is tried again to let a new plan take over: micro-batches wait for that."""


def spark_engine(db: Connection) -> SparkEngine:
    """The engine of a connection that `penstock.connect` has opened."""
    assert isinstance(db.engine, SparkEngine)
    return db.engine


class SparkEngine:
    """Runs queries on Spark; the pipeline runs as soon as a query reads streams.

    Attributes:
        spark: Our own session of Spark; DataFrames are given out in the user's.
        home: The folder of the pipeline.
        running: The pipeline.
        sinks: What CREATE SINK declares, and functions that are called with results.
    """

    reopening = "close() it; penstock.connect() opens its home again, and the pipeline goes on."

    def __init__(
        self,
        spark: SparkSession,
        users: SparkSession,
        home: Home,
        lanes: int | None,
        *,
        is_temporary: bool,
    ) -> None:
        context = spark.sparkContext
        cores = int(context.defaultParallelism) if lanes else cores_to_come(context)
        self.spark = spark
        self._users = users
        self.home = home
        self.is_closed = False
        self._is_temporary = is_temporary
        # Where executors may join, lanes are more than tasks, so that these can become more.
        most = lanes or (2 * cores if is_cluster(context) else cores)
        self.running = PipelineRunner(Pipeline(spark, home, min(most, cores), most))
        if lanes is not None:
            self.running.change_lanes(lanes)
        self._registrar = Registrar(self.running, home, most)
        self._first: dict[int, int] = {}
        self._relations = Relations()
        self._inserts = InsertLimit(home, self.running)
        self._taking_over = threading.Lock()
        self._tried_to_take_over = -TAKE_OVER_SECONDS
        self.running.pipeline.listeners.append(self._watch_plans)
        self.running.open()
        self.sinks = Sinks(self)

    @property
    def title(self) -> str:
        """The name of the engine, for people."""
        return f"home {self.home.path}"

    @property
    def program(self) -> Program:
        """The statements, and the queries that run."""
        return self._registrar.program

    @property
    def session(self) -> Session:
        """The catalog and the settings."""
        return self.program.session

    @property
    def reads_sources(self) -> bool:
        """A pipeline reads streams and relations from where they are declared to be."""
        return True

    @property
    def catalog(self) -> Catalog:
        """All declarations."""
        return self.program.session.catalog

    @property
    def is_finished(self) -> bool:
        """The input has come to its end."""
        return self.running.is_over

    @property
    def failure(self) -> str | None:
        """Why the pipeline has stopped, if it has failed."""
        return self.running.failure

    @property
    def trouble(self) -> str | None:
        """Why the last micro-batch failed, while it is tried again."""
        return self.running.pipeline.trouble

    @property
    def position(self) -> int:
        """The number of the newest record."""
        return self.running.record.number

    def execute(self, text: str) -> pa.Table | None:
        """Run statements; the rows that the last of them shows."""
        text = with_table_columns(self.spark, text)
        with self.running.changing:
            since = self._registrar.next_group
            shown = statements.execute(self, text)
        self.sinks.look()
        self._registrar.wait_caught_up(since)
        return shown

    def register(self, name: str, query: str | BuiltQuery) -> None:
        """Put a query into the catalog and let it run."""
        with self.running.changing:
            since = self._registrar.next_group
            statements.register(self, name, query)
        self._registrar.wait_caught_up(since)

    def prepare(self, statement: syntax.Statement) -> None:
        """Let the old query of a name end before a new one begins."""
        self._registrar.prepare(statement)

    def take_in(self, outcome: Outcome, text: str, before: QueryDefinition | None) -> None:
        """Note what a statement did to the catalog."""
        self.program.take_in(outcome, text, before)
        if outcome.name is not None or isinstance(outcome.statement, syntax.Drop):
            note_statement(self, outcome.statement)

    def apply(self) -> None:
        """Let the pipeline run what has been noted."""
        self._registrar.apply()

    def is_running(self, query: str) -> bool:
        """A query is computed."""
        return self.program.group_of(query) is not None

    def start(self, query: str) -> None:
        """Let a stopped query run, with empty windows."""
        with self.running.changing:
            since = self._registrar.next_group
            self._registrar.start(query)
        self._registrar.wait_caught_up(since)

    def stop(self, query: str) -> None:
        """Let a query run no more, and free its state."""
        with self.running.changing:
            self._registrar.stop(query)

    def replan(self, query: str, *, later: bool = False) -> Replanned:
        """Choose a plan anew, by what was measured; `later`: as soon as anything has been."""
        with self.running.changing:
            return self._registrar.replan(query, self._measured(), later=later)

    def explain(self, query: QueryDefinition) -> str:
        """The plan of a query, as it runs or would."""
        return explained_query(query, self.program, self.running.pipeline)

    def exact_from(self, query: str) -> int:
        """The instant from which on a query answers as if it had always run."""
        return self.program.exact_from(query)

    def operators(self, query: str) -> pa.Table:
        """Work and state of each operator of the query's group, as last reported."""
        group = self.program.group_of(query)
        assert group is not None
        found: dict[tuple[str, int], list[Any]] = {}
        for lane, reports in self.running.pipeline.status.operators.items():
            number, fragment, _ = lane.split(".")
            if int(number) == group.number:
                for place, report in enumerate(reports):
                    found.setdefault((fragment, place), []).append(report)
        return operator_table(found.values())

    def answer(self, query: str) -> SparkAnswer | None:
        """The results of a query that runs."""
        group = self.program.group_of(query)
        if group is None:
            return None
        return SparkAnswer(self, query, group, self.program.definition(query).plan)

    def ask(self, text: str) -> OneTimeAnswer:
        """Answer a question from what is retained."""
        ledger = self.running.pipeline.ledger
        view = view_of(self.home, ledger.plan, ledger.record.plan)
        try:
            return asked(text, self.session, view, view.tables, self._question_jobs())
        finally:
            view.release()

    def reading_note(self, plan: Plan) -> str:
        """The rows that a query would read if it were asked once, now, and who would read them."""
        ledger = self.running.pipeline.ledger
        view = view_of(self.home, ledger.plan, ledger.record.plan)
        try:
            return reading_note(plan, self.session, view, self._question_jobs())
        finally:
            view.release()

    def _question_jobs(self) -> QuestionJobs:
        return QuestionJobs(self.spark.sparkContext, self.session.settings.store.ask_job_rows)

    def failures(self, query: str) -> dict[str, int]:
        """The number of failures of a query's expressions, by function."""
        return dict(self.running.record.failures.get(query, {}))

    def _measured(self) -> Statistics:
        return measured(self.running.pipeline.status.operators)

    def _watch_plans(self, record: Record) -> None:
        """After each commit: plan anew, and let new plans take over, what waits, in a thread."""
        del record
        is_time = time.monotonic() - self._tried_to_take_over >= TAKE_OVER_SECONDS
        if not is_time or self._taking_over.locked():
            return
        is_due = self.program.ready or due(self.running.pipeline.ledger)
        if is_due or self._registrar.may_replan_waiting(self._measured()):
            threading.Thread(target=self._take_over, name="penstock planning", daemon=True).start()

    def _take_over(self) -> None:
        with self._taking_over, self.running.changing:
            self._tried_to_take_over = time.monotonic()
            if not self.is_closed and not self.is_finished:
                # What goes wrong is told to whoever waits for results.
                with suppress(PipelineFailed):
                    self._registrar.let_take_over()
                    self._registrar.let_take_places()
                    self._registrar.replan_waiting(self._measured())

    def give_stream(
        self, name: str, frame: object, watermark: str | None, options: Mapping[str, str]
    ) -> None:
        """Let a stream be a DataFrame."""
        give_stream(self, name, frame, watermark, options)

    def give_relation(self, name: str, frame: object, options: Mapping[str, str]) -> None:
        """Let a relation be a DataFrame."""
        give_relation(self, name, frame, options)

    def insert(self, stream: StreamDefinition, rows: pa.Table) -> None:
        """Write rows down, to be taken in together."""
        if not is_inserted(stream.format):
            msg = f'stream "{stream.name}" is read from {stream.format}: rows cannot be inserted'
            raise QueryError(msg, hint="Declare a stream without USING for rows from Python.")
        if len(rows):
            self._inserts.bring(stream.name, rows, may_wait=not self.sinks.calls_here)

    def update(self, relation: RelationDefinition, changes: pa.Table) -> None:
        """Change a relation."""
        if not is_inserted(relation.format):
            msg = (
                f'relation "{relation.name}" is read from {relation.format}: that decides what it'
                " holds"
            )
            raise QueryError(msg, hint="Change it there, or declare a relation without USING.")
        with self.running.changing, self.running.pipeline.lock:
            self._relations.update(self.running.pipeline.ledger, relation, changes)
            self.running.tell_timeless()

    def advance(self, stream: StreamDefinition, instant: int) -> None:
        """Let no row of a stream before an instant come any more."""
        self.running.drain()
        with self.running.changing:
            self.running.advance(stream.name, instant)

    def late(self, source: StreamDefinition | RelationDefinition) -> pa.Table:
        """Rows of a stream that were not taken in."""
        if source.kind == "relation":
            msg = f'of relation "{source.name}" no overdue changes are kept on Spark'
            hint = "A change takes effect at the clock of each query, if it is dated before it."
            raise NotSupported(msg, hint=hint)
        return read_rejected(self.home, self.running.record.aside, source.name, source.schema)

    def progress(self) -> dict[str, Any]:
        """The progress of streams and queries, and what is remembered."""
        names = [one.name for one in self.catalog.of_kind("query")]
        return progress_of(self.program, self.running, names)

    def wait_idle(self) -> None:
        """Wait until all rows have been taken in."""
        with self.sinks.let_in():
            self.running.drain()
            self.running.tell_watermarks()

    def wait_for_news(self, after: int, timeout: float) -> bool:
        """Wait for a record after one; False if the time is over."""
        return self.running.wait_for_news(after, timeout)

    def finish(self) -> None:
        """Take it that the input has come to its end."""
        self.running.end()
        self.sinks.wait_written()

    def resume(self) -> None:
        """Let the pipeline run again after a failure."""
        self.running.resume()

    def sink(self, name: str, query: str, function: Callable[[pa.Table, int], object]) -> None:
        """Call a function with the results of each commit, and the number of its record."""
        self.sinks.call(name, query, function)

    def on_commit(self, function: Callable[[Record], None]) -> None:
        """Call a function with each record after it was committed."""
        self.running.pipeline.listeners.append(function)

    def frame(self, table: pa.Table) -> Any:
        """A table as a DataFrame of Spark's."""
        return frame_of(self._users, table)

    def save(self, path: Path) -> NoReturn:
        """Refused: everything is in the home.

        Raises:
            NotSupported: Always.
        """
        del path
        msg = f"a pipeline is saved all along, in its home {self.home.path}"
        raise NotSupported(msg, hint="penstock.connect(home=...) goes on from there.")

    def close(self) -> None:
        """Stop the pipeline and give the home free; Spark stays up."""
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

    def first_record(self, group: QueryGroup, query: str) -> int:
        """The record by which a query of a group was registered; it may be gone."""
        first = group.numbers_of(query)[0]
        if first not in self._first:
            self._first[first] = first_record_of(self.home, group, query)
        return self._first[first]
