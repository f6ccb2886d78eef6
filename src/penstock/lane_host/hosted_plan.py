"""The physical plans of a pipeline with their lanes: what runs where."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.planner.partition.partitioning import Partitioning, Route
from penstock.runtime.lanes import Router

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.streams import Relation, Stream
    from penstock.planner.physical.graph import Graph, Node
    from penstock.planner.physical.physical_plan import PhysicalPlan


@dataclass(frozen=True)
class HostedFragment:
    """A fragment of the plan of a group, and the lanes it runs on.

    Args:
        group: The number of the group.
        number: Which of its fragments.
        stage: It reads what fragments of earlier stages send; those of stage 0 read streams.
        graph: The operators of one lane.
        partitioning: How the rows it reads are divided among its lanes.
        lanes: How many there are.
        sends: The name under which others read what it sends; None if it has results.
        senders: The fragments it reads, by the names of what they send.
    """

    group: int
    number: int
    stage: int
    graph: Graph
    partitioning: Partitioning
    lanes: int
    sends: str | None = None
    senders: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that it has in records."""
        return f"{self.group}.{self.number}"

    def lane_names(self) -> list[str]:
        """The names that its lanes have in records."""
        return [f"{self.name}.{lane}" for lane in range(self.lanes)]

    @cached_property
    def streams(self) -> dict[str, Stream]:
        """The streams it reads."""
        return {name: stream for name, (stream, _) in self.graph.streams.items()}

    @property
    def ending(self) -> str:
        """The last of its operators."""
        (last,) = self.graph.results.values()
        return self.graph.nodes[last].label

    @property
    def is_strict(self) -> bool:
        """Results that may be withdrawn."""
        results = self.graph.results.values()
        return any(self.graph.nodes[one].pattern is Pattern.STR for one in results)

    @cached_property
    def _routers(self) -> dict[str, Router]:
        return {}

    def router(self, source: str) -> Router:
        """Divides the rows of something that it reads among its lanes."""
        if source not in self._routers:
            found = self.graph.clocked.get(source) or self.graph.relations[source]
            route = self.partitioning.routes[source] if self.lanes > 1 else Route(None)
            self._routers[source] = Router(route, found[0].schema, self.lanes)
        return self._routers[source]

    def task_of(self, lane: int, tasks: int) -> int:
        """The task that a lane belongs to; fragments with one lane spread over all."""
        return (lane if self.lanes > 1 else self.group) % tasks


@dataclass(frozen=True)
class HostedGroup:
    """A group of queries, its physical plan, and how many lanes it has where a key divides it."""

    number: int
    physical: PhysicalPlan
    lanes: int

    @cached_property
    def fragments(self) -> list[HostedFragment]:
        """The fragments, inputs before what reads them; a single one if a key divides all plans."""
        parts = self.physical.fragments
        senders = {one.name: f"{self.number}.{place}" for place, one in enumerate(parts)}
        return [
            HostedFragment(
                self.number,
                place,
                one.stage,
                one.graph,
                one.partitioning,
                self.lanes if one.is_divided else 1,
                one.name,
                {name: senders[name] for name in one.graph.exchanges},
            )
            for place, one in enumerate(parts)
        ]

    @property
    def results(self) -> list[str]:
        """The names of its results: queries, under a name of its own or theirs."""
        return list(self.physical.columns)

    def described_fragments(self) -> list[str]:
        """A line for each fragment: what it ends with, and its lanes; none, if there is but one."""
        if len(self.fragments) == 1:
            return []
        return [
            f"Fragment {one.number}: {one.ending}; lanes: {one.partitioning}"
            for one in self.fragments
        ]

    def result(self, query: str) -> Node:
        """The facts about the results of a query."""
        graph = self.fragments[-1].graph
        return graph.nodes[graph.results[query]]

    @property
    def streams(self) -> dict[str, Stream]:
        """The streams that its queries read."""
        return {name: stream for one in self.fragments for name, stream in one.streams.items()}

    @property
    def relations(self) -> dict[str, Relation]:
        """The relations that its queries read."""
        return {
            name: relation
            for one in self.fragments
            for name, (relation, _) in one.graph.relations.items()
        }


class HostedPlan:
    """All groups of a pipeline, by number.

    Attributes:
        fragments: The fragments of all groups, by name.
        lanes: All lanes by name, each with what it runs.
    """

    def __init__(self, groups: Iterable[HostedGroup]) -> None:
        self.hosted = {one.number: one for one in groups}
        several = [one for group in self.hosted.values() for one in group.fragments]
        self.fragments = {one.name: one for one in several}
        self.lanes = {name: one for one in several for name in one.lane_names()}

    @property
    def unread(self) -> Sequence[str]:
        """The streams whose rows are kept although no fragment reads them."""
        return ()

    def readers(self, sender: HostedFragment) -> list[HostedFragment]:
        """The fragments that read what one sends."""
        return [one for one in self.fragments.values() if sender.name in one.senders.values()]

    @property
    def stages(self) -> int:
        """In how many stages a batch runs."""
        return max((one.stage + 1 for one in self.fragments.values()), default=1)

    def lanes_of(self, stage: int, task: int, tasks: int) -> list[str]:
        """The lanes that a task has in a stage."""
        return [
            name
            for one in self.fragments.values()
            if one.stage == stage
            for lane, name in enumerate(one.lane_names())
            if one.task_of(lane, tasks) == task
        ]

    def columns(self, query: str) -> tuple[str, ...]:
        """The names of the columns of a query that runs, also of one that is to replace another."""
        several = (one.physical.columns for one in self.hosted.values())
        return next(one[query] for one in several if query in one)
