"""A plan that has been understood: what runs on which lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Window
from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.errors import InternalError
from penstock.lane_host.routable_keys import is_routable
from penstock.pipeline.plans import is_leftover
from penstock.planner.optimizing import plans_to_run
from penstock.planner.partition.fragments import Fragment, fragments_of
from penstock.planner.partition.partitioning import Partitioning, Route, common_partitioning
from penstock.planner.physical.building import Choices
from penstock.planner.physical.lowering import operator_graph
from penstock.planner.physical.shape import shape_of
from penstock.runtime.lanes import Router
from penstock.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.algebra.plan import Plan
    from penstock.algebra.streams import Relation, Stream
    from penstock.pipeline.plans import Group, PipelinePlan
    from penstock.planner.physical.graph import Graph, Node


@dataclass(frozen=True)
class BoundFragment:
    """A fragment of the plans of a group, and the lanes it runs on.

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
        """What it is called in records."""
        return f"{self.group}.{self.number}"

    def lane_names(self) -> list[str]:
        """What its lanes are called in records."""
        return [f"{self.name}.{lane}" for lane in range(self.lanes)]

    @cached_property
    def streams(self) -> dict[str, Stream]:
        """The streams it reads."""
        needed = self.graph.needed
        entries = self.graph.streams.items()
        return {name: stream for name, (stream, number) in entries if number in needed}

    @property
    def ending(self) -> str:
        """The last of its operators."""
        (last,) = self.graph.results.values()
        return self.graph.nodes[last].label

    @property
    def is_strict(self) -> bool:
        """Whether what it sends may be withdrawn."""
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
        """Which task a lane belongs to; fragments with one lane spread over all."""
        return (lane if self.lanes > 1 else self.group) % tasks


@dataclass(frozen=True)
class BoundGroup:
    """A group with the plans of its queries."""

    group: Group
    plans: Mapping[str, Plan]
    choices: Choices

    @cached_property
    def fragments(self) -> list[BoundFragment]:
        """What runs, inputs before what reads them; one fragment if a key divides all plans."""
        known = self.group.known
        running = plans_to_run(self.plans, known, self.choices)
        if len(running) == 1:
            ((query, plan),) = running.items()
            lanes = self.group.lanes
            parts = fragments_of(query, plan, self.choices, is_routable, known, lanes)
        else:
            graph = operator_graph(running, self.choices, statistics=known, lanes=self.group.lanes)
            runs = self.group.runs
            graph.left = frozenset(name for name in running if is_leftover(runs[name]))
            plans = list(running.values())
            parts = [Fragment(graph, common_partitioning(plans), True, 0)]
        senders = {one.name: f"{self.group.number}.{place}" for place, one in enumerate(parts)}
        return [
            BoundFragment(
                self.group.number,
                place,
                one.stage,
                one.graph,
                one.partitioning,
                self.group.lanes if one.is_divided else 1,
                one.name,
                {name: senders[name] for name in one.graph.exchanges},
            )
            for place, one in enumerate(parts)
        ]

    @cached_property
    def shape(self) -> str:
        """What the planner made of the queries."""
        return shape_of((one.graph, one.partitioning) for one in self.fragments)

    def described_fragments(self) -> list[str]:
        """A line for each fragment: what it ends with, and its lanes; none, if there is but one."""
        if len(self.fragments) == 1:
            return []
        return [
            f"Fragment {one.number}: {one.ending}; lanes: {one.partitioning}"
            for one in self.fragments
        ]

    def result(self, query: str) -> Node:
        """What is known of the results of a query."""
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


@dataclass
class BoundPlan:
    """A plan whose statements have been understood."""

    plan: PipelinePlan
    session: Session
    groups: dict[int, BoundGroup] = field(default_factory=dict)

    @cached_property
    def fragments(self) -> dict[str, BoundFragment]:
        """The fragments of all groups, by name."""
        return {one.name: one for group in self.groups.values() for one in group.fragments}

    @cached_property
    def lanes(self) -> dict[str, BoundFragment]:
        """All lanes by name, each with what it runs."""
        return {name: one for one in self.fragments.values() for name in one.lane_names()}

    def readers(self, sender: BoundFragment) -> list[BoundFragment]:
        """The fragments that read what one sends."""
        return [one for one in self.fragments.values() if sender.name in one.senders.values()]

    @property
    def stages(self) -> int:
        """In how many stages a batch runs."""
        return max((one.stage + 1 for one in self.fragments.values()), default=1)

    @property
    def shapes(self) -> dict[str, str]:
        """The shape of each group, by number."""
        return {str(number): group.shape for number, group in self.groups.items()}

    def lanes_of(self, stage: int, task: int, tasks: int) -> list[str]:
        """The lanes that a task has in a stage."""
        return [
            name
            for one in self.fragments.values()
            if one.stage == stage
            for lane, name in enumerate(one.lane_names())
            if one.task_of(lane, tasks) == task
        ]

    @property
    def streams(self) -> list[StreamDefinition]:
        """The streams that running queries read, in the order of their declaration."""
        read = {name for one in self.groups.values() for name in one.streams}
        return [
            one
            for one in self.session.catalog
            if isinstance(one, StreamDefinition) and one.name in read
        ]

    @property
    def counts_rows(self) -> bool:
        """Whether some window counts rows, so that their order within an instant matters."""
        plans = [plan for group in self.groups.values() for plan in group.plans.values()]
        nodes = (node for plan in plans for node in different_nodes(plan))
        return any(isinstance(node, Window) and node.spec.counts_rows for node in nodes)

    def columns(self, query: str) -> tuple[str, ...]:
        """The names of the columns of a query that runs, also of one that is to replace another."""
        plans = (group.plans[query] for group in self.groups.values() if query in group.plans)
        return next(plans).schema.names


def bound(plan: PipelinePlan) -> BoundPlan:
    """Understand the statements of a plan that ran before, or runs elsewhere."""
    session = Session()
    for text in plan.statements:
        session.execute(text)
    made = BoundPlan(plan, session)
    for group in plan.groups:
        queries = {name: _query(session, query) for name, query in group.runs.items()}
        # All queries of a group were registered under the same tactics.
        choices = Choices.of(next(iter(queries.values())).tactics, plan.partitions)
        plans = {name: one.plan for name, one in queries.items()}
        made.groups[group.number] = BoundGroup(group, plans, choices)
    return made


def _query(session: Session, name: str) -> QueryDefinition:
    found = session.catalog.find(name, "query")
    if not isinstance(found, QueryDefinition):
        msg = f'"{name}" is no query'
        raise InternalError(msg)
    return found
