"""Specs of joins of two inputs, by equal keys and by any condition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Expression, Literal
from penstock.algebra.positions import moved, positions
from penstock.compute.evaluate import compile_expression
from penstock.operators.join.anti import AntiJoinOperator
from penstock.operators.join.arrival import Mode, ReadOnArrival
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.join.outer import OuterJoinOperator
from penstock.operators.join.pair_condition import PairCondition
from penstock.operators.spec import (
    Columns,
    Edge,
    Lineage,
    Spec,
    Structure,
    evaluators,
    live_in,
    structure_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.algebra.failures import Failures
    from penstock.operators.aggregate.aggregate_specs import Totals
    from penstock.operators.block import Block


@dataclass(frozen=True)
class SideSpec:
    """An input of a join.

    Args:
        rows: Its rows.
        keys: Expressions over them that have to be equal to those of other inputs.
        null_matches: For each key, whether NULL matches NULL.
        partitions: Into how many parts a calendar queue divides the time that rows live.
    """

    rows: Edge
    keys: tuple[Expression, ...]
    null_matches: tuple[bool, ...]
    partitions: int

    def structure(self, port: int) -> Structure:
        """The structure of its rows."""
        name = structure_of(self.rows.pattern, self.partitions)
        return Structure(name, self.rows.types, live_in(port))

    def build(self, failures: Failures) -> JoinSide:
        """The input as the join knows it; keys that fail are counted."""
        compiled = evaluators(self.keys, self.rows.schema)

        def key_columns(block: Block) -> Sequence[pa.Array]:
            return [key(block.columns, len(block), failures) for key in compiled]

        rows = self.rows
        return JoinSide(
            rows.arrow_types,
            key_columns,
            self.null_matches,
            rows.pattern,
            rows.span,
            self.partitions,
        )


def condition_of(
    asks: Expression | None, sides: Sequence[Edge], failures: Failures
) -> PairCondition | None:
    """The condition on rows of several inputs, side by side; it counts how often it holds."""
    if asks is None:
        return None
    types = tuple(one for side in sides for one in side.types)
    return PairCondition(compile_expression(asks, positions(types)), failures)


def beside(left: SideSpec, right: SideSpec) -> Lineage:
    """Rows of two inputs that meet, side by side: their keys are equal."""
    first, second = left.rows.columns, right.rows.columns
    keys = (moved(key, 0, len(first)) for key in right.keys)
    return Lineage(
        ((*first, *[None] * len(second)), (*[None] * len(first), *second)),
        equal=tuple(zip(left.keys, keys, strict=True)),
    )


@dataclass(frozen=True)
class JoinSpec(Spec):
    """All pairs of rows with equal keys that satisfy a residual, which is over both."""

    left: SideSpec
    right: SideSpec
    residual: Expression | None = None

    def build(self, failures: Failures) -> JoinOperator:
        """The operator."""
        sides = (self.left.rows, self.right.rows)
        asked = condition_of(self.residual, sides, failures)
        made = JoinOperator(self.left.build(failures), self.right.build(failures), asked)
        made.condition = asked
        return made

    def lineage(self) -> Lineage:
        """Rows of both."""
        return beside(self.left, self.right)

    def structures(self) -> tuple[Structure, ...]:
        """Rows of both inputs."""
        return (self.left.structure(0), self.right.structure(1))


@dataclass(frozen=True)
class OuterJoinSpec(Spec):
    """Pairs of rows with equal keys and, beside NULLs, the rows of padded sides without one."""

    left: SideSpec
    right: SideSpec
    padded: tuple[bool, bool]

    def build(self, failures: Failures) -> OuterJoinOperator:
        """The operator."""
        return OuterJoinOperator(self.left.build(failures), self.right.build(failures), self.padded)

    def lineage(self) -> Lineage:
        """Rows of both, or of one."""
        first, second = self.left.rows, self.right.rows
        unknown: Columns = (None,) * (len(first.types) + len(second.types))
        alone = [
            (beside_nulls(first, second, 0), unknown),
            (unknown, beside_nulls(first, second, 1)),
        ]
        otherwise = (Lineage(alone[port]) for port in range(2) if self.padded[port])
        return replace(beside(self.left, self.right), otherwise=tuple(otherwise))

    def structures(self) -> tuple[Structure, ...]:
        """Rows of both inputs."""
        return (self.left.structure(0), self.right.structure(1))


def beside_nulls(left: Edge, right: Edge, port: int) -> tuple[Expression, ...]:
    """The columns of one side, as expressions over it, and NULL for each of the other."""
    mine, other = ((left, right), (right, left))[port]
    nulls = [Literal(None, one) for one in other.types]
    return (*nulls, *mine.columns) if port else (*mine.columns, *nulls)


@dataclass(frozen=True)
class AntiJoinSpec(Spec):
    """Left rows whose key is not among the rows of the other input, which has each row once."""

    left: SideSpec
    coverage: SideSpec

    def build(self, failures: Failures) -> AntiJoinOperator:
        """The operator."""
        return AntiJoinOperator(self.left.build(failures), self.coverage.build(failures))

    def lineage(self) -> Lineage:
        """Left rows."""
        columns = self.left.rows.columns
        return Lineage((columns, (None,) * len(columns)))

    def structures(self) -> tuple[Structure, ...]:
        """Left rows, and the keys that cover them."""
        return (self.left.structure(0), self.coverage.structure(1))


@dataclass(frozen=True)
class ReadOnArrivalSpec(Spec):
    """Rows of a stream that meet a relation as it is when they arrive."""

    stream: SideSpec
    relation: SideSpec
    mode: Mode
    residual: Expression | None = None
    totals: Totals | None = None

    def build(self, failures: Failures) -> ReadOnArrival:
        """The operator."""
        sides = (self.stream.rows, self.relation.rows)
        asked = condition_of(self.residual, sides, failures)
        fold = None if self.totals is None else self.totals.build(failures)
        made = ReadOnArrival(
            self.stream.build(failures), self.relation.build(failures), self.mode, asked, fold
        )
        made.condition = asked
        return made

    def lineage(self) -> Lineage:
        """Rows of the stream; with rows of the relation, or what was made of these, behind them."""
        if self.mode == "join":
            return beside(self.stream, self.relation)
        columns = self.stream.rows.columns
        added = 0 if self.totals is None else len(self.totals.calls)
        return Lineage(((*columns, *[None] * added), (None,) * (len(columns) + added)))

    def structures(self) -> tuple[Structure, ...]:
        """Rows of the relation."""
        return (self.relation.structure(1),)
