"""Specs of windows, and of what tells the elements of windows apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra.patterns import Pattern
from penstock.algebra.types import Type, to_arrow
from penstock.algebra.windows import Hopping, Rows, WindowSpec
from penstock.operators.spec import (
    Columns,
    Edge,
    Lineage,
    Spec,
    Structure,
    live_in,
    live_out,
    passed,
    waiting_for,
)
from penstock.operators.window.arranging import ByValue
from penstock.operators.window.attached import Attached
from penstock.operators.window.element_numbers import Number
from penstock.operators.window.ends import DropEnds, EndsFromColumn, EndsToColumn
from penstock.operators.window.hopping_window import HoppingWindow
from penstock.operators.window.rows_window import RowsWindow
from penstock.operators.window.time_windows import TimeWindow

if TYPE_CHECKING:
    from penstock.algebra.failures import Failures


@dataclass(frozen=True)
class TimeWindowSpec(Spec):
    """A window over time."""

    window: WindowSpec
    types: tuple[Type, ...]

    def build(self, failures: Failures) -> TimeWindow:
        """The window."""
        return TimeWindow(self.window)

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.types)

    def structures(self) -> tuple[Structure, ...]:
        """Rows that wait for the next slide."""
        step = self.window.time_slide
        return (Structure("fifo", self.types, waiting_for(step)),) if step else ()


@dataclass(frozen=True)
class HoppingWindowSpec(Spec):
    """Windows [start, end), which rows are told as two columns of a type."""

    window: Hopping
    types: tuple[Type, ...]
    time: Type

    def build(self, failures: Failures) -> HoppingWindow:
        """The windows."""
        return HoppingWindow(self.window, to_arrow(self.time))

    def lineage(self) -> Lineage:
        """Rows as they came, and what the window says."""
        columns: Columns = passed(self.types).columns[0]
        return Lineage(((*columns, *[None] * len(self.window.added)),))

    def structures(self) -> tuple[Structure, ...]:
        """Rows that wait for the end of each of their windows, half of its length on average."""
        waiting = Structure("fifo", self.types, waiting_for(self.window.length))
        return () if self.window.open else (waiting,)


@dataclass(frozen=True)
class RowsWindowSpec(Spec):
    """A window that counts rows, those of each partition by itself; partitions by position."""

    types: tuple[Type, ...]
    count: int
    slide: int | None
    partition_by: tuple[int, ...]
    tell_vanished: bool = False

    def build(self, failures: Failures) -> RowsWindow:
        """The window."""
        window = Rows(self.count, self.slide, tuple(map(str, self.partition_by)))
        types = [to_arrow(one) for one in self.types]
        return RowsWindow(types, window, self.partition_by, tell_vanished=self.tell_vanished)

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.types)

    def structures(self) -> tuple[Structure, ...]:
        """Rows of the window."""
        return (Structure("fifo", self.types, live_out),)


@dataclass(frozen=True)
class ByValueSpec(Spec):
    """The rows of each instant in the order of some columns."""

    types: tuple[Type, ...]
    columns: tuple[int, ...]

    def build(self, failures: Failures) -> ByValue:
        """The operator that puts them in order."""
        return ByValue(self.columns)

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.types)


@dataclass(frozen=True)
class AttachedSpec(Spec):
    """Values made of each row of a window, for as long as the row; `types` without its number."""

    types: tuple[Type, ...]

    def build(self, failures: Failures) -> Attached:
        """The operator that waits for the ends of rows."""
        return Attached([to_arrow(one) for one in self.types])

    def lineage(self) -> Lineage:
        """Rows of the second input; the first only tells when they end."""
        (columns,) = passed(self.types).columns
        return Lineage(((None,) * len(self.types), columns))

    def structures(self) -> tuple[Structure, ...]:
        """Rows that were made, until the elements they belong to end."""
        return (Structure("hashed", self.types, live_out),)


@dataclass(frozen=True)
class NumberSpec(Spec):
    """The rows of an input, each with a number of its own in one more column.

    Numbers of an operator with another `place` are others.
    """

    rows: Edge
    partitions: int
    place: int = field(compare=False)
    is_numbering = True

    def build(self, failures: Failures) -> Number:
        """The operator that gives the numbers."""
        rows = self.rows
        return Number(rows.arrow_types, rows.pattern, rows.span, self.partitions, self.place)

    def lineage(self) -> Lineage:
        """Rows as they came, and the number."""
        return Lineage(((*self.rows.columns, None),))

    def structures(self) -> tuple[Structure, ...]:
        """Rows that may be withdrawn, and have to be found by their values then."""
        found = Structure("hashed", self.rows.types, live_in(0))
        return (found,) if self.rows.pattern is Pattern.STR else ()


@dataclass(frozen=True)
class EndsToColumnSpec(Spec):
    """Rows with their end in one more column."""

    types: tuple[Type, ...]

    def build(self, failures: Failures) -> EndsToColumn:
        """The operator that writes it there."""
        return EndsToColumn()

    def lineage(self) -> Lineage:
        """Rows as they came, and the end."""
        columns: Columns = passed(self.types).columns[0]
        return Lineage(((*columns, None),))


@dataclass(frozen=True)
class EndsFromColumnSpec(Spec):
    """Rows that end when their last column says; `types` with that column."""

    types: tuple[Type, ...]

    def build(self, failures: Failures) -> EndsFromColumn:
        """The operator that reads it."""
        return EndsFromColumn()

    def lineage(self) -> Lineage:
        """Rows as they came, without the end."""
        return Lineage((passed(self.types).columns[0][:-1],))


@dataclass(frozen=True)
class DropEndsSpec(Spec):
    """Rows that stay for ever."""

    types: tuple[Type, ...]

    def build(self, failures: Failures) -> DropEnds:
        """The operator that forgets their ends."""
        return DropEnds()

    def lineage(self) -> Lineage:
        """Rows as they came."""
        return passed(self.types)
