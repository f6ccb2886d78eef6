"""What lowering works with: the graph so far, the choices, and how nodes are added."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Column
from penstock.algebra.patterns import Pattern
from penstock.compute.evaluate import compile_expression
from penstock.operators.stateless import Filter, Map
from penstock.planner.partition.partition_keys import equalities
from penstock.planner.physical.graph import Graph, Lineage, Node
from penstock.state.expiry import DEFAULT_PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.patterns import Strategy
    from penstock.algebra.tactics import Evaluation, Expiration, Joins, Tactics
    from penstock.algebra.types import Schema, Type
    from penstock.compute.evaluate import Evaluator
    from penstock.planner.physical.graph import Maker, MatchCondition, Predicate


@dataclass(frozen=True)
class Choices:
    """How a plan is to run, where its meaning leaves a choice."""

    strategy: Strategy = "upa"
    partitions: int = DEFAULT_PARTITIONS
    joins: Joins = "auto"
    join_evaluation: Evaluation = "lazy"
    join_expiration: Expiration = "lazy"

    @staticmethod
    def of(tactics: Tactics, partitions: int = DEFAULT_PARTITIONS) -> Choices:
        """What was set for a query."""
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
    """A graph under construction."""

    choices: Choices = field(default_factory=Choices)
    graph: Graph = field(default_factory=Graph)

    def node(self, number: int) -> Node:
        """A node by its number."""
        return self.graph.nodes[number]

    def add(
        self,
        key: Hashable,
        inputs: Sequence[int],
        make: Maker,
        *,
        label: str,
        types: Sequence[Type],
        pattern: Pattern,
        span: int | None = None,
        lineage: Lineage | None = None,
        is_numbering: bool = False,
        predicate: Predicate | None = None,
        made_of: str | None = None,
        meeting: MatchCondition | None = None,
        names: tuple[str, ...] = (),
    ) -> int:
        """Add a node, or find the one that is the same.

        Where nothing is said of lineage, nobody knows which lane its rows belong to.
        """
        below = max((self.node(one).span for one in inputs), default=1)
        node = Node(
            make,
            tuple(inputs),
            label,
            tuple(types),
            pattern,
            below if span is None else span,
            lineage or Lineage(tuple((None,) * len(types) for _ in inputs)),
            is_numbering,
            predicate,
            made_of,
            meeting,
            names,
        )
        return self.graph.add(key, node)

    def passed(self, inputs: Sequence[int]) -> Lineage:
        """Rows of any of the inputs, as they are."""
        return Lineage(tuple(tuple(self.columns(one)) for one in inputs), of_each=False)

    def filtered(
        self, child: int, predicate: Expression, label: str, measured: Predicate | None = None
    ) -> int:
        """The rows of a node for which a predicate over its positions is TRUE."""
        node = self.node(child)
        compiled = compile_expression(predicate, node.schema)
        return self.add(
            ("filter", predicate),
            [child],
            lambda failures: Filter(compiled, failures),
            label=label,
            types=node.types,
            pattern=node.pattern,
            lineage=Lineage((tuple(self.columns(child)),), equal=tuple(equalities(predicate))),
            predicate=measured,
        )

    def mapped(self, child: int, columns: Sequence[Expression], label: str) -> int:
        """New columns over the positions of a node; the node itself if nothing changes."""
        node = self.node(child)
        if list(columns) == [self.column(child, number) for number in range(len(node.types))]:
            return child
        compiled = evaluators(columns, node.schema)
        return self.add(
            ("map", tuple(columns)),
            [child],
            lambda failures: Map(compiled, failures),
            label=label,
            types=[one.type for one in columns],
            pattern=node.pattern,
            lineage=Lineage((tuple(columns),)),
        )

    def column(self, child: int, number: int) -> Expression:
        """A column of a node, as an expression."""
        types = self.node(child).types
        return Column(str(number), types[number])

    def columns(self, child: int) -> list[Expression]:
        """All columns of a node, as expressions."""
        return [self.column(child, number) for number in range(len(self.node(child).types))]


def evaluators(expressions: Sequence[Expression], schema: Schema) -> list[Evaluator]:
    """The evaluators of expressions over a schema of positions."""
    return [compile_expression(one, schema) for one in expressions]


def combined(patterns: Sequence[Pattern]) -> Pattern:
    """The pattern of products, joins, DISTINCT and their like, from those of the inputs."""
    if Pattern.STR in patterns:
        return Pattern.STR
    return Pattern.MON if all(one is Pattern.MON for one in patterns) else Pattern.WK
