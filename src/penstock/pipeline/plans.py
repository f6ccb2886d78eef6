"""Plans of pipelines: statements, and groups of queries that share lanes, with physical plans."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING
from penstock.lane_host.hosted_plan import HostedGroup
from penstock.lane_host.plan_files import PhysicalPlans, read_plan_file
from penstock.planner.physical.building import Choices
from penstock.planner.statistics.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.planner.physical.physical_plan import PhysicalPlan
    from penstock.session import Session
    from penstock.store.layout import Home

_SUCCESSOR = " (new plan)"


_NEXT = " (next)"


def next_of(query: str) -> str:
    """The name under which a query runs that is to take the place of one that runs."""
    return query + _NEXT


def taken_place_of(query: str) -> str | None:
    """The query whose place one is to take; None: it has a name of its own."""
    return query.removesuffix(_NEXT) if query.endswith(_NEXT) else None


def successor(query: str) -> str:
    """The name of a query in a group that is to replace its own."""
    return query + _SUCCESSOR


@dataclass(frozen=True)
class QueryGroup:
    """Queries that were registered together and are divided by the same key.

    They share their operators; `lanes` instances of these share the keys. `number` is never given
    to another group of the same home. `physical` is what they run by.

    `statistics` are those by which its plan was chosen, as text; empty if nothing was known. A
    group that `replaces` another runs the same queries by another plan, beside it. Its windows
    began empty, so what it says holds from the instant `since` on.

    One that `catches_up` is fed retained rows beside the micro-batches, which do not feed it yet:
    those of streams that are declared to retain them, and if it `reads_queries` that ran when it
    was registered, those of all streams. `exact` has for each query the instant from which on its
    answers are those of one that had always run; BEGINNING: all are, INFINITY: that is not known.
    `follows` has for a query that took the place of another the groups that this has run in.
    """

    number: int
    queries: tuple[str, ...]
    lanes: int
    physical: PhysicalPlan
    statistics: str = ""
    replaces: int | None = None
    since: int = BEGINNING
    catches_up: bool = False
    reads_queries: bool = False
    exact: Mapping[str, int] = field(default_factory=dict)
    follows: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def numbers_of(self, query: str) -> tuple[int, ...]:
        """The groups that the results of a query came from, first to last."""
        return (*self.follows.get(query, ()), self.number)

    @property
    def known(self) -> Statistics:
        """The statistics known when its plan was chosen."""
        return (
            Statistics.from_json(json.loads(self.statistics)) if self.statistics else Statistics()
        )

    @property
    def runs(self) -> dict[str, str]:
        """The plans that run, by the names of results: of queries, its own or theirs."""
        if self.replaces is None:
            return {name: name for name in self.queries}
        return {name: name.removesuffix(_SUCCESSOR) for name in self.queries}

    @property
    def hosted(self) -> HostedGroup:
        """It with its lanes."""
        return HostedGroup(self.number, self.physical, self.lanes)

    def only(self, queries: Collection[str]) -> QueryGroup:
        """The same without some of its queries; operators that only these needed are gone."""
        kept = tuple(one for one in self.queries if one in queries)
        return replace(self, queries=kept, physical=self.physical.only(kept))

    def on_lanes(self, lanes: int) -> QueryGroup:
        """The same on another number of lanes."""
        return replace(self, lanes=lanes, physical=self.physical.on_lanes(lanes))

    def to_json(self, file: str) -> dict[str, Any]:
        """As it is written down, its physical plan in a file."""
        return {
            "number": self.number,
            "queries": list(self.queries),
            "lanes": self.lanes,
            "physical": file,
            "statistics": self.statistics,
            "replaces": self.replaces,
            "since": self.since,
            "catches_up": self.catches_up,
            "reads_queries": self.reads_queries,
            "exact": dict(self.exact),
            "follows": dict(self.follows),
        }


@dataclass(frozen=True)
class PipelinePlan:
    """The statements that declare streams and queries, and the groups that run.

    `session` has understood the statements, if somebody has.
    """

    statements: tuple[str, ...] = ()
    groups: tuple[QueryGroup, ...] = ()
    partitions: int = Choices().partitions
    session: Session | None = field(default=None, compare=False, repr=False)

    def to_json(self, files: Sequence[str]) -> dict[str, Any]:
        """As it is written down, the physical plans of its groups in files."""
        named = zip(self.groups, files, strict=True)
        return {
            "statements": list(self.statements),
            "groups": [group.to_json(file) for group, file in named],
            "partitions": self.partitions,
        }

    @staticmethod
    def from_json(values: Mapping[str, Any], physical: Sequence[PhysicalPlan]) -> PipelinePlan:
        """The plan that was written down, whose groups have these physical plans."""
        groups = tuple(
            QueryGroup(
                **{
                    **one,
                    "queries": tuple(one["queries"]),
                    "physical": plan,
                    "follows": {k: tuple(v) for k, v in one.get("follows", {}).items()},
                }
            )
            for one, plan in zip(values["groups"], physical, strict=True)
        )
        return PipelinePlan(tuple(values["statements"]), groups, values["partitions"])


def read_plan(home: Home, name: str, plans: PhysicalPlans | None = None) -> PipelinePlan:
    """A plan that was written down.

    Raises:
        DataError: A file is missing or damaged, or another version of Penstock wrote it.
    """
    values = read_plan_file(home, name)
    files = [one["physical"] for one in values["groups"]]
    return PipelinePlan.from_json(values, (plans or PhysicalPlans(home)).read(files))


Followed = Mapping[str, Sequence[int]]
"""By query, the groups that it ran in before."""


def numbered_groups(home: Home, name: str) -> list[tuple[int, Followed]]:
    """The groups that run in a plan that was written down, and those that queries followed.

    Raises:
        DataError: The file is missing or damaged.
    """
    groups = read_plan_file(home, name)["groups"]
    return [(one["number"], one.get("follows", {})) for one in groups]


def group_numbers(home: Home, name: str) -> list[int]:
    """The numbers of the groups that run in a plan that was written down.

    Raises:
        DataError: The file is missing or damaged.
    """
    return [one["number"] for one in read_plan_file(home, name)["groups"]]
