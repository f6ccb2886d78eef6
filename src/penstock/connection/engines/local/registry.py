"""Statements and what they set going: declarations, queries that start and queries that stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.engines.local.history import (
    Entry,
    History,
    Registered,
    register,
    registered_by,
)
from penstock.connection.query import Query
from penstock.connection.statements import (
    lines_table,
    performed,
    refuse_nameless,
    refuse_replaced_source,
    refuse_replan,
    shown_by,
)
from penstock.cql import syntax
from penstock.errors import NotSupported, PenstockError
from penstock.planner.explain.explain import Explaining
from penstock.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.connection.engines.local.batch import Batch
    from penstock.connection.engines.local.feeding import Engine
    from penstock.session import Outcome


@dataclass(frozen=True)
class Started:
    """Queries that were registered together, those included that have been dropped since."""

    batch: Batch
    queries: dict[str, Registered]


class Registry:
    """The catalog of a connection, the queries that run, and how it came to that."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.session = Session()
        strategy = engine.options.choices.strategy
        self.session.settings = replace(self.session.settings, strategy=strategy)
        self.history = History()
        self.started: list[Started] = []
        self.queries: dict[str, Query] = {}

    def execute(self, text: str) -> pa.Table | None:
        """Run statements, start the queries they create; the rows that the last one shows."""
        shown = None
        together: dict[str, Registered] = {}
        try:
            for outcome in performed(self.session, text, self._refuse):
                span = outcome.statement.span
                self.take_effect(outcome, Entry(text[span.start : span.end]), together)
                found = self._explained(outcome.statement, together)
                found = shown_by(outcome) if found is None else found
                shown = shown if found is None else found
        finally:
            self._start(together)
        return shown

    def _explained(
        self, statement: syntax.Statement, together: dict[str, Registered]
    ) -> pa.Table | None:
        """What EXPLAIN says of a query that runs, or is about to; None for anything else."""
        if not isinstance(statement, syntax.Explain) or statement.name is None:
            return None
        name = statement.name.text.lower()
        if name in self.queries:
            text = self.queries[name].explain()
        elif name in together:
            own = together[name]
            plans = {o.name: o.plan for o in together.values() if o.tactics == own.tactics}
            choices = self.engine.options.under(own.tactics).choices
            text = Explaining(plans, choices).text(own.name)
        else:
            return None
        return lines_table(text)

    def register(self, text: str, name: str | None) -> Query:
        """Bind a query and start it."""
        registered = register(self.session, text, name, self.history.add(Entry(text)))
        self._start({registered.name.lower(): registered})
        return self.queries[registered.name.lower()]

    def _refuse(self, statement: syntax.Statement) -> None:
        refuse_nameless(statement)
        refuse_replaced_source(self.session.catalog, statement)
        if isinstance(statement, syntax.CreateSink):
            msg = "an inline connection writes to no sink"
            raise NotSupported(msg, hint="Read the query's changes() or emissions().")
        if isinstance(statement, syntax.Replan):
            refuse_replan()

    def take_effect(self, outcome: Outcome, entry: Entry, together: dict[str, Registered]) -> None:
        """Do to the engine what a statement did to the catalog; queries to start are collected."""
        statement = outcome.statement
        if isinstance(statement, syntax.Show | syntax.Describe | syntax.Explain):
            return
        creates = isinstance(statement, syntax.CreateSource | syntax.CreateQuery)
        if creates and outcome.name is None:
            return  # IF NOT EXISTS, and it did
        if isinstance(statement, syntax.Drop):
            self._drop(statement, entry, together)
            return
        self.history.add(entry)
        if isinstance(statement, syntax.CreateSource):
            found = self.session.catalog.get(outcome.name or "")
            assert isinstance(found, StreamDefinition | RelationDefinition)
            self.engine.declare(found)
        registered = registered_by(outcome, entry, self.session.catalog)
        if registered is not None:
            self._stop(registered.name, together)
            together[registered.name.lower()] = registered

    def _drop(self, statement: syntax.Drop, entry: Entry, together: dict[str, Registered]) -> None:
        name = statement.name.text
        if statement.kind == "QUERY":
            entry.drops = self._stop(name, together)
            if entry.drops is None:
                return
        else:
            self.engine.forget(name)
        self.history.add(entry)

    def _stop(self, name: str, together: dict[str, Registered]) -> Entry | None:
        """Stop a query; its entry, unless nothing is left of it."""
        waiting = together.pop(name.lower(), None)
        if waiting is not None:
            self.history.forget([waiting.entry])
        query = self.queries.pop(name.lower(), None)
        if query is None:
            return None
        (started,) = [one for one in self.started if one.batch is query.batch]
        self.engine.stop(started.batch, query.name)
        if not started.batch.outcomes:
            self.started.remove(started)
            self.history.forget([one.entry for one in started.queries.values()])
            return None
        return started.queries[query.name].entry

    def _start(self, together: dict[str, Registered]) -> None:
        """Start queries as one batch for each set of tactics; what cannot be is not there."""
        for tactics in dict.fromkeys(one.tactics for one in together.values()):
            queries = [one for one in together.values() if one.tactics == tactics]
            try:
                batch = self.engine.start({one.name: one.plan for one in queries}, tactics)
            except PenstockError:
                gone = [one for one in together.values() if one.name.lower() not in self.queries]
                for one in gone:
                    self.session.catalog.drop(self.session.catalog.find(one.name, "query"))
                self.history.forget([one.entry for one in gone])
                raise
            self.adopt(batch, queries)

    def adopt(self, batch: Batch, queries: list[Registered]) -> None:
        """A batch that runs, and its queries."""
        self.started.append(Started(batch, {one.name: one for one in queries}))
        for one in queries:
            if one.name in batch.outcomes:
                query = Query(one.name, one.text, one.plan, one.warnings, batch)
                self.queries[one.name.lower()] = query

    def replay(self, entries: list[tuple[str, str | None]]) -> list[Registered | None]:
        """Do again what was done, but start no query; the query of each entry, if it made one."""
        made: list[Registered | None] = []
        for text, name in entries:
            entry = Entry(text)
            if name is not None:
                made.append(register(self.session, text, name, self.history.add(entry)))
                continue
            (outcome,) = self.session.execute(text)
            together: dict[str, Registered] = {}
            self.take_effect(outcome, entry, together)
            made.append(next(iter(together.values()), None))
        return made
