"""Streams, relations, windows and relation-to-stream operators: time enters and leaves here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from penstock.algebra.operators import Alias, Filter, Group, Map, OnArrival
from penstock.algebra.orders import Sort
from penstock.algebra.plan import Plan, Unary
from penstock.algebra.time import TimeUnit
from penstock.algebra.types import BIGINT, TIMESTAMP, Field, Schema
from penstock.algebra.windows import Hopping, Range, Rows, Unbounded, WindowSpec
from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.patterns import Pattern


@dataclass(frozen=True)
class Source(Plan):
    """The origin of rows of a plan."""

    name: str
    columns: Schema

    @cached_property
    def schema(self) -> Schema:
        """The columns."""
        return self.columns


@dataclass(frozen=True)
class Stream(Source):
    """A declared stream: rows that arrive at instants and stay for ever."""

    time_column: str
    time_unit: TimeUnit

    @cached_property
    def unit(self) -> TimeUnit | None:
        """The declared unit of the event time."""
        return self.time_unit

    def label(self) -> str:
        """Name and columns."""
        return f"Stream {self.name} {self.columns}"


@dataclass(frozen=True)
class Relation(Source):
    """A declared relation: the step function of its changes."""

    retroactive: bool = True

    def label(self) -> str:
        """Name and columns."""
        kind = "Relation" if self.retroactive else "Nonretroactive relation"
        return f"{kind} {self.name} {self.columns}"


@dataclass(frozen=True)
class Exchanged(Source):
    """The rows that another fragment of a plan sends, with their validity.

    Only the planner makes these, where it cuts a plan; `pattern` and `span` are those of what is
    sent.
    """

    time_unit: TimeUnit | None
    pattern: Pattern
    span: int

    @cached_property
    def unit(self) -> TimeUnit | None:
        """The unit of what is sent."""
        return self.time_unit

    def label(self) -> str:
        """Name and columns."""
        return f"Exchange {self.name} {self.columns}"


@dataclass(frozen=True)
class Window(Unary):
    """A window: it decides how long the rows of a stream stay valid."""

    spec: WindowSpec

    def __post_init__(self) -> None:
        """A partitioned window names columns of the stream."""
        if isinstance(self.spec, Rows):
            unknown = set(self.spec.partition_by) - set(self.child.schema.names)
            if unknown:
                msg = f"the window partitions by {', '.join(sorted(unknown))}, not a column"
                raise InternalError(msg)

    @cached_property
    def schema(self) -> Schema:
        """The stream's columns, and those that tell the window."""
        time = TIMESTAMP if self.unit is TimeUnit.TIMESTAMP else BIGINT
        return self.child.schema + Schema(tuple(Field(one, time) for one in self.spec.added))

    def label(self) -> str:
        """The window as in CQL."""
        return f"Window [{self.spec.describe(self.unit or TimeUnit.TICK)}]"


@dataclass(frozen=True)
class Internal(Unary):
    """A SELECT over INTERNAL windows: they bound memory, results never expire.

    What is appended, and stays: every combination of rows when it first exists
    (`combinations`), every row ISTREAM would report (`insertions`, for aggregates), or all rows
    at every slide (`slides`, for aggregates with SLIDE).
    """

    appends: Literal["combinations", "insertions", "slides"]

    def label(self) -> str:
        """The rows it appends."""
        return f"Internal appends {self.appends}"


class Undecided(Enum):
    """The slide of an operator that has just been made."""

    YET = "yet"


@dataclass(frozen=True)
class RelationToStream(Unary):
    """The rows a query sends out: those that enter, those that leave, or all."""


@dataclass(frozen=True)
class _AtSlides(RelationToStream):
    """Rows sent at slides, of a periodic query; `slide` is of the query as it was written.

    It is decided once: a plan that was rewritten may have a window twice.
    """

    restore: bool = False
    slide: Range | Rows | Undecided | None = Undecided.YET

    def __post_init__(self) -> None:
        """Decide, unless that is done."""
        if isinstance(self.slide, Undecided):
            object.__setattr__(self, "slide", slide_of(self.child))


@dataclass(frozen=True)
class IStream(_AtSlides):
    """Rows that enter the result; with `restore`, at each slide all that entered since the last."""

    def label(self) -> str:
        """With RESTORE where it holds."""
        return "IStream RESTORE" if self.restore else "IStream"


@dataclass(frozen=True)
class DStream(RelationToStream):
    """Rows that leave the result."""


@dataclass(frozen=True)
class RStream(_AtSlides):
    """The whole result at every instant that matters; with `restore`, also what came and went."""

    def label(self) -> str:
        """With RESTORE where it holds."""
        return "RStream RESTORE" if self.restore else "RStream"


