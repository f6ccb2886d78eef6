"""Specs of what queries send out: whole results at instants, the first rows, other intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.algebra.positions import positions
from penstock.algebra.types import Type, to_arrow
from penstock.compute.evaluate import compile_expression
from penstock.operators.output.cuts import CoalesceOperator, SplitOperator
from penstock.operators.output.emit_final import FinalOperator
from penstock.operators.output.first_rows import FirstPlaces, FirstRowsOperator
from penstock.operators.output.negative import AnnouncedEnds
from penstock.operators.output.order_limit import OrderKey, RowOrder
from penstock.operators.output.output_instants import Boundaries, RowSlides, TimeSlides
from penstock.operators.output.restored import NextInstant, RestoredResult
from penstock.operators.output.rstream import WholeResult
from penstock.operators.spec import (
    Edge,
    Lineage,
    Spec,
    Structure,
    calendar,
    evaluators,
    live_in,
    live_out,
    of_first,
    passed,
    structure_of,
    waiting_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Expression
    from penstock.algebra.failures import Failures
    from penstock.operators.flow import Flow
    from penstock.operators.operator import Operator
    from penstock.operators.set.set_specs import Counting
    from penstock.operators.source_specs import MapSpec


@dataclass(frozen=True)
class SortKey:
    """An expression to order by."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class OrderSpec:
    """The order of rows, how many are left out and kept, and what is shown of them at last."""

    types: tuple[Type, ...]
    keys: tuple[SortKey, ...]
    limit: int | None
    offset: int
    maps: tuple[MapSpec, ...] = ()

    def build(self, failures: Failures) -> RowOrder:
        """The order that puts rows in their places."""
        schema = positions(self.types)
        keys = [
            OrderKey(compile_expression(one.expression, schema), one.descending, one.nulls_first)
            for one in self.keys
        ]
        maps = [one.build(failures) for one in self.maps]
        return RowOrder(keys, self.limit, self.offset, maps, failures)


