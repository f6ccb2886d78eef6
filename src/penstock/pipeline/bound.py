"""A plan that runs, with the declarations that its statements make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.catalog.retain_rules import rule_of
from penstock.errors import InternalError
from penstock.lane_host.hosted_plan import HostedGroup, HostedPlan
from penstock.operators.window.window_specs import RowsWindowSpec
from penstock.planner.physical.building import Choices
from penstock.planner.reach import longest_windows
from penstock.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.catalog.retain_rules import RetainRule
    from penstock.pipeline.plans import PipelinePlan, QueryGroup


@dataclass(frozen=True)
class BoundGroup(HostedGroup):
    """A group with what its queries mean.

    Args:
        group: The group.
        plans: The logical plan of each result, by its name.
        choices: How they run, where their meaning leaves a choice.
    """

    group: QueryGroup
    plans: Mapping[str, Plan]
    choices: Choices

    @staticmethod
    def of(group: QueryGroup, session: Session, partitions: int) -> BoundGroup:
        """A group whose queries a session knows."""
        queries = {name: _query(session, query) for name, query in group.runs.items()}
        # All queries of a group were registered under the same tactics.
        choices = Choices.of(next(iter(queries.values())).tactics, partitions)
        plans = {name: one.plan for name, one in queries.items()}
        return BoundGroup(group.number, group.physical, group.lanes, group, plans, choices)


class BoundPlan(HostedPlan):
    """A plan that runs, and the session that knows what is declared."""

    def __init__(
        self, plan: PipelinePlan, session: Session, before: BoundPlan | None = None
    ) -> None:
        self.plan = plan
        self.session = session
        known: Mapping[int, BoundGroup] = {} if before is None else before.groups
        found = [
            known[one.number]
            if one.number in known and known[one.number].group is one
            else BoundGroup.of(one, session, plan.partitions)
            for one in plan.groups
        ]
        self.groups: dict[int, BoundGroup] = {one.number: one for one in found}
        # No micro-batch feeds the others yet.
        super().__init__(one for one in found if not one.group.catches_up)

    @property
    def catching_up(self) -> list[BoundGroup]:
        """The groups that are fed retained rows beside the micro-batches."""
        return [one for one in self.groups.values() if one.group.catches_up]

    @cached_property
    def streams(self) -> list[StreamDefinition]:
        """The streams that running queries read, or that say how long they keep their rows.

        In the order of their declaration.
        """
        read = {*self._read, *self.unread}
        return [
            one
            for one in self.session.catalog
            if isinstance(one, StreamDefinition) and one.name in read
        ]

    @cached_property
    def _read(self) -> set[str]:
        return {name for one in self.hosted.values() for name in one.streams}

    @cached_property
    def rules(self) -> dict[str, tuple[RetainRule, bool]]:
        """The rule by which each stream keeps its rows, and that it is declared or set, or not."""
        plans = [plan for one in self.groups.values() for plan in one.plans.values()]
        windows = [longest_windows(one) for one in plans]
        setting = self.session.settings.store.retain
        return {
            one.name: rule_of(one, setting, max((w.get(one.name, 0) for w in windows), default=0))
            for one in self.session.catalog
            if isinstance(one, StreamDefinition)
        }

    @cached_property
    def unread(self) -> list[str]:
        """The streams that no query reads, and that keep their rows all the same."""
        return [
            name
            for name, (rule, is_declared) in self.rules.items()
            if is_declared and not rule.is_none and name not in self._read
        ]

    @cached_property
    def counts_rows(self) -> bool:
        """Some window counts rows, so that their order within an instant matters."""
        nodes = (node for one in self.fragments.values() for node in one.graph.nodes)
        return any(isinstance(node.spec, RowsWindowSpec) for node in nodes)


def bound(plan: PipelinePlan, before: BoundPlan | None = None) -> BoundPlan:
    """A plan with the declarations that its statements make, unless somebody has made them.

    Groups that stay are those of the plan before, so that another query does not cost more the
    more there are.
    """
    return BoundPlan(plan, plan.session or understood(plan.statements), before)


def understood(statements: tuple[str, ...]) -> Session:
    """A session in which the statements of a plan have run."""
    session = Session()
    for text in statements:
        session.execute(text)
    return session


def _query(session: Session, name: str) -> QueryDefinition:
    found = session.catalog.find(name, "query")
    if not isinstance(found, QueryDefinition):
        msg = f'"{name}" is no query'
        raise InternalError(msg)
    return found