@dataclass(frozen=True)
class AtEnds(RelationToStream):
    """The answer of each window [start, end), sent once, at its end.

    Every row of the result is made of rows of such windows, which hold for an instant.
    """


def is_stream(plan: Plan) -> bool:
    """Rows that keep the position (ts, seq) in which they arrived, so that ROWS can count them.

    Filters, maps, renaming, reading a non-retroactive relation, and windows that never expire
    leave rows where they are; everything else makes a relation.
    """
    if isinstance(plan, Stream | RelationToStream):
        return True
    if isinstance(plan, Filter | Map | Alias | Group):
        return is_stream(plan.child)
    if isinstance(plan, OnArrival):
        return is_stream(plan.reading.left)
    return isinstance(plan, Window) and plan.spec.never_ends and is_stream(plan.child)


def is_ordered(plan: Plan) -> bool:
    """Rows of a snapshot stand in the order of an ORDER BY."""
    return isinstance(plan, Sort) or (isinstance(plan, Map) and is_ordered(plan.child))


def input_windows(plan: Plan) -> Iterator[Plan]:
    """The windows a query reads its inputs through, subqueries included.

    A stream without a window is its own UNBOUNDED one. What lies below a window or a
    relation-to-stream operator belongs to another query, the one that makes that stream. An outer
    join reads its sides once, although it is a union of operators that all have them.
    """
    waiting: list[tuple[tuple[int, ...], Plan]] = [((), plan)]
    seen = set()
    while waiting:
        names, node = waiting.pop()
        if (names, id(node)) in seen:
            continue
        seen.add((names, id(node)))
        if isinstance(node, Window | Stream | RelationToStream):
            yield node
            continue
        # What FROM names twice is read twice: the names on the way tell the readers apart.
        below = (*names, id(node)) if isinstance(node, Alias) else names
        waiting += [(below, child) for child in reversed(node.children)]


def hopping_windows(plan: Plan) -> list[Hopping]:
    """The windows [start, end) that a query reads its inputs through."""
    windows = (one.spec for one in input_windows(plan) if isinstance(one, Window))
    return [one for one in windows if isinstance(one, Hopping)]


def ends_are_apart(plan: Plan) -> bool:
    """An instant lies between any two ends of the windows [start, end) of a query.

    Then a row that holds at two ends is two elements, however they were computed.
    """
    windows = hopping_windows(plan)
    grids = {(one.step, (one.offset + one.length) % one.step) for one in windows}
    return len(grids) == 1 and min(one.step for one in windows) > 1


def opened(plan: Plan) -> Plan:
    """The query with its windows [start, end) open: what they hold so far."""
    if isinstance(plan, Window) and isinstance(plan.spec, Hopping):
        return Window(plan.child, replace(plan.spec, open=True))
    if isinstance(plan, Window | Stream | RelationToStream):
        return plan
    return plan.rebuild(tuple(opened(child) for child in plan.children))


def slide_of(plan: Plan) -> Range | Rows | None:
    """The window whose SLIDE makes a query periodic, None if it is not.

    Periodic: all windows have the same time SLIDE, or there is one window, a ROWS SLIDE.
    """
    windows = list(input_windows(plan))
    specs = [window.spec if isinstance(window, Window) else Unbounded() for window in windows]
    ranges = [spec for spec in specs if isinstance(spec, Range) and spec.slide]
    if ranges and len(ranges) == len(specs) and len({spec.slide for spec in ranges}) == 1:
        return ranges[0]
    if len(specs) == 1 and isinstance(specs[0], Rows) and specs[0].slide:
        return specs[0]
    return None


def slide_sent(plan: RelationToStream | Internal) -> Range | Rows | None:
    """The slide at which an operator sends what a periodic query answers, None if at any time."""
    if isinstance(plan, _AtSlides):
        assert not isinstance(plan.slide, Undecided)
        if not isinstance(plan.slide, Rows):
            return plan.slide
        # A rewritten plan may call the columns of its partitions by other names.
        windows = (one for one in input_windows(plan.child) if isinstance(one, Window))
        return next((one.spec for one in windows if isinstance(one.spec, Rows)), plan.slide)
    return slide_of(plan.child)


def without_slides(plan: Plan) -> Plan:
    """The query with the SLIDE of each of its windows left out."""
    if isinstance(plan, Window):
        return Window(plan.child, plan.spec.without_slide())
    if isinstance(plan, Stream | RelationToStream):
        return plan
    return plan.rebuild(tuple(without_slides(child) for child in plan.children))
