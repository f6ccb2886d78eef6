"""The material of lowering: the graph so far, the choices, and how nodes are added."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.operators.set.counted import Target
from penstock.operators.set.set_specs import Counting
from penstock.operators.source_specs import FilterSpec, MapSpec, UnionSpec
from penstock.planner.physical.graph import Graph, Node
from penstock.planner.statistics.tracing import existence, made_of, named, predicate_of
from penstock.state.expiry import DEFAULT_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.patterns import Pattern, Strategy
    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Evaluation, Expiration, Joins, Tactics
    from penstock.algebra.types import Type
    from penstock.operators.spec import Edge, Spec
    from penstock.planner.conditions import JoinCondition
    from penstock.planner.physical.graph import MatchCondition, Predicate


@dataclass(frozen=True)
class Choices:
    """Choices for running a plan, where its meaning leaves one."""

    strategy: Strategy = "upa"
    partitions: int = DEFAULT_PARTITIONS
    joins: Joins = "auto"
    join_evaluation: Evaluation = "lazy"
    join_expiration: Expiration = "lazy"

    @staticmethod
    def of(tactics: Tactics, partitions: int = DEFAULT_PARTITIONS) -> Choices:
        """The settings of a query."""
        return Choices(partitions=partitions).under(tactics)

    def under(self, tactics: Tactics) -> Choices:
        """The same with what was set for a query."""
        return replace(self, **asdict(tactics))

    @property
    def queue_partitions(self) -> int:
        """Partitions of calendar queues; the direct strategy looks through all entries at once."""
        return 1 if self.strategy == "direct" else self.partitions


@dataclass
class Building:
    """A graph under construction.

    Args:
        choices: How it is to run.
        is_measured: Whether its operators are called by names in statistics, so that these know
            them; if nothing is known, plans that are only priced do without.
        graph: What there is of it.
    """

    choices: Choices = field(default_factory=Choices)
    is_measured: bool = True
    graph: Graph = field(default_factory=Graph)

    def named(self, condition: JoinCondition, plan: Plan) -> JoinCondition:
        """The condition of a join with what its parts are called."""
        return named(condition, plan) if self.is_measured else condition

    def existence(self, plan: Plan) -> str | None:
        """The name of the question that a semi-join or an anti-join asks of left rows."""
        return existence(plan) if self.is_measured else None

    def made_of(self, plan: Plan) -> str | None:
        """The name of the rows that an aggregate, or DISTINCT, is made of."""
        return made_of(plan) if self.is_measured else None

    def predicate(self, condition: Expression, below: Plan) -> Predicate | None:
        """The predicate that the filter over a plan measures."""
        return predicate_of(condition, below) if self.is_measured else None

    def node(self, number: int) -> Node:
        """A node by its number."""
        return self.graph.nodes[number]

    def add(
        self,
        spec: Spec,
        inputs: Sequence[int],
        *,
        label: str,
        types: Sequence[Type],
        pattern: Pattern,
        span: int | None = None,
        predicate: Predicate | None = None,
        made_of: str | None = None,
        meeting: MatchCondition | None = None,
        names: tuple[str, ...] = (),
    ) -> int:
        """Add a node, or find the one that is the same."""
        below = max((self.node(one).span for one in inputs), default=1)
        node = Node(
            spec,
            tuple(inputs),
            label,
            tuple(types),
            pattern,
            below if span is None else span,
            predicate,
            made_of,
            meeting,
            names,
        )
        return self.graph.add(node)

    def edge(self, child: int) -> Edge:
        """The rows of a node."""
        return self.node(child).edge

    def counting(self, children: Sequence[int], target: Target = Target.COPIES) -> Counting:
        """The rows of nodes, counted."""
        inputs = tuple(map(self.edge, children))
        return Counting(inputs, self.choices.queue_partitions, target)

    def union(self, children: Sequence[int], label: str, pattern: Pattern) -> int:
        """The rows of several nodes."""
        types = self.node(children[0]).types
        spec = UnionSpec(types, len(children))
        return self.add(spec, children, label=label, types=types, pattern=pattern)

    def filtered(
        self, child: int, predicate: Expression, label: str, measured: Predicate | None = None
    ) -> int:
        """The rows of a node for which a predicate over its positions is TRUE."""
        node = self.node(child)
        return self.add(
            FilterSpec(predicate, node.types),
            [child],
            label=label,
            types=node.types,
            pattern=node.pattern,
            predicate=measured,
        )

    def mapped(self, child: int, columns: Sequence[Expression], label: str) -> int:
        """New columns over the positions of a node; the node itself if nothing changes."""
        node = self.node(child)
        if list(columns) == self.columns(child):
            return child
        return self.add(
            MapSpec(tuple(columns), node.types),
            [child],
            label=label,
            types=[one.type for one in columns],
            pattern=node.pattern,
        )

    def column(self, child: int, number: int) -> Expression:
        """A column of a node, as an expression."""
        return self.edge(child).columns[number]

    def columns(self, child: int) -> list[Expression]:
        """All columns of a node, as expressions."""
        return list(self.edge(child).columns)