@dataclass(frozen=True)
class FirstRowsSpec(Spec):
    """The rows at the first places of each group, with or without their numbers."""

    counting: Counting
    order: OrderSpec
    partition_by: tuple[Expression, ...] = ()
    is_numbered: bool = False

    def build(self, failures: Failures) -> FirstRowsOperator:
        """The operator."""
        order = self.order.build(failures)
        keys = [one.expression.type for one in self.order.keys]
        places = FirstPlaces(
            self.order.types,
            tuple(zip(order.keys, keys, strict=True)),
            evaluators(self.partition_by, positions(self.order.types)),
            order.limit,
            order.offset,
            self.is_numbered,
            failures,
        )
        return FirstRowsOperator(self.counting.build(), places, self.counting.inputs[0].pattern)

    def lineage(self) -> Lineage:
        """Rows that came, and their numbers."""
        (columns,) = self.counting.lineage().columns
        return Lineage(((*columns, *[None] * self.is_numbered),))

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are counted; where none ever leaves, those that are shown."""
        if self.counting.inputs[0].pattern is not Pattern.MON:
            return self.counting.structures
        return (Structure("hashed", self.order.types, self._shown),)

    def _shown(self, inputs: Sequence[Flow], out: Flow) -> float:
        return min(inputs[0].live, out.live * (1 + self.order.offset))


@dataclass(frozen=True)
class WholeResultSpec(Spec):
    """All of a result at instants, in order if it has one."""

    counting: Counting
    order: OrderSpec | None = None

    def build(self, failures: Failures) -> WholeResult:
        """The operator."""
        order = None if self.order is None else self.order.build(failures)
        return WholeResult(self.counting.build(), order)

    def lineage(self) -> Lineage | None:
        """Rows of the result; where these are in an order, all lanes' rows are."""
        return of_first(self.counting.inputs[0].types, 2) if self.order is None else None

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are counted."""
        return self.counting.structures


@dataclass(frozen=True)
class BoundariesSpec(Spec):
    """The instants at which rows of some inputs begin and end."""

    span: int
    partitions: int

    def build(self, failures: Failures) -> Boundaries:
        """The operator that tells them."""
        return Boundaries(self.span, self.partitions)

    def structures(self) -> tuple[Structure, ...]:
        """Ends of rows."""
        return (Structure(calendar(self.partitions), (), live_out),)


@dataclass(frozen=True)
class TimeSlidesSpec(Spec):
    """The slides of windows over time: of so many streams, and of windows over these."""

    slide: int
    arrivals: int
    skips: bool

    def build(self, failures: Failures) -> TimeSlides:
        """The operator that tells them."""
        return TimeSlides(self.slide, self.arrivals, skips=self.skips)


@dataclass(frozen=True)
class RowSlidesSpec(Spec):
    """The slides of a window that counts rows."""

    types: tuple[Type, ...]
    slide: int
    partition_by: tuple[int, ...]

    def build(self, failures: Failures) -> RowSlides:
        """The operator that tells them."""
        return RowSlides([to_arrow(one) for one in self.types], self.slide, self.partition_by)

    def structures(self) -> tuple[Structure, ...]:
        """Partitions, each with the number of its rows."""
        types = tuple(self.types[place] for place in self.partition_by)
        return (Structure("hashed", types, live_out),)


@dataclass(frozen=True)
class NextInstantSpec(Spec):
    """Rows of the first input, at the next instant that the second one tells."""

    types: tuple[Type, ...] = field(default=(), compare=False)

    def build(self, failures: Failures) -> NextInstant:
        """The operator that lets them wait."""
        return NextInstant()

    def structures(self) -> tuple[Structure, ...]:
        """Rows that wait."""
        return (Structure("fifo", self.types, waiting_for(1)),)


@dataclass(frozen=True)
class RestoredResultSpec(Spec):
    """All of a result at instants, with what entered it since the last; of so many streams."""

    counting: Counting
    slide: int | None
    arrivals: int

    def build(self, failures: Failures) -> RestoredResult:
        """The operator."""
        return RestoredResult(self.counting.build(), self.slide)

    def lineage(self) -> Lineage:
        """Rows of the result."""
        return of_first(self.counting.inputs[0].types, 2 + self.arrivals)

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are counted."""
        return self.counting.structures


@dataclass(frozen=True)
class AnnouncedEndsSpec(Spec):
    """Negative rows in the place of known ends."""

    rows: Edge
    partitions: int

    def build(self, failures: Failures) -> AnnouncedEnds:
        """The operator that remembers the ends."""
        rows = self.rows
        return AnnouncedEnds(rows.arrow_types, rows.pattern, rows.span, self.partitions)

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.rows.types)

    def structures(self) -> tuple[Structure, ...]:
        """Rows that have not ended."""
        name = structure_of(self.rows.pattern, self.partitions)
        return (Structure(name, self.rows.types, live_in(0)),)


@dataclass(frozen=True)
class CutSpec(Spec):
    """Other intervals, the same snapshots: pieces of a length, or (None) put together."""

    types: tuple[Type, ...]
    length: int | None

    def build(self, failures: Failures) -> Operator:
        """Split or coalesce."""
        return CoalesceOperator() if self.length is None else SplitOperator(self.length)

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.types)

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are cut again."""
        return () if self.length is None else (Structure("fifo", self.types, live_in(0)),)


@dataclass(frozen=True)
class FinalSpec(Spec):
    """EMIT FINAL: rows that have ended."""

    rows: Edge

    def build(self, failures: Failures) -> FinalOperator:
        """The operator that waits for their ends."""
        return FinalOperator(self.rows.arrow_types, strict=self.rows.pattern is Pattern.STR)

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.rows.types)

    def structures(self) -> tuple[Structure, ...]:
        """Rows that have not ended."""
        name = "hashed" if self.rows.pattern is Pattern.STR else "fifo"
        return (Structure(name, self.rows.types, live_in(0)),)
