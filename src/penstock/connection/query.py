"""A query of a connection: what it answers, and whether it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from penstock.algebra.operators import Final
from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import QueryDefinition
from penstock.connection.answer_tables import Results
from penstock.connection.following import Subscription, followed
from penstock.connection.frames import converted
from penstock.connection.moments import instant_of
from penstock.connection.result_readers import ResultReaders, content_at
from penstock.connection.showing import query_state
from penstock.errors import QueryError
from penstock.operators.block import empty_block
from penstock.results.answer_kind import is_relation, require_relation, require_stream, unit_of
from penstock.results.preview import as_html, as_text
from penstock.results.result_tables import changes_table, elements_table, emissions_table
from penstock.results.settling import Elements, SentElements

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from penstock.algebra.plan import Plan
    from penstock.connection.connection import Connection
    from penstock.connection.engine import Answer, Engine
    from penstock.connection.following import Since
    from penstock.connection.frames import Format
    from penstock.connection.moments import Moment
    from penstock.operators.block import Block


class Query:
    """A continuous query of a connection; `Connection.query` and `db[name]` give one.

    It is a relation, whose content changes, or with ISTREAM, DSTREAM or RSTREAM a stream of rows.
    Results are final for all instants before its `clock`; only those are shown, but by
    `elements()`. Going through a query, also with `async for`, gives the tables of `changes()`,
    `emissions()` or, with EMIT FINAL, `elements()`, and waits for those that come.

    Attributes:
        name: Its name in the catalog.
        connection: The connection that it is of.
    """

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self.connection = connection
        self._readers = ResultReaders()

    @property
    def text(self) -> str:
        """The query as written, or the plan that was built."""
        return self._definition.text

    @property
    def plan(self) -> Plan:
        """Its logical plan."""
        return self._definition.plan

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences that its author should know; a query that only grows says what it takes."""
        return self._engine.session.warnings_of(self._definition)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self.plan.schema.names

    @property
    def is_running(self) -> bool:
        """The query is computed; False once it was stopped."""
        return self._engine.is_running(self._definition.name)

    @property
    def clock(self) -> int | None:
        """Results for instants before this are final; None as long as no instant is.

        It is the least watermark of the query's streams. A query that reads relations only goes
        by their changes: the last of them is final when it is read. A TIMESTAMP counts
        microseconds.
        """
        clock = self._answer().clock
        return None if clock == BEGINNING else clock

    @property
    def exact_from(self) -> int | None:
        """The instant from which on it answers as if it had always run; None: it always did.

        A query that was created when rows had come is exact as soon as its windows reach no
        further back than the rows that it was given. INFINITY, the greatest instant: it needs rows
        of the past that were not kept. A TIMESTAMP counts microseconds.
        """
        self._answer()
        exact = self._engine.exact_from(self._definition.name)
        return None if exact == BEGINNING else exact

    @property
    def failure(self) -> str | None:
        """Why results do not come any more, if what computes them has failed."""
        return self._engine.failure

    @property
    def trouble(self) -> str | None:
        """Why no results came when that was last tried, while it is tried again."""
        return self._engine.trouble

    @property
    def failures(self) -> dict[str, int]:
        """The number of expressions that failed, and gave NULL, by function."""
        self._answer()
        return self._engine.failures(self.name)

    @property
    def shed(self) -> dict[str, int]:
        """The rows of its streams that were shed while it ran, by stream.

        If there are any, its answers are of a sample: of the rows that stayed.
        """
        self._answer()
        return dict(self.progress()["shed"])

    def start(self) -> None:
        """Let a stopped query run again: it begins with empty windows and no results."""
        self.connection.require_running()
        self._engine.start(self._definition.name)

    def stop(self) -> None:
        """Let it run no more, and free its state; it stays in the catalog."""
        self.connection.require_running()
        self._engine.stop(self._definition.name)

    def replan(self) -> bool:
        """Plan it anew, by the rates, distinct counts and selectivities that were measured.

        The new plan runs beside the old one until the longest window has passed, and then takes
        its place; the answers stay as they are. So do queries that share operators with it.

        Returns:
            Whether there is a better plan, which will take over; False also before anything has
            been measured.

        Raises:
            Refused: What the query remembers has no end that is known.
            NotSupported: This connection plans a query once.
        """
        self.connection.require_running()
        return self._engine.replan(self._definition.name).is_new

    def drop(self) -> None:
        """Stop it, and take it out of the catalog."""
        quoted = self._definition.name.replace("`", "``")
        self.connection.execute(f"DROP QUERY `{quoted}`")

    def explain(self) -> str:
        """The plan, which key divides it among lanes and, if it is cut, the lanes of each part.

        Of a query that runs, estimates rely on what was measured.
        """
        return self._engine.explain(self._definition)

    def operators(self) -> Results:
        """Work and state of each operator below the query, in all lanes.

        `withdrawn` of the rows out withdraw others; `selectivity` is rows out for each row in that
        was looked at. Queries that were registered together share operators; shared ones count for
        each.
        """
        self._answer()
        return Results.of(self._engine.operators(self.name))

    def progress(self) -> dict[str, Any]:
        """The progress of the query, and what it has sent out; `Connection.progress` has all."""
        found: dict[str, Any] = self.connection.progress()["queries"][self._definition.name]
        return found

    def wait_idle(self) -> None:
        """Wait until all rows that are there have been taken in, and their results are there.

        Raises:
            PipelineFailed: The pipeline has stopped because of an error.
        """
        self.connection.wait_idle()

    @overload
    def snapshot(self, at: Moment | None = None, format: None = None) -> Results: ...
    @overload
    def snapshot(self, at: Moment | None = None, *, format: Format) -> Any: ...

    def snapshot(self, at: Moment | None = None, format: Format | None = None) -> Any:  # noqa: A002  # what every reader calls it
        """The rows that hold at an instant, in the order of their values.

        Args:
            at: An instant before the `clock`; None: the last one before it.
            format: `arrow`, `pandas`, `polars`, or `spark` for a DataFrame of Spark's.

        Raises:
            QueryError: The query sends out rows, or the instant is not final yet.
        """
        require_relation(self.name, self.plan, "snapshot")
        answer = self._answer()
        unit = unit_of(self.plan)
        columns = (
            self._readers.content(answer)
            if at is None
            else content_at(answer, instant_of(at, [unit]), self.name, unit)
        )
        table = pa.table(list(columns), names=list(self.columns))
        return Results.of(table) if format is None else converted(table, format, self._engine.frame)

    def frame(self, at: Moment | None = None) -> Any:
        """The rows that hold at an instant, as a DataFrame in the user's session of Spark.

        Arguments and errors are those of `snapshot`.

        Raises:
            NotSupported: This connection has no Spark.
        """
        return self.snapshot(at, format="spark")

    def foreach_batch(
        self, function: Callable[[Any, int], object], name: str | None = None
    ) -> None:
        """Call a function with the results of each commit as a DataFrame, and their number.

        It goes on where a function of the same name has come to in this home. After a crash, or
        an error of the function, the same rows come again under the same number: at least once.
        A function that leaves out a number that it has seen makes that once.

        Args:
            function: What to call; `DataFrame` and the number of the commit record.
            name: A name for it; without one it is `foreach_` and the name of the query.

        Raises:
            QueryError: There is a sink of that name.
            NotSupported: This connection has no commits.
        """
        name = f"foreach_{self.name}" if name is None else name
        self.connection.sink(
            name, self.name, lambda table, number: function(self._engine.frame(table), number)
        )

    def changes(
        self, timeout: float | None = None, *, follow: bool = False, since: Since = "beginning"
    ) -> Results:
        """The changes of the content up to the last final instant: a table for each commit.

        Of each instant the net change: `_sign` is `+` for a row that enters at `_at`, `-` for
        one that leaves. What the query held before all input enters at NULL.

        Args:
            timeout: With `follow`, for how many seconds to wait for further changes.
            follow: Wait for changes to come, until the query runs no more.
            since: `beginning`: all that is kept; `last`: what came since this was last called
                with `last`; `now`: only what comes from now on.

        Raises:
            QueryError: The query sends out rows; it has no content.
            DataError: Results that were not read yet are not kept any more.
            PipelineFailed: The pipeline stopped because of an error while this waited.
        """
        require_relation(self.name, self.plan, "changes")
        return self._results(
            "changes", self._answer().content, changes_table, timeout, follow, since
        )

    def emissions(
        self, timeout: float | None = None, *, follow: bool = False, since: Since = "beginning"
    ) -> Results:
        """The rows that were sent out, each with its instant `_at`: a table for each commit.

        Arguments and errors are those of `changes`.

        Raises:
            QueryError: The query is a relation; it sends out nothing.
        """
        require_stream(self.name, self.plan, "emissions")
        return self._results("emissions", SentElements, emissions_table, timeout, follow, since)

    def elements(
        self, timeout: float | None = None, *, follow: bool = False, since: Since = "beginning"
    ) -> Results:
        """The results as they came: rows with their validity.

        A row is valid from `_ts` to before `_te`, NULL if it has no end. `_sign` is `-` where a
        row withdraws the part from `_ts` on of an earlier one. Elements may begin after the
        clock. Arguments are those of `changes`.
        """
        return self._results("elements", Elements, elements_table, timeout, follow, since)

    def on_change(self, function: Callable[[pa.Table], object]) -> Subscription:
        """Call a function with each table that going through the query gives, from now on.

        It is called in a thread of its own, one table at a time, and does not hold up the
        engine.
        """
        return Subscription(f"penstock {self.name}", self._as_it_comes("now"), function)

    def __iter__(self) -> Iterator[pa.Table]:
        """The results as they come, from the first that are kept; it waits for more."""
        return iter(self._as_it_comes("beginning"))

    def __aiter__(self) -> AsyncIterator[pa.Table]:
        """The same for coroutines: others run while this waits."""
        return self._as_it_comes("beginning").__aiter__()

    def __repr__(self) -> str:
        """Name and state; of a relation that runs also the first rows."""
        rows = self._rows()
        headline = self._headline(rows)
        return headline if rows is None else f"{headline}\n{as_text(rows)}"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        rows = self._rows()
        return f"<p>{self._headline(rows)}</p>{'' if rows is None else as_html(rows)}"

    def _rows(self) -> pa.Table | None:
        if not self._is_there or not self.is_running or not is_relation(self.plan):
            return None
        return self.snapshot().to_arrow()

    def _headline(self, rows: pa.Table | None) -> str:
        if not self._is_there:
            return f'query "{self.name}", dropped, or its connection is closed'
        return query_state(self, rows)

    @property
    def _engine(self) -> Engine:
        return self.connection.engine

    @property
    def _is_there(self) -> bool:
        found = self._engine.catalog.get(self.name)
        return not self._engine.is_closed and found is not None and found.kind == "query"

    @property
    def _definition(self) -> QueryDefinition:
        self.connection.require_open()
        found = self._engine.catalog.find(self.name, "query")
        assert isinstance(found, QueryDefinition)
        return found

    def _answer(self) -> Answer:
        found = self._engine.answer(self._definition.name)
        if found is None:
            msg = f'query "{self.name}" is stopped'
            raise QueryError(msg, hint="start() lets it run again, from then on.")
        return found

    def _as_it_comes(self, since: Since) -> Results:
        """The results that say most: net changes, rows that are sent, or closed elements."""
        if isinstance(self.plan, RelationToStream):
            return self.emissions(follow=True, since=since)
        if isinstance(self.plan, Final):
            return self.elements(follow=True, since=since)
        return self.changes(follow=True, since=since)

    def _results(
        self,
        what: str,
        fold: Callable[[], Elements],
        table: Callable[[Plan, Block], pa.Table],
        timeout: float | None,
        follow: bool,
        since: Since,
    ) -> Results:
        """The values that a reader makes of all commits; a fault of the query is raised at once."""
        answer, plan, engine = self._answer(), self.plan, self._engine
        empty = table(plan, empty_block(plan.schema))
        if since == "last" and not follow:
            read = self._readers.read(what, answer, fold)
            return Results.of(empty, *(table(plan, one.block) for one in read if one.block))
        opened = [self._readers.opened(what, answer, fold, since)]

        def tables() -> Iterator[pa.Table | None]:
            # From the beginning it can be gone through again and again.
            found = opened.pop() if opened else answer.reader(fold)
            if since != "beginning":
                opened.append(found)
            for one in followed(found, engine, answer, timeout, follow=follow):
                if one is None or one.block is None:
                    yield None
                else:
                    yield table(plan, one.block)

        waits = f'{what} of query "{self.name}" as they come' if follow else None
        return Results(empty, tables, waits)
