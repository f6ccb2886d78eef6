"""The relational operators of the algebra, each defined on snapshots.

At every instant the result is the ordinary relational operator applied to what is valid then;
`penstock.reference.snapshots` says so, one definition per class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.algebra.plan import Binary, Named, Plan, Unary, require_same_types
from penstock.algebra.types import Field, Schema
from penstock.errors import InternalError, Refused

if TYPE_CHECKING:
    from penstock.algebra.expressions import AggregateCall, Expression


@dataclass(frozen=True)
class Filter(Unary):
    """The rows for which the predicate is TRUE."""

    predicate: Expression

    def __post_init__(self) -> None:
        """Check that the predicate reads columns of the input."""
        self._require(self.predicate, self.child.schema)

    def label(self) -> str:
        """The predicate."""
        return f"Filter {self.predicate}"


@dataclass(frozen=True)
class Map(Unary):
    """Each row turned into a new one by expressions (projection)."""

    columns: tuple[Named, ...]

    def __post_init__(self) -> None:
        """Check that the expressions read columns of the input."""
        for column in self.columns:
            self._require(column.expression, self.child.schema)

    @cached_property
    def schema(self) -> Schema:
        """The named expressions."""
        return Schema(tuple(column.field for column in self.columns))

    def label(self) -> str:
        """The expressions."""
        return f"Map {', '.join(map(str, self.columns))}"


@dataclass(frozen=True)
class Alias(Unary):
    """The input under another name: column `c` becomes `name.c`. Rows do not change."""

    name: str

    @cached_property
    def schema(self) -> Schema:
        """The input's columns, renamed."""
        renamed = (Field(f"{self.name}.{f.short_name}", f.type) for f in self.child.schema)
        return Schema(tuple(renamed))

    def label(self) -> str:
        """The new name."""
        return f"Alias {self.name}"


@dataclass(frozen=True)
class Distinct(Unary):
    """Every different row once."""


@dataclass(frozen=True)
class Product(Binary):
    """Every left row with every right row."""

    @cached_property
    def schema(self) -> Schema:
        """The columns of both."""
        return self.left.schema + self.right.schema


@dataclass(frozen=True)
class Join(Binary):
    """The rows of the product for which the condition is TRUE (theta-join, equi-join)."""

    condition: Expression

    def __post_init__(self) -> None:
        """Check that the condition reads columns of the inputs."""
        self._require(self.condition, self.schema)

    @cached_property
    def schema(self) -> Schema:
        """The columns of both."""
        return self.left.schema + self.right.schema

    def label(self) -> str:
        """The condition."""
        return f"Join {self.condition}"


@dataclass(frozen=True)
class _Existential(Binary):
    condition: Expression

    def __post_init__(self) -> None:
        """Check that the condition reads columns of the inputs."""
        self._require(self.condition, self.left.schema + self.right.schema)

    @cached_property
    def schema(self) -> Schema:
        """The left columns only."""
        return self.left.schema

    def label(self) -> str:
        """The condition."""
        return f"{type(self).__name__} {self.condition}"


@dataclass(frozen=True)
class SemiJoin(_Existential):
    """The left rows, each once, for which some right row makes the condition TRUE."""


@dataclass(frozen=True)
class AntiJoin(_Existential):
    """The left rows for which no right row makes the condition TRUE.

    NOT IN is the anti-join whose condition is `(x = y) IS NOT FALSE`: SQL's NULL rules follow.
    """


@dataclass(frozen=True)
class UnionAll(Plan):
    """The rows of all inputs, as bags."""

    inputs: tuple[Plan, ...]

    def __post_init__(self) -> None:
        """Check that the columns line up."""
        require_same_types("UnionAll", self.inputs)

    @property
    def children(self) -> tuple[Plan, ...]:
        """The inputs."""
        return self.inputs

    @cached_property
    def schema(self) -> Schema:
        """The first input's columns."""
        return self.inputs[0].schema

    def rebuild(self, children: tuple[Plan, ...]) -> Plan:
        """The union of other inputs."""
        return UnionAll(children)


@dataclass(frozen=True)
class BagOperation(Binary):
    """An operator that combines how often a row occurs left and right."""

    def __post_init__(self) -> None:
        """Check that the columns line up."""
        require_same_types(type(self).__name__, self.children)

    @cached_property
    def schema(self) -> Schema:
        """The left input's columns."""
        return self.left.schema


@dataclass(frozen=True)
class Difference(BagOperation):
    """A row occurs as often as left minus right, at least zero times (EXCEPT ALL)."""


@dataclass(frozen=True)
class Intersection(BagOperation):
    """A row occurs as often as in the input that has it less often (INTERSECT ALL)."""


@dataclass(frozen=True)
class MaxUnion(BagOperation):
    """A row occurs as often as in the input that has it more often."""


@dataclass(frozen=True)
class StrictDifference(BagOperation):
    """The left rows, with all their copies, that do not occur on the right at all."""


