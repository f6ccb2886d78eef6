"""Drawings in the documentation: the answer of the stream test above each, as lifetimes of rows.

instant     0    5    10
kitchen|20   [====)
cellar|11       [====)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs.pages import ROOT, Fence, fences, fences_of, sections_of, settle
from docs.test_streams import text_of
from penstock.algebra.time import INFINITY
from penstock.reference.oracle import Oracle
from penstock.testing.expected_rows import print_cell
from penstock.testing.format import parse_test
from penstock.testing.setup import set_up

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.reference.timeline import Row, Timeline
    from penstock.testing.format import StreamCase

STEP = 5
"""How far apart the numbers stand on the axis."""


def case_above(drawing: Fence) -> StreamCase:
    """The last case that begins before a drawing."""
    (section,) = [
        one
        for one in sections_of("stream")
        if (one[0].page, one[0].section) == (drawing.page, drawing.section)
    ]
    cases = parse_test(text_of(section), str(drawing.page.relative_to(ROOT))).cases
    return [case for case in cases if case.line < drawing.first][-1]


def lifetimes(timeline: Timeline) -> dict[Row, list[tuple[int, int]]]:
    """For each row the stretches of time in which the result holds it."""
    found: dict[Row, list[tuple[int, int]]] = {}
    ends = [*timeline.starts[1:], INFINITY]
    for start, end, bag in zip(timeline.starts, ends, timeline.bags, strict=True):
        for row in bag:
            spans = found.setdefault(row, [])
            if spans and spans[-1][1] == start:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return dict(sorted(found.items(), key=lambda item: item[1]))


def drawn(plan: Plan, timeline: Timeline) -> list[str]:
    """An axis, and a line for each row."""
    rows = lifetimes(timeline)
    instants = [at for spans in rows.values() for span in spans for at in span if at < INFINITY]
    width = -(-(max(instants) + 2) // STEP) * STEP + 1
    labels = [
        " | ".join(print_cell(v, of) for v, of in zip(row, plan.schema.types, strict=True))
        for row in rows
    ]
    margin = max(map(len, ["instant", *labels])) + 2
    axis = "".join(str(at).ljust(STEP) for at in range(0, width, STEP))
    lines = ["instant".ljust(margin) + axis.rstrip()]
    for label, spans in zip(labels, rows.values(), strict=True):
        lines.append(label.ljust(margin) + bars(spans, width))
    return lines


def bars(spans: list[tuple[int, int]], width: int) -> str:
    """Lifetimes, one character a step: `[` begins, `)` is the first instant after the end."""
    cells = [" "] * width
    for start, end in spans:
        last = min(end, width)
        cells[start:last] = "=" * (last - start)
        cells[start] = "["
        if end < INFINITY:
            cells[end] = ")"
        else:
            cells[-1] = ">"
    return "".join(cells).rstrip()


@pytest.mark.parametrize("drawing", fences_of("timeline"), ids=str)
def test_drawings_are_true(drawing: Fence) -> None:
    # Its line may have moved since the tests were collected, its place on the page has not.
    drawing = list(fences(drawing.page))[drawing.place]
    case = case_above(drawing)
    setup = set_up(case)
    plan = setup.session.bind(case.subject.text).plan
    real = drawn(plan, Oracle(setup.inputs).timeline(plan))
    settle(drawing.page, {drawing.place: drawing.lines}, {drawing.place: real})
