"""Results as rows with validity intervals, and the two operators that only cut these anew."""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.values import row_key
from penstock.errors import Refused
from penstock.reference.timeline import Element, Steps, Tagged, Timeline, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.reference.timeline import Row


@dataclass(frozen=True, slots=True)
class Validity:
    """A row and the half-open interval [start, end) in which it holds."""

    row: Row
    start: int
    end: int


def validities(result: Timeline) -> list[Validity]:
    """The rows of a result with their intervals, as long as they can be; by start, then row.

    Equal rows are interchangeable: of several copies the oldest leaves first.
    """
    open_since: defaultdict[Row, deque[int]] = defaultdict(deque)
    for row in in_order(result.initial):
        open_since[row].append(BEGINNING)
    closed = []
    for change in result.changes():
        closed += [
            Validity(row, open_since[row].popleft(), change.at) for row in in_order(change.removed)
        ]
        for row in in_order(change.inserted):
            open_since[row].append(change.at)
    still = [
        Validity(row, start, INFINITY) for row, starts in open_since.items() for start in starts
    ]
    return sorted(closed + still, key=lambda one: (one.start, one.end, row_key(one.row)))


def coalesce(elements: Iterable[Validity]) -> list[Validity]:
    """Equal rows whose intervals meet, [a, b) and [b, c), become one, [a, c)."""
    ending: defaultdict[tuple[Row, int], list[Validity]] = defaultdict(list)
    for one in sorted(elements, key=lambda one: (one.start, one.end)):
        meeting = ending[one.row, one.start]
        start = meeting.pop().start if meeting else one.start
        ending[one.row, one.end].append(Validity(one.row, start, one.end))
    return [one for merged in ending.values() for one in merged]


def split(elements: Iterable[Validity], length: int) -> list[Validity]:
    """Every interval cut at the multiples of `length`.

    Raises:
        Refused: An interval never ends, and would have infinitely many pieces.
    """
    pieces = []
    for one in elements:
        if one.end == INFINITY or one.start == BEGINNING:
            msg = "an interval that never ends cannot be split"
            raise Refused(msg, hint="Give the stream a window.")
        cuts = range((one.start // length + 1) * length, one.end, length)
        edges = [one.start, *cuts, one.end]
        pieces += [Validity(one.row, a, b) for a, b in itertools.pairwise(edges)]
    return pieces


def timeline_of(elements: Sequence[Validity]) -> Timeline:
    """The result that rows with intervals stand for."""
    tagged = [Element(Tagged(one.row), one.start, one.end) for one in elements]
    return Timeline.of_steps(Steps.of_elements(tagged))
