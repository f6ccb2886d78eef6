"""Statements of a connection: what they declare is written down, what they register runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.connection.engine import Replanned
from penstock.errors import PenstockError, Refused, UnknownName
from penstock.pipeline.plans import next_of
from penstock.pipeline.replanning import due, replanned
from penstock.spark.groups import next_group_of
from penstock.spark.program import Program

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.cql import syntax
    from penstock.pipeline.plans import QueryGroup
    from penstock.planner.statistics.statistics import Statistics
    from penstock.spark.pipeline_runner import PipelineRunner
    from penstock.store.layout import Home


class Registrar:
    """Changes what a pipeline runs; whoever calls holds `PipelineRunner.changing`.

    Attributes:
        program: The statements, and the queries that run.
    """

    def __init__(self, running: PipelineRunner, home: Home, lanes: int) -> None:
        self._running = running
        self._home = home
        self._lanes = lanes
        bound = running.pipeline.ledger.plan
        plan = replace(bound.plan, session=bound.session)
        self.program = Program(plan, next_group_of(home), lanes)
        self._waiting: set[str] = set()
        running.joined.append(self._note_joined)

    def _note_joined(self) -> None:
        self.program = self._written_down()

    def _written_down(self) -> Program:
        """The program of the plan that runs."""
        bound = self._running.pipeline.ledger.plan
        plan = replace(bound.plan, session=bound.session)
        return self.program.after(plan, next_group_of(self._home))

    @property
    def next_group(self) -> int:
        """The number that the next group gets, or one before it."""
        return next_group_of(self._home)

    def prepare(self, statement: syntax.Statement) -> None:
        """Let the old query of a name end before a new one begins, also for who reads records."""
        if self.program.creates_what_is_gone(statement):
            self.apply()

    def start(self, query: str) -> None:
        """Let a query run, if it does not."""
        if self.program.group_of(query) is None:
            self.program.start(query)
            self.apply()

    def stop(self, query: str) -> None:
        """Let a query run no more, if it does."""
        if self.program.group_of(query) is not None:
            self.program.stop(query)
            self.apply()

    def replan(self, query: str, statistics: Statistics, *, later: bool = False) -> Replanned:
        """Let a query, and those it shares operators with, be planned anew, if that is better.

        Args:
            query: Its name.
            statistics: What was measured.
            later: Whether to do so when something has been measured, if nothing has.

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
            if later:
                self._waiting.add(query.lower())
            return Replanned("nothing has been measured yet: planned anew when it has", waits=True)
        if plan is None:
            return Replanned("runs by the best plan known already")
        self._running.apply(plan)
        self.program = self._written_down()
        return replace(self._planned(group, "planned anew"), is_new=True)

    def _planned(self, group: QueryGroup, what: str) -> Replanned:
        """The sentences about a group that another one is to replace."""
        made = _successor(self.program.groups, group)
        assert made is not None
        if made.catches_up:
            return Replanned(f"{what}: takes over when it has caught up with what is retained")
        if made.since == BEGINNING:
            return Replanned(f"{what}: takes over with the first rows")
        bound = self._running.pipeline.ledger.plan.groups[group.number]
        (unit,) = {one.time_unit for one in bound.streams.values()}
        return Replanned(f"{what}: takes over when the clock has come to {unit.format(made.since)}")

    def may_replan_waiting(self, statistics: Statistics) -> bool:
        """Enough has been measured for queries that wait for that to be planned anew."""
        return any(self._is_measured(one, statistics) for one in list(self._waiting))

    def replan_waiting(self, statistics: Statistics) -> None:
        """Plan queries anew for which enough has been measured."""
        for query in [one for one in self._waiting if self._is_measured(one, statistics)]:
            self._waiting.discard(query)
            # It may have come to run with others, in another way, or not at all.
            with suppress(Refused, UnknownName):
                self.replan(query, statistics)

    def _is_measured(self, query: str, statistics: Statistics) -> bool:
        """The rates of all its streams are known."""
        group = self.program.group_of(query)
        bound = self._running.pipeline.ledger.plan.groups
        # What does not run any more waits for nothing.
        streams = [] if group is None else bound[group.number].streams
        return all(name in statistics.rates for name in streams)

    def let_take_over(self) -> None:
        """Let plans take the place of those that they have run beside for long enough."""
        if due(self._running.pipeline.ledger) and self._running.replace_groups():
            self.program = self._written_down()

    def apply(self) -> None:
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
        # Some of the new queries may have to catch up first.
        self.program.groups = list(self._running.pipeline.ledger.plan.plan.groups)

    def let_take_places(self) -> None:
        """Let queries take the place of those that they were created for, if they have come as far.

        Whoever calls holds `PipelineRunner.changing`.
        """
        for query in self.program.ready:
            self.program.take_place(query)
            try:
                self._running.switch(self.program.unchanged(), query, next_of(query))
            finally:
                self.program = self._written_down()

    def wait_caught_up(self, since: int) -> None:
        """Wait until the groups from a number on have caught up, beside the micro-batches.

        Whoever calls holds no lock.

        Raises:
            PenstockError: They could not; their queries are not there any more.
        """
        ledger = self._running.pipeline.ledger
        if any(one.number >= since for one in ledger.plan.catching_up):
            self._running.beside.wait()
        with self._running.changing:
            self.let_take_places()
            failed = {
                one.number: fault
                for one in ledger.plan.catching_up
                if one.number >= since
                and (fault := self._running.beside.failure_of(one.number)) is not None
            }
            if not failed:
                return
            for group in [one for one in self.program.groups if one.number in failed]:
                for query in group.queries:
                    self.program.forget(query)
            self.apply()
        raise next(iter(failed.values()))


def _successor(groups: Sequence[QueryGroup], group: QueryGroup) -> QueryGroup | None:
    """The group that is to replace another."""
    return next((one for one in groups if one.replaces == group.number), None)
