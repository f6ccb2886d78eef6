"""Specs of operators that count copies of rows: relations, DISTINCT, set operations, changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.operators.set.counted import CountedRows, Target, only_grows
from penstock.operators.set.distinct import DistinctOperator
from penstock.operators.set.set_counts import InsertedRows, RemovedRows, SetOperation
from penstock.operators.sources import RelationRows
from penstock.operators.spec import (
    Edge,
    Lineage,
    Spec,
    Structure,
    calendar,
    live_in,
    passed,
    structure_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.operators.flow import Flow


@dataclass(frozen=True)
class Counting:
    """The rows of some inputs, counted."""

    inputs: tuple[Edge, ...]
    partitions: int
    target: Target = Target.COPIES

    @property
    def structures(self) -> tuple[Structure, ...]:
        """The rows of each input."""
        return tuple(
            Structure(structure_of(one.pattern, self.partitions), one.types, live_in(port))
            for port, one in enumerate(self.inputs)
        )

    def build(self) -> CountedRows:
        """Counted rows, none yet."""
        first, patterns = self.inputs[0], [one.pattern for one in self.inputs]
        span = max(one.span for one in self.inputs)
        return CountedRows(first.arrow_types, patterns, self.target, span, self.partitions)

    @property
    def only_grows(self) -> bool:
        """No copy of a row ever leaves the result."""
        return only_grows(self.target, [one.pattern for one in self.inputs])

    def lineage(self) -> Lineage:
        """Rows of any of the inputs."""
        return passed(self.inputs[0].types, len(self.inputs))


@dataclass(frozen=True)
class RelationSpec(Spec):
    """A relation, as the net of its changes."""

    name: str
    counting: Counting

    def build(self, failures: Failures) -> RelationRows:
        """The relation."""
        return RelationRows(self.counting.build(), self.name)

    def lineage(self) -> Lineage:
        """Rows that came."""
        return self.counting.lineage()

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are counted."""
        return self.counting.structures


@dataclass(frozen=True)
class CountedSpec(Spec):
    """A set operation that counts copies and withdraws."""

    counting: Counting

    def build(self, failures: Failures) -> SetOperation:
        """The operation."""
        return SetOperation(self.counting.build())

    def lineage(self) -> Lineage:
        """Rows of any of the inputs."""
        return self.counting.lineage()

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are counted."""
        return self.counting.structures


@dataclass(frozen=True)
class ChangedSpec(Spec):
    """Rows that enter a result, netted; or those that leave it."""

    counting: Counting
    removed: bool = False

    def build(self, failures: Failures) -> InsertedRows:
        """The operator that tells them."""
        return (RemovedRows if self.removed else InsertedRows)(self.counting.build())

    def lineage(self) -> Lineage:
        """Rows of the result."""
        return self.counting.lineage()

    def structures(self) -> tuple[Structure, ...]:
        """Rows that are counted."""
        return self.counting.structures


@dataclass(frozen=True)
class DistinctSpec(Spec):
    """DISTINCT of rows that are never withdrawn: by output and youngest duplicate."""

    rows: Edge
    partitions: int

    def build(self, failures: Failures) -> DistinctOperator:
        """The operator."""
        return DistinctOperator(self.rows.arrow_types, self.rows.span, self.partitions)

    def lineage(self) -> Lineage:
        """Rows that came."""
        return passed(self.rows.types)

    def structures(self) -> tuple[Structure, ...]:
        """Each different row, and its youngest copy."""
        return (Structure(calendar(self.partitions), self.rows.types, _twice),)


def _twice(_inputs: Sequence[Flow], out: Flow) -> float:
    return 2 * out.live
