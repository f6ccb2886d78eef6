"""Which of the queries that are registered together share lanes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.lane_host.routable_keys import is_routable
from penstock.pipeline.plans import Group
from penstock.planner.clocks import has_clock, may_share
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.partitioning import common_partitioning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.planner.partition.partitioning import Partitioning
    from penstock.planner.physical.building import Choices


def groups_for(
    plans: Mapping[str, Plan], first: int, lanes: int, choices: Choices | None = None
) -> list[Group]:
    """Divide new queries, which run alike, into groups with a key that all queries agree on.

    A query without a key is in a group of its own, whose plan is cut into fragments. So is one
    that reads relations only: its clock is what the changes say, and a lane would know only its
    own.
    """
    together: list[_Together] = []
    alone: list[str] = []
    for name, plan in plans.items():
        own = _common({name: plan}, choices)
        if not has_clock(plan) or not is_routable(own):
            alone.append(name)
        elif not any(one.takes(name, plan, own) for one in together):
            together.append(_Together(name, plan, own, choices))
    agreed = [names for one in together for names in one.groups()]
    found = [*agreed, *((name,) for name in alone)]
    return [Group(first + number, names, lanes) for number, names in enumerate(found)]


class _Together:
    """Queries with a key that all agree on."""

    def __init__(
        self, name: str, plan: Plan, partitioning: Partitioning, choices: Choices | None
    ) -> None:
        self._choices = choices
        self._plans = {name: plan}
        self._partitioning = partitioning
        # What queries would be divided by alone, of those that have been taken in.
        self._alone = [partitioning.routes]

    def takes(self, name: str, plan: Plan, own: Partitioning) -> bool:
        """Take a query in, if it has a key in common with the others, and clocks allow it."""
        if not may_share(plan, self._plans.values()):
            return False
        if not self._is_alike(own):
            found = _common({**self._plans, name: plan}, self._choices)
            if not is_routable(found):
                return False
            self._partitioning = found
            self._alone.append(own.routes)
        self._plans[name] = plan
        return True

    def _is_alike(self, own: Partitioning) -> bool:
        """Whether a query is divided as all are, or as one was; to search takes ever longer."""
        routes = self._partitioning.routes
        shared = own.routes.keys() & routes.keys()
        same = bool(shared) and all(own.routes[one] == routes[one] for one in shared)
        return same or own.routes in self._alone

    def groups(self) -> list[tuple[str, ...]]:
        """All of them, if they agree when they run together: they run otherwise than alone."""
        names = tuple(self._plans)
        is_agreed = is_routable(_common(self._plans, self._choices))
        return [names] if is_agreed else [(name,) for name in names]


def _common(plans: Mapping[str, Plan], choices: Choices | None) -> Partitioning:
    return common_partitioning(list(plans_to_run(plans, choices=choices).values()))
