"""Specs of operators that keep nothing: where rows enter, filters, maps, unions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.positions import columns_at, equalities, positions
from penstock.compute.evaluate import compile_expression
from penstock.operators.sources import InOrder, Passing
from penstock.operators.spec import Lineage, Spec, evaluators, passed
from penstock.operators.stateless import FilterOperator, MapOperator

if TYPE_CHECKING:
    from penstock.algebra.expressions import Expression
    from penstock.algebra.failures import Failures
    from penstock.algebra.streams import Exchanged, Relation, Stream
    from penstock.algebra.types import Type


@dataclass(frozen=True)
class StreamSpec(Spec):
    """The place where the rows of a stream enter."""

    source: Stream

    def build(self, failures: Failures) -> InOrder:
        """Rows by time, in the order of their arrival."""
        return InOrder()


@dataclass(frozen=True)
class ExchangeSpec(Spec):
    """The place where the rows of another fragment enter; they are what results are."""

    source: Exchanged

    def build(self, failures: Failures) -> Passing:
        """Rows as they were sent."""
        return Passing()


@dataclass(frozen=True)
class ChangesSpec(Spec):
    """The place where the changes of a relation enter."""

    source: Relation

    def build(self, failures: Failures) -> Passing:
        """Changes as they are told."""
        return Passing()


@dataclass(frozen=True)
class UnionSpec(Spec):
    """Rows of several inputs."""

    types: tuple[Type, ...]
    inputs: int

    def build(self, failures: Failures) -> Passing:
        """Rows as they come."""
        return Passing()

    def lineage(self) -> Lineage:
        """Rows of any of them."""
        return passed(self.types, self.inputs)


@dataclass(frozen=True)
class FilterSpec(Spec):
    """Rows for which a predicate is TRUE."""

    predicate: Expression
    types: tuple[Type, ...]

    def build(self, failures: Failures) -> FilterOperator:
        """The filter."""
        return FilterOperator(compile_expression(self.predicate, positions(self.types)), failures)

    def lineage(self) -> Lineage:
        """Rows as they were; what the predicate says is equal."""
        return Lineage((columns_at(self.types),), equal=tuple(equalities(self.predicate)))


@dataclass(frozen=True)
class MapSpec(Spec):
    """New columns, computed of those of each row."""

    columns: tuple[Expression, ...]
    types: tuple[Type, ...]

    def build(self, failures: Failures) -> MapOperator:
        """The map."""
        return MapOperator(evaluators(self.columns, positions(self.types)), failures)

    def lineage(self) -> Lineage:
        """Each row of one row."""
        return Lineage((self.columns,))
