"""The relation-to-stream operators, defined on the step function of a query's result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.reference.timeline import Bag, Emission, Row, Steps, Timeline, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def istream(result: Timeline) -> list[Emission]:
    """Rows in R(t) that are not in R(t - 1)."""
    return _emit((change.at, in_order(change.inserted)) for change in result.changes())


def dstream(result: Timeline) -> list[Emission]:
    """Rows in R(t - 1) that are not in R(t)."""
    return _emit((change.at, in_order(change.removed)) for change in result.changes())


def rstream(result: Steps, instants: Sequence[int], *, ordered: bool) -> list[Emission]:
    """All of R(t) at each instant, by row value or, under ORDER BY, as the snapshot has it."""
    emitted = []
    for at in instants:
        rows = [one.row for one in result.at(at)]
        emitted.append((at, rows if ordered else in_order(Counter(rows))))
    return _emit(emitted)


def istream_restore(plain: Timeline, slides: Sequence[int]) -> list[Emission]:
    """At each slide everything that entered R' since the slide before, even if it left again."""
    return _emit((at, in_order(entered)) for at, entered in _entered(plain, slides))


def rstream_restore(plain: Timeline, slides: Sequence[int]) -> list[Emission]:
    """At each slide the max-union of R' and of what entered it since the slide before."""
    return _emit((at, in_order(plain.at(at) | entered)) for at, entered in _entered(plain, slides))


def _entered(plain: Timeline, slides: Sequence[int]) -> list[tuple[int, Bag]]:
    """I(k) for each slide: the bag sum of the insertions in (previous slide, slide]."""
    changes = plain.changes()
    previous = BEGINNING
    entered = []
    for slide in slides:
        inside: Bag = Counter()
        for change in changes:
            if previous < change.at <= slide:
                inside += change.inserted
        entered.append((slide, inside))
        previous = slide
    return entered


def _emit(batches: Iterable[tuple[int, list[Row]]]) -> list[Emission]:
    return [Emission(at, row) for at, rows in batches for row in rows]
