"""The effects of statements in this process: declarations, queries that start and that stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import (
    QueryDefinition,
    RelationDefinition,
    StreamDefinition,
)
from penstock.connection.engines.local.generating import refuse_endless
from penstock.connection.engines.local.history import History, HistoryEntry
from penstock.cql import syntax
from penstock.errors import NotSupported, PenstockError
from penstock.expected_load import expected_by, stated_of
from penstock.planner.clocks import sharing
from penstock.planner.exactness import explained_exactness
from penstock.planner.explain.explain import Explaining
from penstock.planner.physical.in_use import described_use
from penstock.planner.statistics.measuring import measured
from penstock.results.answer_kind import may_go_on
from penstock.scheduling.work_text import described_work
from penstock.session import Session
from penstock.store.contents import folded, net_difference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Tactics
    from penstock.connection.engines.local.batch import Batch
    from penstock.connection.engines.local.feeding import Feeding
    from penstock.planner.statistics.statistics import ExpectedRate
    from penstock.session import Outcome


@dataclass(frozen=True)
class Started:
    """Queries that were started together, and the entries that made them.

    Those that have been stopped since are among them.
    """

    batch: Batch
    queries: dict[str, HistoryEntry]


class Registry:
    """The catalog of an engine, the queries that run, and how it came to that.

    Attributes:
        session: The catalog and the settings.
        history: The statements that made them.
        started: The batches that run.
    """

    def __init__(self, feeding: Feeding) -> None:
        self._feeding = feeding
        self.session = Session()
        strategy = feeding.options.choices.strategy
        self.session.settings = replace(self.session.settings, strategy=strategy)
        self.history = History()
        self.started: list[Started] = []
        # By names in lower case: the queries of the catalog, and those of them that run or wait.
        self._entries: dict[str, HistoryEntry] = {}
        self._batches: dict[str, Batch] = {}
        self._waiting: dict[str, HistoryEntry] = {}
        # Batches with queries, by their names there, whose results others are to go on with.
        self._followed: dict[str, tuple[Batch, str]] = {}

    def batch_of(self, query: str) -> Batch | None:
        """The operators that compute a query, if it runs."""
        return self._batches.get(query.lower())

    def prepare(self, statement: syntax.Statement) -> None:
        """See that a statement can be performed here.

        Raises:
            NotSupported: It cannot.
        """
        if isinstance(statement, syntax.CreateSink):
            msg = "a connection in this process writes to no sink"
            raise NotSupported(msg, hint="Read the query's changes() or emissions().")
        if isinstance(statement, syntax.CreateSource):
            refuse_endless(statement)

    def take_in(self, outcome: Outcome, text: str) -> None:
        """Do what a statement did to the catalog; queries to start are collected."""
        self._take_in(outcome, HistoryEntry(text))
        self._tidy()
        self.retain()

    def retain(self) -> None:
        """Let streams keep their rows by what is declared, set and running now."""
        feeding, catalog = self._feeding, self.session.catalog
        streams = [one for one in catalog if isinstance(one, StreamDefinition)]
        plans = [
            plan
            for one in feeding.batches
            for name, plan in one.plans.items()
            if name in one.outcomes
        ]
        latest = {name: one.latest for name, one in feeding.intakes.items()}
        feeding.retention.follow(streams, self.session.settings.store, plans, latest)

    def _take_in(self, outcome: Outcome, entry: HistoryEntry) -> None:
        statement = outcome.statement
        if isinstance(statement, syntax.Drop):
            self._drop(statement, entry)
            return
        creates = isinstance(statement, syntax.CreateSource | syntax.CreateQuery)
        if not isinstance(statement, syntax.SetOption) and not (creates and outcome.name):
            return  # It only says something; or IF NOT EXISTS, and it did.
        self.history.add(entry)
        if isinstance(statement, syntax.SetOption):
            self._let_follow(self.started)
        found = self.session.catalog.get(outcome.name or "")
        if isinstance(found, StreamDefinition | RelationDefinition):
            self._feeding.declare(found)
        elif isinstance(found, QueryDefinition):
            self._add(found, entry)

    def _add(self, query: QueryDefinition, entry: HistoryEntry) -> None:
        """A query of the catalog is to start, in place of one of its name if there is one."""
        entry.query = query
        name = query.name.lower()
        batch = self.batch_of(name)
        before = self._entries[name].query if batch is not None else None
        self._followed.pop(name, None)
        if batch is None or before is None or not may_go_on(before.plan, query.plan):
            self._stop(query.name)
        else:
            # It goes on until the new one has caught up.
            self._followed[name] = (batch, before.name)
        self._entries[query.name.lower()] = entry
        self._waiting[query.name.lower()] = entry

    def _drop(self, statement: syntax.Drop, entry: HistoryEntry) -> None:
        name = statement.name.text.lower()
        if statement.kind != "QUERY":
            self._feeding.forget(name)
            self.history.add(entry)
        elif name in self._entries:
            entry.drops = self._entries.pop(name)
            self.history.add(entry)
            self._stop(name)

    def start(self, query: str) -> None:
        """Let a query of the catalog run that does not."""
        if query.lower() not in self._batches:
            self._waiting[query.lower()] = self._entries[query.lower()]
            self.apply()

    def stop(self, query: str) -> None:
        """Let a query run no more; it stays in the catalog."""
        self._stop(query)
        self._tidy()
        self.retain()

    def _stop(self, query: str) -> None:
        self._waiting.pop(query.lower(), None)
        batch = self._batches.pop(query.lower(), None)
        if batch is None:
            return
        (name,) = [one for one in batch.outcomes if one.lower() == query.lower()]
        batch.outcomes[name].is_over = True
        self._leave(batch, name)

    def _tidy(self) -> None:
        """Forget the entries of queries that are neither in the catalog nor part of a batch."""
        running = [entry for one in self.started for entry in one.queries.values()]
        self.history.keep({*self._entries.values(), *running})

    def apply(self) -> None:
        """Start the queries that wait, in as few batches as can be; what cannot be is not there.

        Raises:
            PenstockError: Queries cannot run.
        """
        waiting, self._waiting = list(self._waiting.values()), {}
        for number, part in enumerate(parts := self._parts(waiting)):
            try:
                tactics, start, reads_queries = self._kind(part[0])
                batch = self._feeding.start(
                    _plans(part), tactics, stated_of(part), start, reads_queries=reads_queries
                )
            except PenstockError:
                for query in [query for later in parts[number:] for query in later]:
                    self.session.catalog.drop(query)
                    del self._entries[query.name.lower()]
                self._tidy()
                raise
            for query in part:
                self._follow(batch, query.name)
            self.adopt(batch, [self._entries[one.name.lower()] for one in part])
        if waiting:
            self.retain()

    def _parts(self, entries: list[HistoryEntry]) -> list[list[QueryDefinition]]:
        """Queries that run alike and may share operators."""
        queries = [one.query for one in entries if one.query is not None]
        parts = []
        for kind in dict.fromkeys(map(self._kind, queries)):
            alike = {one.name: one for one in queries if self._kind(one) == kind}
            shared = sharing({name: one.plan for name, one in alike.items()})
            parts += [[alike[name] for name in names] for names in shared]
        return parts

    def _kind(self, query: QueryDefinition) -> tuple[Tactics, int | None, bool]:
        """The way a query runs, from when on, and whether it reads what runs already."""
        reads_queries = any(self.batch_of(name) is not None for name in query.reads)
        return query.tactics, query.start, reads_queries

    def _follow(self, batch: Batch, query: str) -> None:
        """Let a query that has just started go on with the results of the one of its name before.

        If it has not come as far as that one, its results begin anew.
        """
        before, name = self._followed.pop(query.lower(), (None, ""))
        if before is None:
            return
        log, made = before.outcomes[name], batch.outcomes[query]
        if made.clock < log.clock:
            self._stop(name)
            return
        old, new = (
            folded([block for blocks, _ in one.steps() for block in blocks], log.clock)
            for one in (log, made)
        )
        block = net_difference(old, new, log.clock)
        log.add([] if block is None else [block], made.clock)
        self._leave(before, name)
        batch.outcomes[query] = log

    def _leave(self, batch: Batch, query: str) -> None:
        """Let a batch compute a query no more."""
        self._feeding.stop(batch, query)
        if not batch.outcomes:
            self.started = [one for one in self.started if one.batch is not batch]

    def adopt(self, batch: Batch, entries: list[HistoryEntry]) -> None:
        """A batch that runs, and the entries of its queries."""
        queries = {one.query.name: one for one in entries if one.query is not None}
        self.started.append(Started(batch, queries))
        self._let_follow(self.started[-1:])
        self._batches |= {name.lower(): batch for name in batch.outcomes}

    def _let_follow(self, batches: Sequence[Started]) -> None:
        """Let the lanes of batches work by the settings, and the intake too."""
        self._feeding.rules = self.session.settings.work.intake
        for started in batches:
            queries = [one.query for one in started.queries.values() if one.query is not None]
            latency = {one.name: one.latency for one in queries if one.latency is not None}
            started.batch.follow(self.session.settings.work.rules(latency))

    def explain(self, query: QueryDefinition) -> str:
        """The plan of a query: as it runs, as it is about to, or as it would."""
        batch = self.batch_of(query.name)
        if batch is not None:
            rates = expected_by(self.session.catalog, batch.plans.values())
            return _explained(batch, query, rates)
        choices = self._feeding.options.under(query.tactics).choices
        parts = [one for one in self._parts(list(self._waiting.values())) if query in one]
        part = parts[0] if parts else [query]
        plans = _plans(part)
        rates = expected_by(self.session.catalog, plans.values())
        return Explaining(plans, choices, chosen_by=stated_of(part), rates=rates).text(query.name)

    def replay(self, texts: Sequence[str]) -> list[HistoryEntry]:
        """Do again what was done, but start no query; the entries."""
        entries = [HistoryEntry(text) for text in texts]
        for entry in entries:
            (outcome,) = self.session.execute(entry.text)
            self._take_in(outcome, entry)
        self._waiting.clear()
        return entries


def _plans(queries: list[QueryDefinition]) -> dict[str, Plan]:
    return {one.name: one.plan for one in queries}


def _explained(batch: Batch, definition: QueryDefinition, rates: Mapping[str, ExpectedRate]) -> str:
    """The plan, what was measured of it, what it shares, its key, and how its lanes work now."""
    query = definition.name
    lanes = [lane.reports() for lane in batch.lanes.lanes]
    gone = batch.plans.keys() - batch.outcomes.keys()
    known = measured(lanes)
    found = Explaining(batch.plans, batch.choices, known, batch.known, gone=gone, rates=rates)
    text = found.text(query)
    below = sorted(batch.graph.below(batch.graph.results[query]))
    own = [[reports[number] for number in below] for reports in lanes]
    reports = {str(number): lane.work_report() for number, lane in enumerate(batch.lanes.lanes)}
    work = described_work(reports, query, definition.latency)
    exact = explained_exactness(definition.plan, batch.exact.get(query, BEGINNING))
    return "\n".join([text, *described_use(own), *work, *exact])