@dataclass(frozen=True)
class Aggregate(Unary):
    """One row per group: the keys, then the aggregates over the group's rows.

    Without keys there is one group; over no rows it has SQL's single row, unless
    `row_over_nothing` is False.
    """

    keys: tuple[Named, ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]
    row_over_nothing: bool = True

    def __post_init__(self) -> None:
        """Check that keys and arguments read columns of the input."""
        for key in self.keys:
            self._require(key.expression, self.child.schema)
        for _, call in self.aggregates:
            for arg in call.args:
                self._require(arg, self.child.schema)

    @cached_property
    def schema(self) -> Schema:
        """Keys, then aggregates."""
        keys = tuple(key.field for key in self.keys)
        return Schema(keys + tuple(Field(name, call.of) for name, call in self.aggregates))

    def label(self) -> str:
        """Aggregates and keys."""
        calls = [
            str(call) if str(call) == name else f"{name} = {call}" for name, call in self.aggregates
        ]
        keys = f" BY {', '.join(map(str, self.keys))}" if self.keys else ""
        return f"Aggregate {', '.join(calls)}{keys}".replace("Aggregate  BY", "Aggregate BY")


@dataclass(frozen=True)
class Combine(Unary):
    """Rows that come and go together, put together: the first of two phases of an aggregate.

    Of rows with equal keys and one validity it makes one, or several. Only the planner makes
    these: what they show at an instant depends on how rows were put together, what an aggregate
    over them shows does not.
    """

    keys: tuple[Named, ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]

    @cached_property
    def schema(self) -> Schema:
        """Keys, then partial aggregates."""
        keys = tuple(key.field for key in self.keys)
        return Schema(keys + tuple(Field(name, call.of) for name, call in self.aggregates))

    def label(self) -> str:
        """Partial aggregates and keys."""
        calls = ", ".join(str(call) for _, call in self.aggregates)
        return f"Combine {calls}" + (f" BY {', '.join(map(str, self.keys))}" if self.keys else "")


@dataclass(frozen=True)
class ScalarProduct(Binary):
    """Each left row with the value of the right side's single row, NULL if it has none."""

    def __post_init__(self) -> None:
        """The right side is a global aggregate, of one column."""
        if len(self.right.schema) != 1:
            msg = f"a scalar subquery has one column, not {len(self.right.schema)}"
            raise InternalError(msg)

    @cached_property
    def schema(self) -> Schema:
        """The left columns and the scalar."""
        return self.left.schema + self.right.schema


@dataclass(frozen=True)
class GroupJoin(Binary):
    """Each left row with aggregates over the right rows that make the condition TRUE.

    A correlated scalar subquery is one; over no matching row COUNT is 0, the others NULL. All are
    NULL there if `row_over_nothing` is False: then the subquery has no row.
    """

    condition: Expression
    aggregates: tuple[tuple[str, AggregateCall], ...]
    row_over_nothing: bool = True

    def __post_init__(self) -> None:
        """Check the columns that condition and arguments read."""
        self._require(self.condition, self.left.schema + self.right.schema)
        for _, call in self.aggregates:
            for arg in call.args:
                self._require(arg, self.right.schema)

    @cached_property
    def schema(self) -> Schema:
        """The left columns, then the aggregates."""
        return self.left.schema + Schema(tuple(Field(n, call.of) for n, call in self.aggregates))

    def label(self) -> str:
        """Aggregates and condition."""
        calls = ", ".join(str(call) for _, call in self.aggregates)
        return f"GroupJoin {calls} OVER {self.condition}"


@dataclass(frozen=True)
class OnArrival(Unary):
    """A stream that reads a non-retroactive relation: each row when it arrives, and once.

    The operator below (a join, semi-join, anti-join, ...) has the stream on its left and the
    relation on its right. It meets the relation as it was at the row's own instant, updates of
    that instant included; its result for the row keeps the row's interval.
    """

    @property
    def reading(self) -> Binary:
        """The operator that is applied row by row."""
        assert isinstance(self.child, Binary)
        return self.child


@dataclass(frozen=True)
class Group(Unary):
    """One of the `parts` streams a stream is divided into: the rows whose selector is `index`.

    The selector is an integer expression with values 0 to parts - 1; other rows are in no part.
    """

    selector: Expression
    parts: int
    index: int

    def __post_init__(self) -> None:
        """Check selector and index."""
        self._require(self.selector, self.child.schema)
        if not 0 <= self.index < self.parts:
            msg = f"group {self.index} of {self.parts} does not exist"
            raise Refused(msg, hint=f"Groups are numbered 0 to {self.parts - 1}.")

    def label(self) -> str:
        """Selector and part."""
        return f"Group {self.selector} part {self.index + 1} of {self.parts}"


@dataclass(frozen=True)
class Coalesce(Unary):
    """Equal rows whose intervals meet become one element; snapshots do not change."""


@dataclass(frozen=True)
class Final(Unary):
    """Results are sent when their intervals are closed, by (ts, te); snapshots do not change."""


@dataclass(frozen=True)
class Split(Unary):
    """Elements are cut at the multiples of `length`; snapshots do not change."""

    length: int = 1

    def __post_init__(self) -> None:
        """Refuse pieces of no length."""
        if self.length < 1:
            msg = f"intervals cannot be split into pieces of length {self.length}"
            raise Refused(msg, hint="Write 1 or more.")

    def label(self) -> str:
        """The length."""
        return f"Split {self.length}"
