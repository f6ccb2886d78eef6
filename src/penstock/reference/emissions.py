"""The relation-to-stream operators, defined on the step function of a query's result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.reference.timeline import Bag, Emission, Row, Steps, Timeline, in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


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


def entered(plain: Timeline, slide_after: Callable[[int], int | None]) -> dict[int, Bag]:
    """I(k) by slide: the bag sum of what entered R' after the slide before, up to this one."""
    by_slide: dict[int, Bag] = {}
    for change in plain.changes():
        slide = slide_after(change.at)
        if slide is not None and change.inserted:
            by_slide[slide] = by_slide.get(slide, Counter()) + change.inserted
    return by_slide


def istream_restore(entered_by: Mapping[int, Bag]) -> list[Emission]:
    """At each slide everything that entered R' since the slide before, even if it left again."""
    return _emit((at, in_order(entered_by[at])) for at in sorted(entered_by))


def rstream_restore(
    plain: Timeline, slides: Sequence[int], entered_by: Mapping[int, Bag]
) -> list[Emission]:
    """At each slide the max-union of R' and of what entered it since the slide before."""
    nothing: Bag = Counter()
    return _emit((at, in_order(plain.at(at) | entered_by.get(at, nothing))) for at in slides)


def _emit(batches: Iterable[tuple[int, list[Row]]]) -> list[Emission]:
    return [Emission(at, row) for at, rows in batches for row in rows]
