"""The connection: CQL statements and rows in, answers out, whatever engine runs the queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.answer_tables import Results
from penstock.connection.incoming import changed_rows, declared_rows, source_of, units_of
from penstock.connection.moments import instant_of
from penstock.connection.new_queries import unused_name, warned_of_new
from penstock.connection.progress_times import with_times
from penstock.connection.query import Query
from penstock.connection.showing import headlines, overview
from penstock.errors import QueryError
from penstock.results.preview import as_html, as_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import pyarrow as pa

    from penstock.builder import QueryBuilder as BuiltQuery
    from penstock.connection.engine import Engine
    from penstock.connection.moments import Moment
    from penstock.connection.questions.one_time_answer import OneTimeAnswer


class Connection:
    """Streams, relations and queries; `penstock.connect()` and `connect_inline()` make one.

    What is unwise about a query comes as a `QueryWarning` when it is created.

    Queries of one `execute` share their operators. A query sees the rows that come after it was
    registered, before that those that its streams are declared to retain, and relations as they
    are then. All methods may be called from any thread.

    Attributes:
        engine: What runs the queries.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._handles: dict[str, Query] = {}

    @property
    def is_closed(self) -> bool:
        """`close` was called."""
        return self.engine.is_closed

    @property
    def is_finished(self) -> bool:
        """The input has come to its end: `finish` was called."""
        return self.engine.is_finished

    @property
    def failure(self) -> str | None:
        """Why queries do not go on, if what computes them has failed; `resume` lets them."""
        self.require_open()
        return self.engine.failure

    @property
    def trouble(self) -> str | None:
        """Why queries did not go on when that was last tried, while it is tried again."""
        self.require_open()
        return self.engine.trouble

    def execute(self, text: str) -> Results | None:
        """Run statements; the rows of the last SELECT, SHOW, DESCRIBE, EXPLAIN or REPLAN.

        A SELECT on its own is asked once, as by `ask`.

        The queries that CREATE QUERY registers run from now on; `db["name"]` reads them.

        Raises:
            PenstockError: A statement is at fault; those before it have taken effect.
            PipelineFailed: A stream cannot be read as it is declared; nothing has taken effect.
        """
        self.require_running()
        with warned_of_new(self.engine):
            shown = self.engine.execute(text)
        return None if shown is None else Results.of(shown)

    def query(self, query: str | BuiltQuery, name: str | None = None) -> Query:
        """Register a query; it runs from now on, until it is stopped or dropped.

        Args:
            query: A query as text, without CREATE QUERY; or one that `penstock.builder` made.
            name: Its name in the catalog; without one it is `query_1`, `query_2`, ...

        Raises:
            PenstockError: The text is not one query, the query is at fault, or the name is taken.
        """
        self.require_open()
        name = unused_name(self.engine) if name is None else name
        if self.is_finished and isinstance(query, str):
            # What is wrong with the query itself is to be mended first.
            self.engine.session.copy().create_query(name, query)
        self.require_running()
        with warned_of_new(self.engine):
            self.engine.register(name, query)
        return self[name]

    def ask(self, question: str) -> OneTimeAnswer:
        """Answer a query once, for one instant, from the rows that streams retain.

        It sees what a continuous query of the same text would hold then, and the results of
        queries that run, which are tables in it. A stream without a window is all that is retained
        of it.

        Args:
            question: A query as text; `AS OF instant` behind it says when, else it is the last
                instant that is final.

        Returns:
            The rows; `at` says for which instant they are the answer.

        Raises:
            Refused: Windows reach beyond what is retained; the sentence says how much is there.
            PenstockError: The question is at fault, or the instant is not final.
        """
        self.require_open()
        return self.engine.ask(question)

    def __getitem__(self, name: str) -> Query:
        """A query of the catalog.

        Raises:
            UnknownName: There is none of that name.
        """
        self.require_open()
        found = self.engine.catalog.find(name, "query")
        return self._handles.setdefault(found.name, Query(self, found.name))

    @property
    def queries(self) -> dict[str, Query]:
        """All queries of the catalog by name, also the stopped ones."""
        self.require_open()
        return {one.name: self[one.name] for one in self.engine.catalog.of_kind("query")}

    def source(self, name: str) -> BuiltQuery:
        """A stream or relation as `penstock.builder` takes it: the beginning of a query.

        Raises:
            UnknownName: There is none of that name.
        """
        # Few build queries, and the builder loads the binder.
        from penstock.builder import source

        self.require_open()
        return source(self.engine.catalog.find(name, "stream", "relation"))

    def stream(
        self, name: str, dataframe: object, watermark: str | None = None, **options: str
    ) -> None:
        """Let a streaming DataFrame of Spark's be a stream, whatever source it reads.

        Spark reads it in a query of its own, once a query here reads the stream. The home
        remembers how far; who opens it again gives the DataFrame again, by the same name, and
        may leave the rest out.

        Args:
            name: The name of the stream; its columns are those of the DataFrame.
            dataframe: What `spark.readStream` gave, or what was made of it.
            watermark: The event time and how late rows may be: `at - INTERVAL 5 SECONDS`, `at`.
            options: Those of CREATE STREAM, such as `time_unit` and `idle_timeout`.

        Raises:
            QueryError: This is no DataFrame that a stream can be, or the name is taken.
            DataError: It is not as it was declared before.
            NotSupported: This connection has no Spark.
        """
        self.require_running()
        self.engine.give_stream(name, dataframe, watermark, options)

    def relation(self, name: str, dataframe: object, **options: str) -> None:
        """Let a DataFrame of Spark's be a relation.

        It is read when a query begins, and with the option `reload` again and again. Given once
        more by the same name, it is read anew: what differs enters and leaves.

        Args:
            name: The name of the relation; its columns are those of the DataFrame.
            dataframe: A DataFrame, or a table: `spark.table("catalog.schema.name")`.
            options: Those of CREATE RELATION, such as `reload`.

        Raises:
            QueryError: This is no DataFrame that a relation can be, or the name is taken.
            DataError: It is not as it was declared before.
            NotSupported: This connection has no Spark.
        """
        self.require_running()
        self.engine.give_relation(name, dataframe, options)

    def insert(self, stream: str, rows: object) -> int:
        """Bring rows of a stream: all of them, or none if one cannot be read as declared.

        In this process they are taken in when this returns. Elsewhere they are written down then,
        and taken in soon after, together; as long as no query reads the stream, they wait.

        Args:
            stream: Its name.
            rows: Tuples with the values in the order of the columns, or dicts; or a table: pyarrow,
                pandas, Polars, anything with `__arrow_c_stream__`. Columns of a table are found by
                name, others are not looked at.

        Returns:
            How many rows were brought. Some of them may be late: `progress` counts, and `late`
            has those.

        Raises:
            DataError: Rows, columns or values are at fault.
            UnknownName: There is no such stream.
            QueryError: The stream is read from elsewhere.
        """
        self.require_running()
        found = source_of(self.engine.catalog, stream, "stream")
        assert isinstance(found, StreamDefinition)
        table = declared_rows(found, rows)
        self.engine.insert(found, table)
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
        self.require_running()
        catalog = self.engine.catalog
        found = source_of(catalog, relation, "relation")
        assert isinstance(found, RelationDefinition)
        self.engine.update(found, changed_rows(found, insert, delete, at, units_of(catalog)))

    def advance(self, stream: str, to: Moment) -> None:
        """Say that no row of a stream before an instant will come: its watermark without a row.

        Rows that were inserted before are taken in before.

        Raises:
            DataError: This is no instant.
            UnknownName: There is no such stream.
        """
        self.require_running()
        found = source_of(self.engine.catalog, stream, "stream")
        assert isinstance(found, StreamDefinition)
        self.engine.advance(found, instant_of(to, [found.unit]))

    def wait_idle(self) -> None:
        """Wait until all rows that are there have been taken in, and their results are there.

        Raises:
            PipelineFailed: The pipeline has stopped because of an error.
        """
        self.require_open()
        if not self.is_finished:
            self.engine.wait_idle()

    def finish(self) -> None:
        """The input has come to its end: all that is left becomes final, and can still be read.

        When the home of a pipeline is opened again, it goes on as if the input had not ended.
        """
        self.require_running()
        self.engine.finish()

    def resume(self) -> None:
        """Let queries run again after a failure."""
        self.require_running()
        self.engine.resume()

    def progress(self) -> dict[str, Any]:
        """The progress of streams and queries, and what is remembered for them."""
        self.require_open()
        return with_times(self.engine.progress(), self.engine.catalog)

    def late(self, source: str) -> Results:
        """The rows of a source that were not taken in as they came, oldest first.

        Each has its `_reason`: it was late, has no event time, or could not be read; then there is
        only its `_raw` text. A change of a relation may be overdue. `_position` says where a row
        stands, where that is known: in which file, or at which place among the rows brought.

        Raises:
            UnknownName: There is no such source.
        """
        self.require_open()
        found = self.engine.catalog.find(source, "stream", "relation")
        assert isinstance(found, StreamDefinition | RelationDefinition)
        return Results.of(self.engine.late(found))

    def sink(self, name: str, query: str, function: Callable[[pa.Table, int], object]) -> None:
        """Call a function with the results of each commit, and the number of its record.

        It goes on where a function of the same name has come to in this home, also one of an
        earlier process. After a crash, or an error of the function, the same table comes again
        under the same number: at least once.

        Raises:
            QueryError: There is a sink of that name.
            UnknownName: There is no such query.
            NotSupported: This connection commits nothing; `Query.on_change` calls functions, too.
        """
        self.require_open()
        self.engine.sink(name, query, function)

    def on_commit(self, function: Callable[[Any], None]) -> None:
        """Call a function with each record after it was committed; the pipeline waits for it.

        Raises:
            NotSupported: This connection commits nothing.
        """
        self.require_open()
        self.engine.on_commit(function)

    def save(self, path: str | Path) -> None:
        """Write everything into a folder; `connect_inline(restore=path)` goes on from there.

        Raises:
            DataError: There is something else at the path.
            NotSupported: A pipeline has its home, where everything is written down already.
        """
        self.require_open()
        self.engine.save(Path(path))

    def close(self) -> None:
        """Stop all queries and give free what they use; closing twice is fine."""
        self.engine.close()

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
        """The declarations, and whether the connection runs."""
        return "\n".join(headlines(self) + ([] if self.is_closed else [as_text(self._overview())]))

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        head = "".join(f"<p>{line}</p>" for line in headlines(self))
        return head if self.is_closed else f"{head}{as_html(self._overview())}"

    def _overview(self) -> pa.Table:
        return overview(self.engine.catalog)

    def require_open(self) -> None:
        """See that the connection is open.

        Raises:
            QueryError: It is closed.
        """
        if self.is_closed:
            msg = "the connection is closed"
            raise QueryError(msg, hint=self.engine.reopening)

    def require_running(self) -> None:
        """See that the connection is open, and its input has not come to its end.

        Raises:
            QueryError: It is not so.
        """
        self.require_open()
        if self.is_finished:
            msg = "the input has come to its end: finish() was called"
            raise QueryError(msg, hint=self.engine.reopening)
