"""Statements of a connection: what they declare is written down, what they register runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import QueryDefinition
from penstock.connection.statements import (
    lines_table,
    performed,
    refuse_nameless,
    refuse_replaced_source,
    shown_by,
)
from penstock.cql import syntax
from penstock.errors import PenstockError, Refused, Source, UnknownName
from penstock.pipeline.plans import is_leftover
from penstock.pipeline.replanning import due, replanned
from penstock.planner.statistics.measuring import measured
from penstock.spark.explaining import explained_query
from penstock.spark.groups import next_group_of
from penstock.spark.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.pipeline.plans import Group
    from penstock.planner.statistics.statistics import Statistics
    from penstock.session import Outcome
    from penstock.spark.pipeline_runner import PipelineRunner
    from penstock.store.layout import Home


@dataclass(frozen=True)
class Replanned:
    """What came of planning a query anew.

    Attributes:
        text: The same for people.
        is_new: Whether there is another plan, since now.
        waits: Whether nothing has been measured that a plan could be chosen by.
    """

    text: str
    is_new: bool = False
    waits: bool = False


class Registrar:
    """Changes what a pipeline runs; whoever calls holds `PipelineRunner.changing`.

    Attributes:
        program: The statements, and the queries that run.
    """

    def __init__(self, running: PipelineRunner, home: Home, lanes: int) -> None:
        self._running = running
        self._home = home
        self._lanes = lanes
        self.program = self._written_down()
        self._wished: set[str] = set()

    def _written_down(self) -> Program:
        """The program of the plan that runs."""
        plan = self._running.pipeline.ledger.plan.plan
        return Program(plan, next_group_of(self._home), self._lanes)

    def execute(self, text: str) -> pa.Table | None:
        """Run statements; the rows that the last of them shows."""
        shown = None
        try:
            for outcome, before in self._performed(text):
                span = outcome.statement.span
                self.program.take_in(outcome, text[span.start : span.end], before)
                found = self._said(outcome, text)
                shown = shown if found is None else found
        finally:
            self._apply()
        return shown

    def _said(self, outcome: Outcome, text: str) -> pa.Table | None:
        """The rows that a statement shows, if it does."""
        statement = outcome.statement
        if isinstance(statement, syntax.Replan):
            return pa.table({"plan": [self._replanned(statement, text)]})
        found = self._explained(statement)
        return _shown(outcome) if found is None else found

    def _replanned(self, statement: syntax.Replan, text: str) -> str:
        """Plan a query anew, or as soon as something has been measured; what comes of it."""
        # It may have been created by the same text.
        self._apply()
        name = statement.name.text
        try:
            found = self.replan(name, measured(self._running.pipeline.status.operators))
        except Refused as error:
            error.at = statement.name.span
            raise error.locate(Source(text)) from None
        if found.waits:
            self._wished.add(name.lower())
        return found.text

    def _explained(self, statement: syntax.Statement) -> pa.Table | None:
        """What EXPLAIN says of a query that has a name; None for anything else."""
        if not isinstance(statement, syntax.Explain) or statement.name is None:
            return None
        query = self.program.session.catalog.get(statement.name.text)
        if not isinstance(query, QueryDefinition):
            return None
        text = explained_query(query, self.program, self._running.pipeline)
        return lines_table(text)

    def start(self, query: str) -> None:
        """Let a query run, if it does not."""
        if self.program.group_of(query) is None:
            self.program.start(query)
            self._apply()

    def stop(self, query: str) -> None:
        """Let a query run no more, if it does."""
        if self.program.group_of(query) is not None:
            self.program.stop(query)
            self._apply()

    def replan(self, query: str, statistics: Statistics) -> Replanned:
        """Let a query, and those it shares operators with, be planned anew, if that is better.

        Raises:
            Refused: It remembers something whose end is not known.
        """
        group = self.program.group_of(query)
        if group is None:
            return Replanned(f'query "{self.program.definition(query).name}" does not run')
        ledger = self._running.pipeline.ledger
        plan = replanned(ledger, group.number, statistics, next_group_of(self._home))
        if _successor(self.program.groups, group) is not None:
            return self._planned(group, "planned anew already")
        # By what is only assumed, a plan that was chosen by what was measured would go again.
        if not statistics:
            return Replanned("nothing has been measured yet: planned anew when it has", waits=True)
        if plan is None:
            return Replanned("runs by the best plan known already")
        self._running.apply(plan)
        self.program = self._written_down()
        return replace(self._planned(group, "planned anew"), is_new=True)

    def _planned(self, group: Group, what: str) -> Replanned:
        """What is said of a group that another one is to replace."""
        made = _successor(self.program.groups, group)
        assert made is not None
        if made.since == BEGINNING:
            return Replanned(f"{what}: takes over with the first rows")
        bound = self._running.pipeline.ledger.plan.groups[group.number]
        (unit,) = {one.time_unit for one in bound.streams.values()}
        return Replanned(f"{what}: takes over when the clock has come to {unit.format(made.since)}")

    def has_wishes(self, statistics: Statistics) -> bool:
        """Whether enough has been measured for queries that wait for that to be planned anew."""
        return any(self._is_measured(one, statistics) for one in list(self._wished))

    def grant_wishes(self, statistics: Statistics) -> None:
        """Plan queries anew for which enough has been measured."""
        for query in [one for one in self._wished if self._is_measured(one, statistics)]:
            self._wished.discard(query)
            # It may have come to run with others, in another way, or not at all.
            with suppress(Refused, UnknownName):
                self.replan(query, statistics)

    def _is_measured(self, query: str, statistics: Statistics) -> bool:
        """Whether the rates of all its streams are known."""
        group = self.program.group_of(query)
        bound = self._running.pipeline.ledger.plan.groups
        # What does not run any more waits for nothing.
        streams = [] if group is None else bound[group.number].streams
        return all(name in statistics.rates for name in streams)

    def let_take_over(self) -> None:
        """Let plans take the place of those that they have run beside for long enough."""
        if due(self._running.pipeline.ledger) and self._running.replace_groups():
            self.program = self._written_down()

    def _performed(self, text: str) -> Iterator[tuple[Outcome, QueryDefinition | None]]:
        """Each statement that was performed, and the query of the same name before it."""
        before: QueryDefinition | None = None

        def prepare(statement: syntax.Statement) -> None:
            nonlocal before
            refuse_nameless(statement)
            refuse_replaced_source(self.program.session.catalog, statement)
            if self.program.creates_what_is_gone(statement):
                # The old one ends before the new one begins, also for those who read records.
                self._apply()
            name = getattr(statement, "name", None)
            found = None if name is None else self.program.session.catalog.get(name.text)
            before = found if isinstance(found, QueryDefinition) else None

        for outcome in performed(self.program.session, text, prepare):
            yield outcome, before

    def _apply(self) -> None:
        """Let the pipeline run what the program says."""
        try:
            plan = self.program.plan()
        except PenstockError:
            self._running.apply(self.program.unchanged())
            raise
        try:
            self._running.apply(plan)
        except BaseException:
            self.program = self._written_down()
            raise


def _successor(groups: Sequence[Group], group: Group) -> Group | None:
    """The group that is to replace another."""
    return next((one for one in groups if one.replaces == group.number), None)


def _shown(outcome: Outcome) -> pa.Table | None:
    """What a statement shows, without queries that only run on for others."""
    table = shown_by(outcome)
    if table is None or not isinstance(outcome.statement, syntax.Show):
        return table
    stays = [not is_leftover(one) for one in table[0].to_pylist()]
    return table.filter(pa.array(stays, pa.bool_()))
