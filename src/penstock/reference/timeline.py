"""Results as functions of time: what is valid at each instant, and how that changes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Value
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.values import row_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Row = tuple[Value, ...]
Bag = Counter[Row]


@dataclass(frozen=True, slots=True)
class Origin:
    """The input element a row stems from: when it arrived, and its place among its kind."""

    at: int
    position: int


@dataclass(frozen=True, slots=True)
class Tagged:
    """A row with the input elements it combines, which tell equal rows apart."""

    row: Row
    tag: tuple[Origin | int, ...] = ()


Snapshot = list[Tagged]


def arrival_of(row: Tagged) -> int:
    """The arrival of the stream's row that a row is made of."""
    return next(part.at for part in row.tag if isinstance(part, Origin))


@dataclass(frozen=True, slots=True)
class Element:
    """A row with its validity interval [start, end)."""

    row: Tagged
    start: int
    end: int


@dataclass(frozen=True)
class Steps:
    """A snapshot for every instant: `snapshots[i]` holds from `starts[i]` to the next start.

    The first start is `BEGINNING`: its snapshot is the content before all input.
    """

    starts: list[int]
    snapshots: list[Snapshot]

    def at(self, instant: int) -> Snapshot:
        """The rows valid at an instant."""
        return self.snapshots[bisect_right(self.starts, instant) - 1]

    @staticmethod
    def of_elements(elements: Sequence[Element]) -> Steps:
        """The step function of elements; one that starts at `BEGINNING` was always there."""
        begins = sorted(elements, key=lambda one: one.start)
        ends = {instant for one in elements for instant in (one.start, one.end)}
        starts = [BEGINNING, *sorted(ends - {BEGINNING, INFINITY})]
        snapshots: list[Snapshot] = []
        live: list[Element] = []
        upcoming = 0
        for start in starts:
            while upcoming < len(begins) and begins[upcoming].start <= start:
                live.append(begins[upcoming])
                upcoming += 1
            live = [one for one in live if start < one.end]
            snapshots.append([one.row for one in live])
        return Steps(starts, snapshots)


@dataclass(frozen=True, slots=True)
class Change:
    """The difference of a result at an instant from the one before: rows in and out, netted."""

    at: int
    inserted: Bag
    removed: Bag


@dataclass(frozen=True)
class Timeline:
    """The result of a query that is a relation: a bag of rows for every instant."""

    starts: list[int]
    bags: list[Bag]

    @staticmethod
    def of_steps(steps: Steps) -> Timeline:
        """The step function without the tags."""
        return Timeline(steps.starts, [bag_of(snapshot) for snapshot in steps.snapshots])

    @property
    def initial(self) -> Bag:
        """The content before all input."""
        return self.bags[0]

    def at(self, instant: int) -> Bag:
        """The rows valid at an instant, as a bag."""
        return self.bags[bisect_right(self.starts, instant) - 1]

    def changes(self) -> list[Change]:
        """The netted differences of consecutive snapshots, where there are any."""
        pairs = zip(self.starts[1:], self.bags, self.bags[1:], strict=False)
        found = [Change(at, after - before, before - after) for at, before, after in pairs]
        return [change for change in found if change.inserted or change.removed]


@dataclass(frozen=True, slots=True)
class Emission:
    """A row that a query sent out at an instant."""

    at: int
    row: Row


def bag_of(snapshot: Iterable[Tagged]) -> Bag:
    """The number of copies of each row."""
    return Counter(tagged.row for tagged in snapshot)


def in_order(bag: Bag) -> list[Row]:
    """The rows of a bag, copies included, ordered by value, NULLs first."""
    return sorted(bag.elements(), key=row_key)
