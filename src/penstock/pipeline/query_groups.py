"""The choice of queries registered together that share lanes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.lane_host.routable_keys import is_routable
from penstock.pipeline.plans import QueryGroup
from penstock.planner.clocks import has_clock, may_share
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.partitioning import common_partitioning
from penstock.planner.physical.building import Choices
from penstock.planner.planning import lowered
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.planner.partition.partitioning import Partitioning


def groups_for(
    plans: Mapping[str, Plan],
    first: int,
    lanes: int,
    choices: Choices | None = None,
    known: Statistics | None = None,
) -> list[QueryGroup]:
    """Divide new queries, which run alike, into groups with a key that all queries agree on.

    A query without a key is in a group of its own, whose plan is cut into fragments. So is one
    that reads relations only: its clock is what the changes say, and a lane would know only its
    own.

    Args:
        plans: The queries, by name.
        first: The number of the first group.
        lanes: The lanes of each.
        choices: How they run, where their meaning leaves a choice.
        known: By what their plans are chosen; None: by what is assumed.
    """
    choices, known = choices or Choices(), known or Statistics()
    together: list[_KeyedQueries] = []
    apart: list[Mapping[str, Plan]] = []
    for name, plan in plans.items():
        query = _Query(name, plan, plans_to_run({name: plan}, known, choices))
        if not has_clock(plan) or not is_routable(query.partitioning):
            apart.append(query.running)
        elif not any(one.takes(query) for one in together):
            together.append(_KeyedQueries(query, choices, known))
    found = [*(running for one in together for running in one.groups()), *apart]
    written = json.dumps(known.to_json()) if known.expected else ""
    return [
        QueryGroup(
            first + place,
            tuple(one),
            lanes,
            lowered(one, choices, is_routable, lanes, known),
            written,
        )
        for place, one in enumerate(found)
    ]


@dataclass(frozen=True)
class _Query:
    """A query, and what it would run by alone."""

    name: str
    plan: Plan
    running: Mapping[str, Plan]

    @cached_property
    def partitioning(self) -> Partitioning:
        return common_partitioning(list(self.running.values()))


class _KeyedQueries:
    """Queries with a key that all agree on."""

    def __init__(self, query: _Query, choices: Choices, known: Statistics) -> None:
        self._choices = choices
        self._known = known
        self._queries = [query]
        self._partitioning = query.partitioning
        # What queries would be divided by alone, of those that have been taken in.
        self._alone = [query.partitioning.routes]

    def takes(self, query: _Query) -> bool:
        """Take a query in, if it has a key in common with the others, and clocks allow it."""
        if not may_share(query.plan, [one.plan for one in self._queries]):
            return False
        if not self._is_alike(query.partitioning):
            running = self._running([*self._queries, query])
            found = common_partitioning(list(running.values()))
            if not is_routable(found):
                return False
            self._partitioning = found
            self._alone.append(query.partitioning.routes)
        self._queries.append(query)
        return True

    def _is_alike(self, own: Partitioning) -> bool:
        """A query divided as all are, or as one was; to search takes ever longer."""
        routes = self._partitioning.routes
        shared = own.routes.keys() & routes.keys()
        same = bool(shared) and all(own.routes[one] == routes[one] for one in shared)
        return same or own.routes in self._alone

    def groups(self) -> list[Mapping[str, Plan]]:
        """The plans of all, if they agree when they run together; else those of each alone."""
        if len(self._queries) == 1:
            return [self._queries[0].running]
        running = self._running(self._queries)
        is_agreed = is_routable(common_partitioning(list(running.values())))
        return [running] if is_agreed else [one.running for one in self._queries]

    def _running(self, queries: Sequence[_Query]) -> dict[str, Plan]:
        """The plans that queries run by together: otherwise than alone."""
        return plans_to_run({one.name: one.plan for one in queries}, self._known, self._choices)
