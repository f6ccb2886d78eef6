"""Trials of the contract: an operator, what comes to it, and what its answer means."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from operators.join_model import Element, check_edge, plain
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.division import Spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from operators.contract.inputs import Draws
    from operators.join_model import Row
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.operator import Operator

Bag = Counter["Row"]
Meaning = "Callable[[Sequence[Bag]], Bag]"
"""The result of an instant, from what the inputs hold then."""
Changes = dict[tuple["Row", int], int]
"""By how many copies each row changes at each instant: equal for equal snapshots."""


@dataclass(frozen=True)
class Edge:
    """What comes to a port of an operator.

    `key` is the column whose hash says in which lane a row belongs; None: every lane gets all rows.
    """

    elements: Sequence[Element]
    types: Sequence[pa.DataType]
    signed: bool = False
    key: int | None = 0

    @property
    def spread(self) -> Spread:
        """The same in the words of `Division`."""
        return spread_by(self.key, len(self.types), strict=self.signed)


def spread_by(
    key: int | None, width: int, *, strict: bool, numbers: tuple[int, ...] = ()
) -> Spread:
    """Rows in the lane of a column; None: in all lanes."""
    if key is None:
        return Spread(width, None, is_whole=True, is_strict=strict)
    return Spread(width, [column(key)], is_strict=strict, numbers=numbers)


def column(number: int) -> Evaluator:
    """The evaluator of a column."""
    return lambda columns, length, failures: columns[number]


@dataclass(frozen=True)
class Trial:
    """An operator and its input.

    Args:
        make: Gives a new one; of structures and ways that mean the same, any.
        edges: What comes to each port.
        results: How results are spread over lanes; None: it only ever runs in one.
        meaning: The result of an instant; None: it is not a function of one instant's input.
        ordered: Whether rows of an instant are told apart by the order in which they come.
        seen: What is compared of a result.
        strict: Whether results may be negative.
        on_time: Whether results begin in the step that brings them.
        repeated: Whether lanes say the same, so that each row counts once.
    """

    make: Callable[[], Operator]
    edges: Sequence[Edge]
    results: Spread | None = None
    meaning: Callable[[Sequence[Bag]], Bag] | None = None
    ordered: bool = False
    seen: Callable[[Element], Element | None] = field(default=lambda one: one)
    strict: bool = False
    on_time: bool = True
    repeated: bool = False

    def answer(self, found: Sequence[Element]) -> Changes:
        """What results say, however they are cut; they are a valid edge."""
        shown = [one for one in map(self.seen, found) if one is not None]
        check_edge(shown, signed=self.strict)
        counted = changes_of([Element(rounded(one.row), *times(one)) for one in shown])
        return dict.fromkeys(counted, 1) if self.repeated else counted


@dataclass(frozen=True)
class Case:
    """An operator class and a way to draw trials of it."""

    kind: type[Operator]
    name: str
    draw: Callable[[Draws], Trial]

    def __str__(self) -> str:
        return f"{self.kind.__name__} {self.name}".strip()


def times(one: Element) -> tuple[int, int, int]:
    """The interval and sign of an element."""
    return one.ts, one.te, one.sign


def rounded(row: Row) -> Row:
    """A row to compare by: of doubles, what no order of additions may change."""
    return tuple(float(f"{one:.9g}") if isinstance(one, float) else one for one in plain(row))


def changes_of(elements: Sequence[Element]) -> Changes:
    """The net change of each row at each instant."""
    found: Counter[tuple[Row, int]] = Counter()
    for one in elements:
        found[one.row, one.ts] += one.sign
        if one.te < INFINITY:
            found[one.row, one.te] -= one.sign
    return {place: count for place, count in found.items() if count}


def meant(trial: Trial, horizon: int) -> Changes:
    """What the definition says of the result, instant by instant up to a horizon."""
    assert trial.meaning is not None
    found: Changes = {}
    inputs = [Timeline(edge.elements) for edge in trial.edges]
    before: Bag = Counter()
    for instant in (BEGINNING, *range(-1, horizon + 1)):
        result = trial.meaning([one.at(instant) for one in inputs])
        now = Counter({rounded(row): copies for row, copies in result.items()})
        for row in now.keys() | before.keys():
            if now[row] != before[row]:
                found[row, instant] = now[row] - before[row]
        before = now
    return found


class Timeline:
    """The rows of an edge, asked for one instant after the other."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self._changes = sorted(changes_of(elements).items(), key=lambda one: one[0][1])
        self._next = 0
        self._bag: Bag = Counter()

    def at(self, instant: int) -> Bag:
        """The bag of an instant, not before the last one asked for."""
        while self._next < len(self._changes) and self._changes[self._next][0][1] <= instant:
            (row, _), count = self._changes[self._next]
            self._bag[row] += count
            self._next += 1
        return +self._bag
