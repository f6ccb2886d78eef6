"""Statements of a connection: what they declare is written down, what they register runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.catalog.definitions import QueryDefinition
from penstock.cql import syntax
from penstock.errors import PenstockError
from penstock.inline.statements import (
    lines_table,
    performed,
    refuse_nameless,
    refuse_replaced_source,
    shown_by,
)
from penstock.pipeline.plans import is_leftover
from penstock.pipeline.replanning import replanned
from penstock.spark.explaining import explained_query
from penstock.spark.groups import next_group_of
from penstock.spark.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.home.layout import Home
    from penstock.planner.statistics import Statistics
    from penstock.session import Outcome
    from penstock.spark.running import Running


class Registrar:
    """Changes what a pipeline runs; whoever calls holds `Running.changing`.

    Attributes:
        program: The statements, and the queries that run.
    """

    def __init__(self, running: Running, home: Home, lanes: int) -> None:
        self._running = running
        self._home = home
        self._lanes = lanes
        self.program = self._written_down()

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
                found = self._explained(outcome.statement)
                found = _shown(outcome) if found is None else found
                shown = shown if found is None else found
        finally:
            self._apply()
        return shown

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

    def replan(self, query: str, statistics: Statistics) -> bool:
        """Let a query, and those it shares operators with, be planned anew; whether they are.

        Raises:
            Refused: It never forgets its first rows, or counts them.
        """
        group = self.program.group_of(query)
        if group is None:
            return False
        ledger = self._running.pipeline.ledger
        plan = replanned(ledger, group.number, statistics, next_group_of(self._home))
        # By what is only assumed, a plan that was chosen by what was measured would go again.
        if plan is None or not statistics:
            return False
        self._running.apply(plan)
        self.program = self._written_down()
        return True

    def let_take_over(self) -> None:
        """Let plans take the place of those that they have run beside for long enough."""
        if self._running.replace_groups():
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


def _shown(outcome: Outcome) -> pa.Table | None:
    """What a statement shows, without queries that only run on for others."""
    table = shown_by(outcome)
    if table is None or not isinstance(outcome.statement, syntax.Show):
        return table
    stays = [not is_leftover(one) for one in table[0].to_pylist()]
    return table.filter(pa.array(stays, pa.bool_()))
