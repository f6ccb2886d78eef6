"""Engines: who runs the queries of a connection, and how their results are read.

A connection knows its engine by these protocols only. It may be in this process, in processes that
Spark starts, or on another machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
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
    from penstock.connection.questions.one_time_answer import OneTimeAnswer
    from penstock.results.settling import ChangingContent, Elements
    from penstock.session import Session
    from penstock.store.result_reader import Commit


@dataclass(frozen=True)
class Replanned:
    """The outcome of planning a query anew.

    Attributes:
        text: The same for people.
        is_new: Whether there is another plan, since now.
        waits: Whether nothing has been measured that a plan could be chosen by.
    """

    text: str
    is_new: bool = False
    waits: bool = False


class Reader(Protocol):
    """Results of a query, folded commit by commit."""

    @property
    def fold(self) -> Elements:
        """All that was read, folded."""

    def read(self) -> Iterator[Commit]:
        """The commits since the last call that say something, oldest first.

        Raises:
            DataError: Some of them are not kept any more.
        """

    def catch_up(self) -> None:
        """Take in all that is there, whatever is left of it."""


class Answer(Protocol):
    """The results of a query as it runs, from when it was started until it is stopped."""

    @property
    def run(self) -> int:
        """A number of its own: a query that is started again has another answer."""

    @property
    def plan(self) -> Plan:
        """The query's plan."""

    @property
    def clock(self) -> int:
        """Results for instants before this are final."""

    @property
    def earliest(self) -> int:
        """Of instants before this nothing is kept."""

    @property
    def is_over(self) -> bool:
        """No further results will come."""

    def content(self) -> ChangingContent:
        """An empty content of the query, if its result is a relation."""

    def reader(self, fold: Callable[[], Elements]) -> Reader:
        """A reader that begins with the first results that are kept."""

    def content_at(self, instant: int) -> tuple[pa.Array, ...]:
        """The rows that hold at an instant, which is final and kept."""


class Engine(Protocol):
    """Runs queries: takes statements, plans and rows, and gives the elements of results.

    All methods may be called from any thread. Names are those of the catalog.
    """

    @property
    def title(self) -> str:
        """The name of the connection, for people."""

    @property
    def reopening(self) -> str:
        """A sentence on how to go on once it is closed or its input has ended."""

    @property
    def session(self) -> Session:
        """The catalog and the settings."""

    @property
    def catalog(self) -> Catalog:
        """All declarations."""

    @property
    def reads_sources(self) -> bool:
        """Rows of streams and relations with a format come from there, and not by insert."""

    @property
    def is_closed(self) -> bool:
        """The engine has ended."""

    @property
    def is_finished(self) -> bool:
        """The input has come to its end."""

    @property
    def failure(self) -> str | None:
        """Why it does not go on, if it has failed."""

    @property
    def trouble(self) -> str | None:
        """Why the last try to go on failed, while there are others."""

    @property
    def position(self) -> int:
        """The number of the newest commit."""

    def execute(self, text: str) -> pa.Table | None:
        """Run statements; the rows that the last of them shows."""

    def register(self, name: str, query: str | BuiltQuery) -> None:
        """Put a query into the catalog and let it run."""

    def is_running(self, query: str) -> bool:
        """A query is computed."""

    def start(self, query: str) -> None:
        """Let a stopped query run, with empty windows."""

    def stop(self, query: str) -> None:
        """Let a query run no more, and free its state."""

    def replan(self, query: str, *, later: bool = False) -> Replanned:
        """Choose a plan anew, by what was measured; `later`: as soon as anything has been."""

    def explain(self, query: QueryDefinition) -> str:
        """The plan of a query, as it runs."""

    def exact_from(self, query: str) -> int:
        """The instant from which on a query that runs answers as if it had always run.

        BEGINNING: all answers are exact; INFINITY: it needs rows that were not kept.
        """

    def operators(self, query: str) -> pa.Table:
        """Work and state of each operator of a query."""

    def answer(self, query: str) -> Answer | None:
        """The results of a query that runs."""

    def ask(self, text: str) -> OneTimeAnswer:
        """Answer a question, once."""

    def reading_note(self, plan: Plan) -> str:
        """The rows that a query would read if it were asked once, now, and who would read them."""

    def failures(self, query: str) -> dict[str, int]:
        """The number of failures of a query's expressions, by function."""

    def give_stream(
        self, name: str, frame: object, watermark: str | None, options: Mapping[str, str]
    ) -> None:
        """Let a stream be a DataFrame of Spark's."""

    def give_relation(self, name: str, frame: object, options: Mapping[str, str]) -> None:
        """Let a relation be a DataFrame of Spark's."""

    def insert(self, stream: StreamDefinition, rows: pa.Table) -> None:
        """Bring rows, which have been checked against the declaration."""

    def update(self, relation: RelationDefinition, changes: pa.Table) -> None:
        """Change a relation: rows with `_sign` and, if they are dated, `_at`."""

    def advance(self, stream: StreamDefinition, instant: int) -> None:
        """Let no row of a stream before an instant come any more."""

    def late(self, source: StreamDefinition | RelationDefinition) -> pa.Table:
        """Rows that were not taken in as they came."""

    def progress(self) -> dict[str, Any]:
        """The progress of streams and queries, and what is remembered."""

    def wait_idle(self) -> None:
        """Wait until all rows have been taken in."""

    def wait_for_news(self, after: int, timeout: float) -> bool:
        """Wait for a commit after one; False if the time is over."""

    def finish(self) -> None:
        """Take it that the input has come to its end."""

    def resume(self) -> None:
        """Go on after a failure."""

    def sink(self, name: str, query: str, function: Callable[[pa.Table, int], object]) -> None:
        """Call a function with the results of each commit."""

    def on_commit(self, function: Callable[[Any], None]) -> None:
        """Call a function after each commit."""

    def frame(self, table: pa.Table) -> Any:
        """A table as a DataFrame of Spark's."""

    def save(self, path: Path) -> None:
        """Write everything into a folder."""

    def close(self) -> None:
        """Run no more."""
