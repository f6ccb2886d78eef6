"""Specs: block operators as data, from which each lane makes its own.

A spec says everything that its operator is made of, what it knows of its inputs included. Two
operators over the same inputs are one if their specs are equal, and saved state belongs to the spec
that wrote it. A field that takes no part in comparisons is advice: another value gives the same
results from the same state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Expression
from penstock.algebra.patterns import Pattern
from penstock.algebra.positions import columns_at, positions
from penstock.algebra.types import STRING, Schema, Type, to_arrow
from penstock.compute.evaluate import compile_expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.flow import Flow
    from penstock.operators.operator import Operator

ROW_BYTES, TEXT_BYTES = 32.0, 24.0
"""Of a row with its ends and its place in an index, columns left out; of a text in it."""

Columns = tuple[Expression | None, ...]
"""Columns of results as expressions over the columns of an input; None: not made of these."""


@dataclass(frozen=True)
class Edge:
    """Rows that one operator hands to another.

    Args:
        types: The types of their columns.
        pattern: How they end.
        span: For how long they live, about: the longest window below.
    """

    types: tuple[Type, ...]
    pattern: Pattern
    span: int

    @property
    def schema(self) -> Schema:
        """The columns, named by position."""
        return positions(self.types)

    @property
    def columns(self) -> tuple[Expression, ...]:
        """The columns, as expressions."""
        return columns_at(self.types)

    @property
    def arrow_types(self) -> list[pa.DataType]:
        """Types that the columns are kept in."""
        return [to_arrow(one) for one in self.types]


@dataclass(frozen=True)
class Lineage:
    """The origin of a row of an operator's results.

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


Amount = Callable[["Sequence[Flow]", "Flow"], float]
"""Rows that are kept, by what comes on each input and what is sent."""


@dataclass(frozen=True)
class Structure:
    """A structure in which an operator keeps rows.

    Args:
        name: As people know it.
        types: The types of the columns of a row that is kept.
        rows: The number of rows in it.
        more: Bytes of a row beyond its columns, ends, and place in one index.
    """

    name: str
    types: tuple[Type, ...]
    rows: Amount
    more: float = 0.0

    @property
    def width(self) -> float:
        """Bytes of a row that is kept."""
        return row_width(self.types) + self.more


def row_width(types: Sequence[Type]) -> float:
    """Bytes of a row of these columns, its ends and its place in an index included."""
    return ROW_BYTES + sum(TEXT_BYTES if one == STRING else 8.0 for one in types)


def live_in(port: int) -> Amount:
    """The rows of an input that are valid."""
    return lambda inputs, _out: inputs[port].live


def live_out(_inputs: Sequence[Flow], out: Flow) -> float:
    """The rows of the results that are valid."""
    return out.live


def waiting_for(step: float) -> Amount:
    """The rows of an input that wait for the next multiple of so many steps of time."""
    return lambda inputs, _out: inputs[0].rate * step / 2


@dataclass(frozen=True)
class Spec:
    """A block operator to be made.

    Attributes:
        is_numbering: Whether the last column of its results tells elements apart.
    """

    is_numbering = False

    def build(self, failures: Failures) -> Operator:
        """A new operator; expressions that fail are counted."""
        raise NotImplementedError

    def on_lanes(self, lanes: int) -> Spec:
        """The same where so many lanes share the rows; most operators do not care."""
        del lanes
        return self

    def structures(self) -> tuple[Structure, ...]:
        """The structures in which it keeps rows; nothing if it keeps none."""
        return ()

    def lineage(self) -> Lineage | None:
        """The origin of its rows; None: nobody knows which lane they belong to."""
        return None


def structure_of(pattern: Pattern, partitions: int) -> str:
    """The structure for rows of a pattern: how they leave decides how they are kept."""
    if pattern in (Pattern.MON, Pattern.WKS):
        return "fifo"
    return "hashed" if pattern is Pattern.STR else calendar(partitions)


def calendar(partitions: int) -> str:
    """A calendar queue of so many partitions."""
    return f"calendar({partitions})"


def passed(types: Sequence[Type], inputs: int = 1) -> Lineage:
    """Rows of any of the inputs, as they are."""
    return Lineage((columns_at(types),) * inputs, of_each=False)


def of_first(types: Sequence[Type], inputs: int) -> Lineage:
    """Rows of the first input, at instants that the others tell."""
    nothing: Columns = (None,) * len(types)
    return Lineage((columns_at(types), *[nothing] * (inputs - 1)))


def evaluators(expressions: Sequence[Expression], schema: Schema) -> list[Evaluator]:
    """The evaluators of expressions over a schema of positions."""
    return [compile_expression(one, schema) for one in expressions]
