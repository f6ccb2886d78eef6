"""The operator graph: which block operators run, and whose results each reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.types import Field, Schema, Type, to_arrow
from penstock.compute.failures import Failures
from penstock.operators.operator import Operator

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.algebra.expressions import Expression
    from penstock.algebra.patterns import Pattern
    from penstock.algebra.streams import Exchanged, Relation, Stream
    from penstock.compute.evaluate import Evaluator

Maker = Callable[[Failures], Operator]
"""Makes the operator of a node; each lane has its own."""


Columns = tuple["Expression | None", ...]
"""Columns of results as expressions over the columns of an input; None: not made of these."""


@dataclass(frozen=True)
class Lineage:
    """What a row of a node's results is made of.

    Args:
        columns: For each input, what the columns of the results are in terms of its columns.
        of_each: Whether it is made of a row of each input; else of a row of one of them.
        equal: Pairs of expressions over the results that have the same value in every row.
        otherwise: Of what else rows may be made, if not all are made alike.
    """

    columns: tuple[Columns, ...]
    of_each: bool = True
    equal: tuple[tuple[Expression, Expression], ...] = ()
    otherwise: tuple[Lineage, ...] = ()


@dataclass(frozen=True)
class Predicate:
    """What a filter asks of rows, or a join of pairs, written over columns of sources.

    Args:
        key: The whole of it; None if some part cannot be written like that.
        parts: If AND combines several, those that can, each with what computes it.
    """

    key: str | None = None
    parts: tuple[tuple[str, Evaluator], ...] = ()


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
class Node:
    """An operator to be made, the nodes it reads, and what is known of its results.

    `span` is how long rows live, about: the longest window below. Numbers that tell elements
    apart, if it is the operator that gives them, are in the last column (`is_numbering`). Of a
    filter, or of a join that asks for more than equal keys, `predicate` says whose selectivity it
    measures. `made_of` says of an aggregate or DISTINCT which rows it is made of, `meeting` of a
    join, a semi-join or an anti-join by what its rows meet. `names` are those of the inputs of a
    join of many.
    """

    make: Maker
    inputs: tuple[int, ...]
    label: str
    types: tuple[Type, ...]
    pattern: Pattern
    span: int
    lineage: Lineage
    is_numbering: bool = False
    predicate: Predicate | None = None
    made_of: str | None = None
    meeting: MatchCondition | None = None
    names: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """The columns, named by position."""
        return positions(self.types)

    @property
    def arrow_types(self) -> list[pa.DataType]:
        """How the columns are kept."""
        return [to_arrow(one) for one in self.types]


def positions(types: tuple[Type, ...]) -> Schema:
    """A schema whose columns are called 0, 1, ..."""
    return Schema(tuple(Field(str(number), type_) for number, type_ in enumerate(types)))


@dataclass
class Graph:
    """Nodes, inputs before what reads them; where inputs enter, and where results leave.

    Nodes of the same operator over the same inputs are one node, also across queries.

    `beside` are streams that only other fragments of the query read: relations must not be looked
    at beyond what these have reached, or a change that comes later would be too late here. `left`
    are results that nobody wants any more: nodes keep their numbers, but not all are needed.
    """

    nodes: list[Node] = field(default_factory=list)
    streams: dict[str, tuple[Stream, int]] = field(default_factory=dict)
    relations: dict[str, tuple[Relation, int]] = field(default_factory=dict)
    exchanges: dict[str, tuple[Exchanged, int]] = field(default_factory=dict)
    results: dict[str, int] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    _known: dict[Hashable, int] = field(default_factory=dict)

    def add(self, key: Hashable, node: Node) -> int:
        """The number of the node; one with the same key and inputs is there already, perhaps."""
        whole = (key, node.inputs)
        if whole not in self._known:
            self._known[whole] = len(self.nodes)
            self.nodes.append(node)
        return self._known[whole]

    @property
    def clocked(self) -> dict[str, tuple[Stream | Exchanged, int]]:
        """The inputs that say how far time has passed."""
        return {**self.streams, **self.exchanges}

    @property
    def wanted(self) -> dict[str, int]:
        """The results that somebody wants."""
        return {name: one for name, one in self.results.items() if name not in self.left}

    @property
    def needed(self) -> set[int]:
        """The nodes that these depend on."""
        return {node for number in self.wanted.values() for node in self.below(number)}

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
