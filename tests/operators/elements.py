"""Beside `join_model`: strict edges on which every element ends, and what never changes hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from operators.join_model import HORIZON, Element, Row, snapshot
from penstock.algebra.time import BEGINNING, INFINITY

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS = st.tuples(st.sampled_from([1, 2, None]), st.sampled_from(["a", None]))
"""Few different rows, so that many elements are alike."""


@st.composite
def ending_edges(draw: st.DrawFn, rows: st.SearchStrategy[Row]) -> list[Element]:
    """A strict edge whose elements all end, by themselves or withdrawn, one behind another."""
    found, ends = [], [0]
    for _ in range(draw(st.sampled_from([0, 2, 8, 20]))):
        row = draw(rows)
        # Often where another one ends, so that intervals meet.
        ts = draw(st.sampled_from(ends) | st.integers(0, 20))
        te = draw(st.sampled_from([ts + 1, ts + 3, ts + 8, INFINITY]))
        found.append(Element(row, ts, te))
        end = te
        if te == INFINITY or (te > ts + 1 and draw(st.booleans())):
            end = draw(st.integers(ts + 1, min(te - 1, ts + 9)))
            found.append(Element(row, end, te, -1))
        ends = [one for one in (*ends, end) if one <= 20]
    return sorted(found, key=lambda one: one.ts)


def closed(elements: Sequence[Element]) -> list[Element]:
    """Elements whose withdrawals have become their ends; of those alike the oldest goes first."""
    found: list[Element] = []
    for one in sorted(elements, key=lambda one: (one.ts, one.sign)):
        if one.sign > 0:
            found.append(one)
            continue
        place = next(i for i, e in enumerate(found) if (e.row, e.te) == (one.row, one.te))
        ended = found.pop(place)
        # At the end of the list, where a later withdrawal of an element alike does not find it.
        found.append(Element(ended.row, ended.ts, one.ts))
    return found


def check_same_snapshots(found: Sequence[Element], given: Sequence[Element]) -> None:
    """The same rows hold at every instant."""
    for instant in (BEGINNING, *range(-1, HORIZON + 1), INFINITY - 1):
        assert snapshot(found, instant) == snapshot(given, instant), instant
