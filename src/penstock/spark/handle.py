"""A query of a pipeline: what it answers, and whether it runs."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra.streams import RelationToStream
from penstock.algebra.time import BEGINNING
from penstock.connection.answers import (
    changes_table,
    elements_table,
    emissions_table,
    is_relation,
    require_relation,
    require_stream,
    unit_of,
)
from penstock.connection.moments import instant_of
from penstock.connection.showing import as_html, as_text
from penstock.errors import QueryError
from penstock.results.settling import Content, Elements, Sending
from penstock.spark.explaining import explained_query
from penstock.spark.following import Subscription, followed
from penstock.spark.groups import plans_with
from penstock.spark.tables import converted
from penstock.store.result_reader import ResultsReader, content_at, start_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.algebra.plan import Plan
    from penstock.catalog.definitions import QueryDefinition
    from penstock.connection.moments import Moment
    from penstock.operators.block import Block
    from penstock.pipeline.plans import Group
    from penstock.spark.connection import Connection
    from penstock.spark.following import Since
    from penstock.spark.tables import Format
    from penstock.store.result_reader import Start


class Query:
    """A continuous query of a pipeline; `Connection.query` gives one.

    It is a relation, whose content changes, or with ISTREAM, DSTREAM or RSTREAM a stream of rows.
    Results are final for all instants before its `clock`; only those are shown, but by
    `elements()`.

    Attributes:
        name: Its name in the catalog.
    """

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self._db = connection
        self._reading = threading.Lock()
        # The content as far as it was asked for, and the group that it is of.
        self._latest: tuple[int, ResultsReader] | None = None

    @property
    def text(self) -> str:
        """The query as written."""
        return self._definition.text

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self._plan.schema.names

    @property
    def is_running(self) -> bool:
        """Whether it is computed, or was stopped."""
        return self._db.program.group_of(self._definition.name) is not None

    @property
    def clock(self) -> int | None:
        """Results for instants before this are final; None as long as no instant is.

        It is the least watermark of the query's streams. A TIMESTAMP counts microseconds.
        """
        self._group()
        clock = self._db.running.record.clocks.get(self.name, BEGINNING)
        return None if clock == BEGINNING else clock

    @property
    def failures(self) -> dict[str, int]:
        """How often expressions failed, and gave NULL, by function."""
        self._group()
        return dict(self._db.running.record.failures.get(self.name, {}))

    def start(self) -> None:
        """Let a stopped query run again: it begins with empty windows and no results."""
        self._db.start_query(self._definition.name)

    def stop(self) -> None:
        """Let it run no more, and free its state; it stays in the catalog."""
        self._db.stop_query(self._definition.name)

    def replan(self) -> bool:
        """Plan it anew, by the rates, distinct counts and selectivities that were measured.

        The new plan runs beside the old one until the longest window has passed, and then takes
        its place; the answers stay as they are. So do queries that share operators with it.

        Returns:
            Whether there is a better plan, which will take over; False also before anything has
            been measured.

        Raises:
            Refused: What the query remembers has no end that is known.
        """
        return self._db.replan_query(self._definition.name)

    def drop(self) -> None:
        """Stop it, and take it out of the catalog."""
        quoted = self._definition.name.replace("`", "``")
        self._db.execute(f"DROP QUERY `{quoted}`")

    def explain(self) -> str:
        """The plan, which key divides it among lanes and, if it is cut, the lanes of each part.

        Of a query that runs, estimates rely on what its lanes have measured, as last reported.
        """
        return explained_query(self._definition, self._db.program, self._db.running.pipeline)

    def progress(self) -> dict[str, Any]:
        """How far the query has come, and what it has sent out; `Connection.progress` has all."""
        found: dict[str, Any] = self._db.progress()["queries"][self._definition.name]
        return found

    def wait_idle(self) -> None:
        """Wait until all rows that are there have been taken in, and their results are there.

        Raises:
            PipelineFailed: The pipeline has stopped because of an error.
        """
        self._db.wait_idle()

    def snapshot(self, at: Moment | None = None, format: Format = "arrow") -> Any:  # noqa: A002  # what every reader calls it
        """The rows that hold at an instant, in the order of their values.

        Args:
            at: An instant before the `clock`; None: the last one before it.
            format: `arrow`, `pandas`, `polars`, or `spark` for a DataFrame of Spark's.

        Raises:
            QueryError: The query sends out rows, or the instant is not final yet.
        """
        require_relation(self.name, self._plan, "snapshot")
        group = self._group()
        columns = self._content(group) if at is None else self._content_at(group, at)
        table = pa.table(list(columns), names=list(self.columns))
        return converted(table, format, self._db.spark)

    def changes(
        self, timeout: float | None = None, *, follow: bool = False, since: Since = "beginning"
    ) -> Iterator[pa.Table]:
        """How the content changed, commit by commit, up to the last final instant.

        Of each instant the net change: `_sign` is `+` for a row that enters at `_at`, `-` for
        one that leaves. What the query held before all input enters at NULL.

        Args:
            timeout: With `follow`, for how many seconds to wait for further changes.
            follow: Wait for changes to come, until the query runs no more.
            since: `now` leaves out what has been committed.

        Raises:
            QueryError: The query sends out rows; it has no content.
            PipelineFailed: The pipeline stopped because of an error while this waited.
        """
        require_relation(self.name, self._plan, "changes")
        return self._tables(self._empty(), changes_table, timeout, follow, since)

    def emissions(
        self, timeout: float | None = None, *, follow: bool = False, since: Since = "beginning"
    ) -> Iterator[pa.Table]:
        """The rows that were sent out, commit by commit, each with its instant `_at`.

        Arguments and errors are those of `changes`.

        Raises:
            QueryError: The query is a relation; it sends out nothing.
        """
        require_stream(self.name, self._plan, "emissions")
        return self._tables(Sending, emissions_table, timeout, follow, since)

    def elements(
        self, timeout: float | None = None, *, follow: bool = False, since: Since = "beginning"
    ) -> Iterator[pa.Table]:
        """The results as they came, commit by commit: rows with their validity.

        A row is valid from `_ts` to before `_te`, NULL if it has no end. `_sign` is `-` where a
        row withdraws the part from `_ts` on of an earlier one. Elements may begin after the
        clock. Arguments are those of `changes`.
        """
        return self._tables(Elements, elements_table, timeout, follow, since)

    def on_change(self, function: Callable[[pa.Table], object]) -> Subscription:
        """Call a function with each table of `changes` or `emissions`, from now on.

        It is called in a thread of its own, one table at a time, and does not hold up the
        pipeline.
        """
        sends = isinstance(self._plan, RelationToStream)
        tables = (self.emissions if sends else self.changes)(follow=True, since="now")
        return Subscription(f"penstock {self.name}", tables, function)

    def __repr__(self) -> str:
        """Name and state; of a relation that runs also the first rows."""
        rows = self._rows()
        return self._headline() if rows is None else f"{self._headline()}\n{as_text(rows)}"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        rows = self._rows()
        return f"<p>{self._headline()}</p>{'' if rows is None else as_html(rows)}"

    def _rows(self) -> pa.Table | None:
        if not self._is_there or not self.is_running or not is_relation(self._plan):
            return None
        rows: pa.Table = self.snapshot()
        return rows

    def _headline(self) -> str:
        if not self._is_there:
            return f'query "{self.name}", dropped, or its connection is closed'
        if not self.is_running:
            return f'query "{self.name}", stopped'
        clock = self.clock
        when = "nothing final yet" if clock is None else f"clock {self._format(clock)}"
        return f'query "{self.name}": {when}'

    @property
    def _is_there(self) -> bool:
        found = self._db.program.session.catalog.get(self.name)
        return not self._db.is_closed and found is not None and found.kind == "query"

    @property
    def _definition(self) -> QueryDefinition:
        self._db.require_open()
        return self._db.program.definition(self.name)

    @property
    def _plan(self) -> Plan:
        return self._definition.plan

    def _format(self, instant: int) -> str:
        return unit_of(self._plan).format(instant)

    def _group(self) -> Group:
        """The group that it runs in."""
        group = self._db.program.group_of(self._definition.name)
        if group is None:
            msg = f'query "{self.name}" is stopped'
            raise QueryError(msg, hint="start() lets it run again, from then on.")
        return group

    def _empty(self) -> Callable[[], Content]:
        """Makes an empty content of this query; also when it runs no more."""
        bound = self._db.running.pipeline.ledger.plan.groups[self._group().number]
        node = bound.result(self.name)
        return partial(Content, node.arrow_types, node.span, bound.choices.queue_partitions)

    def _reader(self, group: Group, fold: Callable[[], Elements]) -> ResultsReader:
        home = self._db.home
        return ResultsReader(home, self.name, self._start(group), fold, plans_with(home, group))

    def _start(self, group: Group) -> Start:
        first = self._db.first_record(group)
        return start_of(self._db.home, self.name, first, has_content=is_relation(self._plan))

    def _content(self, group: Group) -> tuple[pa.Array, ...]:
        """The content at the clock, folded from where the last call ended."""
        with self._reading:
            if self._latest is None or self._latest[0] != group.number:
                self._latest = (group.number, self._reader(group, self._empty()))
            reader = self._latest[1]
            reader.catch_up(self._db.running.record.number)
            content = reader.fold
            assert isinstance(content, Content)
            return content.current()

    def _content_at(self, group: Group, at: Moment) -> tuple[pa.Array, ...]:
        instant = instant_of(at, [unit_of(self._plan)])
        newest = self._db.running.record
        clock = newest.clocks.get(self.name, BEGINNING)
        if instant >= clock:
            msg = f'the result of query "{self.name}" at {self._format(instant)} may still change'
            known = f"It is final before {self._format(clock)}."
            hint = "Nothing is final yet." if clock == BEGINNING else known
            raise QueryError(msg, hint=hint)
        start = self._start(group)
        if instant < start.clock - 1 and start.clock != BEGINNING:
            msg = (
                f'the result of query "{self.name}" at {self._format(instant)} is not kept any more'
            )
            hint = f"The earliest that is kept is that at {self._format(start.clock - 1)}."
            raise QueryError(msg, hint=hint)
        last = newest.number
        return content_at(self._db.home, start, last, self.name, instant, self._empty()())

    def _tables(
        self,
        fold: Callable[[], Elements],
        table: Callable[[Plan, Block], pa.Table],
        timeout: float | None,
        follow: bool,
        since: Since,
    ) -> Iterator[pa.Table]:
        """The tables of all commits; what is wrong with the query is said at once."""
        group = self._group()
        reader = self._reader(group, fold)
        if since == "now":
            reader.catch_up(self._db.running.record.number)

        def has_ended() -> bool:
            now = self._db.program.group_of(self.name)
            return now is None or now.number != group.number

        commits = followed(reader, self._db.running, timeout, has_ended if follow else None)
        plan = self._plan
        return (table(plan, one.block) for one in commits if one.block is not None)
