"""The connection: CQL statements and rows in, answers out, all in this process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Self

import pyarrow as pa

from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.engines.local.feeding import Engine, Inserted
from penstock.connection.engines.local.registry import Registry
from penstock.connection.engines.local.saving import save_connection
from penstock.connection.incoming import changed_rows, source_of, table_of, units_of
from penstock.connection.moments import instant_of
from penstock.connection.showing import as_html, as_text, overview
from penstock.errors import QueryError

if TYPE_CHECKING:
    from types import TracebackType

    from penstock.connection.engines.local.batch import Options
    from penstock.connection.moments import Moment
    from penstock.connection.query import Query


class Connection:
    """Streams, relations and queries in this process; `penstock.connect_inline()` makes one.

    Queries of one `execute` share their operators; a query that is registered later runs for
    itself. Either way it sees the rows that come from then on, and relations as they are then.
    """

    def __init__(self, options: Options) -> None:
        self.engine = Engine(options)
        self.registry = Registry(self.engine)
        self.is_finished = False
        self._is_closed = False

    def execute(self, text: str) -> pa.Table | None:
        """Run statements; the rows of the last SHOW, DESCRIBE or EXPLAIN among them.

        The queries that CREATE QUERY registers run from now on; `db["name"]` reads them. What a
        stream is declared to be read from (USING) is not read: `insert` brings its rows.

        Raises:
            PenstockError: A statement is at fault; those before it have taken effect.
        """
        self._require_running()
        return self.registry.execute(text)

    def query(self, text: str, name: str | None = None) -> Query:
        """Register a query; it runs from now on, until DROP QUERY.

        It sees the rows that come after it. Of relations it sees the content they have.

        Args:
            text: A query, without CREATE QUERY.
            name: Its name in the catalog; without one it is `query_1`, `query_2`, ...

        Raises:
            PenstockError: The text is not one query, the query is at fault, or the name is taken.
        """
        self._require_running()
        return self.registry.register(text, name)

    def insert(self, stream: str, rows: object) -> Inserted:
        """Bring rows of a stream: all of them, or none if one cannot be read as declared.

        Args:
            stream: Its name.
            rows: Tuples with the values in the order of the columns, or dicts; or a table: pyarrow,
                pandas, Polars, anything with `__arrow_c_stream__`. Columns of a table are found by
                name, others are not looked at.

        Returns:
            How many rows were taken in, were late, were set aside; `late` has those.

        Raises:
            DataError: Rows, columns or values are at fault.
            UnknownName: There is no such stream.
        """
        self._require_running()
        found = source_of(self.registry.session.catalog, stream, "stream")
        table = table_of(f'stream "{found.name}"', found.schema, rows)
        return self.engine.insert(found.name, table)

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
            UnknownName: There is no such relation.
        """
        self._require_running()
        found = source_of(self.registry.session.catalog, relation, "relation")
        assert isinstance(found, RelationDefinition)
        table = changed_rows(found, insert, delete, at, units_of(self.registry.session.catalog))
        self.engine.update(found.name, table)

    def advance(self, stream: str, to: Moment) -> None:
        """Say that no row of a stream before an instant will come: its watermark without a row.

        Raises:
            DataError: This is no instant.
            UnknownName: There is no such stream.
        """
        self._require_running()
        found = source_of(self.registry.session.catalog, stream, "stream")
        assert isinstance(found, StreamDefinition)
        self.engine.advance(found.name, instant_of(to, [found.unit]))

    def finish(self) -> None:
        """The input has come to its end: all that is left becomes final, and can still be read."""
        self._require_running()
        self.is_finished = True
        self.engine.finish()

    @property
    def queries(self) -> dict[str, Query]:
        """The running queries by name."""
        self._require_open()
        return {query.name: query for query in self.registry.queries.values()}

    def __getitem__(self, name: str) -> Query:
        """A running query.

        Raises:
            UnknownName: There is none of that name.
        """
        self._require_open()
        self.registry.session.catalog.find(name, "query")
        return self.registry.queries[name.lower()]

    @property
    def late(self) -> dict[str, pa.Table]:
        """The rows that were not taken in as they came, by source: late, overdue, without a time.

        Each has its `_reason`, and its `_position` among the rows of the source.
        """
        self._require_open()
        return dict(self.engine.aside.tables)

    def sources(self) -> pa.Table:
        """The streams: how many rows each brought, and how many were late or set aside.

        `forgotten` of these are counted, but no longer in `late`.
        """
        self._require_open()
        aside = self.engine.aside
        rows = []
        for name, intake in self.engine.intakes.items():
            counts = {kind: n for (source, kind), n in aside.counts.items() if source == name}
            late = counts.pop("late", 0)
            seen = (intake.brought, late, sum(counts.values()), aside.forgotten(name))
            rows.append((name, *seen))
        names = ("stream", "rows", "late", "aside", "forgotten")
        types = (pa.string(), *[pa.int64()] * 4)
        columns = zip(*rows, strict=True) if rows else [()] * 5
        return pa.table([pa.array(*one) for one in zip(columns, types, strict=True)], names)

    def save(self, path: str | Path) -> None:
        """Write everything into a folder; `connect_inline(restore=path)` goes on from there.

        Raises:
            DataError: There is something else at the path.
        """
        self._require_open()
        save_connection(self, Path(path))

    def close(self) -> None:
        """Stop all queries and forget everything; closing twice is fine."""
        for batch in self.engine.batches:
            batch.outcomes.clear()
        self._is_closed = True

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
        """What is declared and what runs."""
        if self._is_closed:
            return "penstock connection, closed"
        return f"penstock connection\n{as_text(self._overview())}"

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        return f"<p>{self!r}</p>" if self._is_closed else as_html(self._overview())

    def _overview(self) -> pa.Table:
        return overview(self.registry.session.catalog)

    def _require_open(self) -> None:
        if self._is_closed:
            msg = "the connection is closed"
            raise QueryError(msg, hint="penstock.connect_inline() opens a new one.")

    def _require_running(self) -> None:
        self._require_open()
        if self.is_finished:
            msg = "the input has come to its end: finish() was called"
            hint = "penstock.connect_inline() opens a connection that begins anew."
            raise QueryError(msg, hint=hint)
