"""What a pipeline runs: statements, and groups of queries that share lanes.

A plan is written down as text; whoever runs a part of it makes the operators from that again, so
nothing but text and Arrow ever travels.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream, Window
from penstock.algebra.windows import Rows
from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.errors import DataError, InternalError
from penstock.pipeline.keys import is_routable
from penstock.planner.building import Choices
from penstock.planner.lowering import operator_graph
from penstock.planner.partitioning import Partitioning, common_partitioning
from penstock.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.home.layout import Home
    from penstock.planner.building import Strategy
    from penstock.planner.graph import Graph


@dataclass(frozen=True)
class Group:
    """Queries that were registered together and are divided by the same key.

    They share one operator graph; `lanes` instances of it share the keys. `number` is never given
    to another group of the same home.
    """

    number: int
    queries: tuple[str, ...]
    lanes: int

    def lane_names(self) -> list[str]:
        """What the lanes are called in records."""
        return [f"{self.number}.{lane}" for lane in range(self.lanes)]


@dataclass(frozen=True)
class PipelinePlan:
    """The statements that declare streams and queries, and the groups that run."""

    statements: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    strategy: Strategy = "upa"
    partitions: int = Choices().partitions

    def lane_numbers(self) -> dict[str, int]:
        """A number for each lane of all groups."""
        names = [name for group in self.groups for name in group.lane_names()]
        return {name: number for number, name in enumerate(names)}

    def to_json(self) -> str:
        """As it is written down."""
        return json.dumps(asdict(self), indent=1)

    @staticmethod
    def from_json(text: str) -> PipelinePlan:
        """The plan that was written down."""
        values: dict[str, Any] = json.loads(text)
        groups = tuple(
            Group(one["number"], tuple(one["queries"]), one["lanes"])
            for one in values.pop("groups")
        )
        return PipelinePlan(groups=groups, statements=tuple(values.pop("statements")), **values)


@dataclass(frozen=True)
class BoundGroup:
    """A group with the plans of its queries."""

    group: Group
    plans: Mapping[str, Plan]
    choices: Choices

    @cached_property
    def graph(self) -> Graph:
        """The operators of one lane."""
        return operator_graph(self.plans, self.choices)

    @cached_property
    def partitioning(self) -> Partitioning:
        """How rows are divided among its lanes."""
        return common_partitioning(list(self.plans.values()))


@dataclass
class BoundPlan:
    """A plan whose statements have been understood."""

    plan: PipelinePlan
    session: Session
    groups: dict[int, BoundGroup] = field(default_factory=dict)

    @property
    def streams(self) -> list[StreamDefinition]:
        """The streams that running queries read, in the order of their declaration."""
        read = {name for one in self.groups.values() for name in one.graph.streams}
        return [
            one
            for one in self.session.catalog
            if isinstance(one, StreamDefinition) and one.name in read
        ]

    @property
    def counts_rows(self) -> bool:
        """Whether some window counts rows, so that their order within an instant matters."""
        plans = (plan for one in self.groups.values() for plan in one.plans.values())
        nodes = (node for plan in plans for node in different_nodes(plan))
        return any(isinstance(node, Window) and isinstance(node.spec, Rows) for node in nodes)

    def columns(self, query: str) -> tuple[str, ...]:
        """The names of the columns of a query."""
        return _plan_of(self.session, query).schema.names

    def counts(self, lane: str, stream: str) -> bool:
        """Whether the rows of a stream are counted in a lane; each row counts in one lane.

        A row may go to lanes of several groups, and to all lanes of a group.
        """
        number, _, own = lane.partition(".")
        readers = [key for key, one in self.groups.items() if stream in one.graph.streams]
        if int(number) != min(readers):
            return False
        partitioning = self.groups[int(number)].partitioning
        to_all = partitioning.is_partitioned and partitioning.routes[stream].keys is None
        return own == "0" or not to_all


def bound(plan: PipelinePlan) -> BoundPlan:
    """Understand the statements of a plan that ran before, or runs elsewhere."""
    session = Session()
    for text in plan.statements:
        session.execute(text)
    made = BoundPlan(plan, session)
    choices = Choices(plan.strategy, plan.partitions)
    for group in plan.groups:
        plans = {name: _plan_of(session, name) for name in group.queries}
        made.groups[group.number] = BoundGroup(group, plans, choices)
    return made


def read_plan(home: Home, name: str) -> PipelinePlan:
    """A plan that was written down.

    Raises:
        DataError: The file is missing or damaged.
    """
    path = home.plans / name
    try:
        content = path.read_bytes()
        if plan_check(content) != name.split(".")[1]:
            msg = "it is not what was written"
            raise ValueError(msg)
        return PipelinePlan.from_json(content.decode())
    except (OSError, ValueError, KeyError, TypeError) as fault:
        msg = f"the plan {path} cannot be read: {fault}"
        raise DataError(msg, hint="Restore the home from a backup.") from fault


def plan_check(content: bytes) -> str:
    """What a plan's name says of its content."""
    return hashlib.sha256(content).hexdigest()[:16]


def _plan_of(session: Session, name: str) -> Plan:
    found = session.catalog.find(name, "query")
    if not isinstance(found, QueryDefinition):
        msg = f'"{name}" is no query'
        raise InternalError(msg)
    return found.plan


def groups_for(plans: Mapping[str, Plan], first: int, lanes: int) -> list[Group]:
    """Divide new queries into groups, each with a key that all of its queries agree on.

    A query without a key is in a group of its own, with one lane, so that such queries spread. So
    is one that reads relations only: its clock is what the changes say, and a lane would know
    only its own.
    """
    together: list[list[str]] = []
    alone: list[list[str]] = []
    for name, plan in plans.items():
        if not _has_clock(plan) or not is_routable(common_partitioning([plan])):
            alone.append([name])
            continue
        for names in together:
            if is_routable(common_partitioning([*(plans[one] for one in names), plan])):
                names.append(name)
                break
        else:
            together.append([name])
    return [
        *_numbered(together, first, lanes),
        *_numbered(alone, first + len(together), 1),
    ]


def _has_clock(plan: Plan) -> bool:
    return any(isinstance(node, Stream) for node in different_nodes(plan))


def _numbered(names: Sequence[Sequence[str]], first: int, lanes: int) -> list[Group]:
    return [Group(first + number, tuple(one), lanes) for number, one in enumerate(names)]
