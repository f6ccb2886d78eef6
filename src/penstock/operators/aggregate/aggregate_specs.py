"""Specs of aggregates: in groups, in phases, and over the matches of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.algebra.positions import positions
from penstock.algebra.types import Type, to_arrow
from penstock.operators.aggregate.accumulators.choice import accumulator_for
from penstock.operators.aggregate.aggregate import AggregateOperator
from penstock.operators.aggregate.aggregate_calls import ComputedCall
from penstock.operators.aggregate.combine_partials import CombineOperator
from penstock.operators.aggregate.matched_aggregate import MatchTotals
from penstock.operators.aggregate.partials import partial_for
from penstock.operators.spec import (
    Edge,
    Lineage,
    Spec,
    Structure,
    evaluators,
    live_in,
    live_out,
    structure_of,
)

if TYPE_CHECKING:
    from penstock.algebra.expressions import AggregateCall, Expression
    from penstock.algebra.failures import Failures


@dataclass(frozen=True)
class AggregateSpec(Spec):
    """GROUP BY: keys, then aggregates."""

    rows: Edge
    keys: tuple[Expression, ...]
    calls: tuple[AggregateCall, ...]
    row_over_nothing: bool
    partitions: int

    def build(self, failures: Failures) -> AggregateOperator:
        """The operator."""
        rows, schema = self.rows, self.rows.schema
        keys = zip(evaluators(self.keys, schema), self.keys, strict=True)
        calls = [
            ComputedCall(
                one.function, evaluators(one.args, schema), accumulator_for(one, rows.pattern)
            )
            for one in self.calls
        ]
        return AggregateOperator(
            [(compiled, to_arrow(key.type)) for compiled, key in keys],
            [(made, to_arrow(one.of)) for made, one in zip(calls, self.calls, strict=True)],
            rows.pattern,
            rows.span,
            self.partitions,
            failures,
            row_over_nothing=self.row_over_nothing,
        )

    def lineage(self) -> Lineage:
        """Keys of rows that came."""
        return Lineage(((*self.keys, *[None] * len(self.calls)),))

    def structures(self) -> tuple[Structure, ...]:
        """Rows, unless they never leave their group; groups, unless there is one for all."""
        types = tuple(one.type for one in self.keys) + tuple(one.of for one in self.calls)
        groups = Structure("hashed", types, live_out)
        pattern = self.rows.pattern
        if pattern is Pattern.MON:
            return (groups,)
        rows = Structure(structure_of(pattern, self.partitions), self.rows.types, live_in(0))
        return (rows, groups) if self.keys else (rows,)


@dataclass(frozen=True)
class CombineSpec(Spec):
    """The first phase of an aggregate."""

    types: tuple[Type, ...]
    keys: tuple[Expression, ...]
    calls: tuple[AggregateCall, ...]

    def build(self, failures: Failures) -> CombineOperator:
        """The operator."""
        schema = positions(self.types)
        partials = [
            partial_for(one.function, evaluators(one.args, schema), to_arrow(one.of))
            for one in self.calls
        ]
        return CombineOperator(evaluators(self.keys, schema), partials, failures)

    def lineage(self) -> Lineage:
        """Keys of rows that came."""
        return Lineage(((*self.keys, *[None] * len(self.calls)),))


@dataclass(frozen=True)
class Totals:
    """Aggregates over the rows that a row matches; `types` are those of their columns."""

    types: tuple[Type, ...]
    calls: tuple[AggregateCall, ...]
    row_over_nothing: bool

    def build(self, failures: Failures) -> MatchTotals:
        """The operator that computes them."""
        schema = positions(self.types)
        arguments = [evaluators(one.args, schema) for one in self.calls]
        return MatchTotals(self.calls, arguments, failures, row_over_nothing=self.row_over_nothing)
