"""The operator graph: which block operators run, and whose results each reads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.operators.source_specs import ChangesSpec, ExchangeSpec, StreamSpec
from penstock.operators.spec import Edge, Lineage, Spec
from penstock.planner.physical.codec import content_hash

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from penstock.algebra.expressions import Expression
    from penstock.algebra.failures import Failures
    from penstock.algebra.patterns import Pattern
    from penstock.algebra.streams import Exchanged, Relation, Stream
    from penstock.algebra.types import Schema, Type
    from penstock.operators.operator import Operator


@dataclass(frozen=True)
class Predicate:
    """A condition of a filter on rows, or of a join on pairs, over columns of sources.

    Args:
        key: The whole of it; None if some part cannot be written like that.
        parts: If AND combines several, those that can, over positions.
        types: Of the columns at these positions.
    """

    key: str | None = None
    parts: tuple[tuple[str, Expression], ...] = ()
    types: tuple[Type, ...] = ()


@dataclass(frozen=True)
class MatchCondition:
    """By what rows of two inputs meet, written over columns of sources.

    Args:
        condition: Equal keys; or [NOT] EXISTS, which left rows satisfy.
        of_pairs: Whether each pair that meets is a result; else left rows are.
    """

    condition: str
    of_pairs: bool


@dataclass(frozen=True)
class Estimate:
    """Expectations of an operator.

    Args:
        rate: Rows that it sends in a step of time.
        withdrawn: Rows that it withdraws before the end they were sent with.
        live: Rows of its results that are valid at an instant.
        time: Nanoseconds of one core in a step of time.
        rows: Rows of state.
        size: Bytes of state.
    """

    rate: float
    withdrawn: float
    live: float
    time: float
    rows: float
    size: float


@dataclass(frozen=True)
class Node:
    """An operator of a plan that runs, the nodes it reads, and what is known of its results.

    Args:
        spec: The operator.
        inputs: The nodes it reads.
        label: It in a line, for people; nothing depends on that.
        types: The types of the columns of its results.
        pattern: How these end.
        span: For how long they live, about: the longest window below.
        predicate: Of a filter, or of a join that asks for more than equal keys, whose selectivity
            it measures.
        made_of: Of an aggregate or DISTINCT, the rows it is made of.
        meeting: Of a join, a semi-join or an anti-join, by what its rows meet.
        names: Of the inputs of a join of many.
        estimate: What is expected of it.
    """

    spec: Spec
    inputs: tuple[int, ...]
    label: str
    types: tuple[Type, ...]
    pattern: Pattern
    span: int
    predicate: Predicate | None = None
    made_of: str | None = None
    meeting: MatchCondition | None = None
    names: tuple[str, ...] = ()
    estimate: Estimate | None = field(default=None, compare=False, repr=False)

    def make(self, failures: Failures) -> Operator:
        """A new operator; each lane has its own."""
        return self.spec.build(failures)

    @cached_property
    def edge(self) -> Edge:
        """Its results, as what reads them knows them."""
        return Edge(self.types, self.pattern, self.span)

    @property
    def schema(self) -> Schema:
        """The columns, named by position."""
        return self.edge.schema

    @property
    def arrow_types(self) -> list[pa.DataType]:
        """Types that the columns are kept in."""
        return self.edge.arrow_types

    @cached_property
    def lineage(self) -> Lineage:
        """The origin of its rows."""
        unknown = Lineage(tuple((None,) * len(self.types) for _ in self.inputs))
        return self.spec.lineage() or unknown

    @property
    def is_numbering(self) -> bool:
        """The last column has numbers that tell elements apart."""
        return self.spec.is_numbering


@dataclass
class Graph:
    """Nodes, inputs before what reads them; where inputs enter, and where results leave.

    Nodes of the same operator over the same inputs are one node, also across queries.

    `beside` are streams that only other fragments of the query read: relations must not be looked
    at beyond what these have reached, or a change that comes later would be too late here.
    """

    nodes: list[Node] = field(default_factory=list)
    streams: dict[str, tuple[Stream, int]] = field(default_factory=dict)
    relations: dict[str, tuple[Relation, int]] = field(default_factory=dict)
    exchanges: dict[str, tuple[Exchanged, int]] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    _known: dict[tuple[Spec, tuple[int, ...]], int] = field(
        default_factory=dict, repr=False, compare=False
    )

    def add(self, node: Node) -> int:
        """The number of the node; one with the same spec and inputs is there already, perhaps."""
        whole = (node.spec, node.inputs)
        if whole not in self._known:
            number = self._known[whole] = len(self.nodes)
            self.nodes.append(node)
            match node.spec:
                case StreamSpec(source):
                    self.streams[source.name] = (source, number)
                case ChangesSpec(source):
                    self.relations[source.name] = (source, number)
                case ExchangeSpec(source):
                    self.exchanges[source.name] = (source, number)
        return self._known[whole]

    @property
    def clocked(self) -> dict[str, tuple[Stream | Exchanged, int]]:
        """The inputs that say how far time has passed."""
        return {**self.streams, **self.exchanges}

    @cached_property
    def identities(self) -> list[str]:
        """For each node, what it is by content: state is kept under that name."""
        found: list[str] = []
        for node in self.nodes:
            found.append(content_hash(node.spec, [found[one] for one in node.inputs]))
        return found

    def below(self, number: int) -> set[int]:
        """A node and everything its results depend on."""
        found: set[int] = set()
        waiting = [number]
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += self.nodes[node].inputs
        return found

    def over(self, nodes: Collection[Node]) -> Graph:
        """The same with other notes on the same operators."""
        made = Graph(beside=self.beside)
        for node in nodes:
            made.add(node)
        made.results = self.results
        return made

    def only(self, results: Collection[str]) -> Graph:
        """The same with some of the results, and the nodes that these depend on."""
        wanted = {name: one for name, one in self.results.items() if name in results}
        needed = {node for number in wanted.values() for node in self.below(number)}
        made, numbers = Graph(beside=self.beside), dict[int, int]()
        for number in sorted(needed):
            node = self.nodes[number]
            inputs = tuple(numbers[one] for one in node.inputs)
            numbers[number] = made.add(replace(node, inputs=inputs))
        made.results = {name: numbers[one] for name, one in wanted.items()}
        return made
