"""Facts that a kind of window owns, for every kind that there is."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.algebra.time import INFINITY, TimeUnit
from penstock.algebra.types import INT, Field, Schema
from penstock.algebra.windows import (
    Between,
    Fixed,
    Now,
    Range,
    Rows,
    Since,
    Unbounded,
    WindowSpec,
)
from penstock.operators.window.time_windows import intervals
from penstock.reference.inputs import Arrival
from penstock.reference.timeline import Element, Origin
from penstock.reference.windows import windowed

WINDOWS: list[WindowSpec] = [
    Range(7), Range(7, 3), Range(2, 5), Fixed(4), Now(), Unbounded(), Since(9), Between(3, 8),
    Rows(3), Rows(4, 2), Rows(2, None, ("a",)),
]  # fmt: skip
"""Windows of every kind; a new kind adds its own."""

SCHEMA = Schema((Field("a", INT),))
ARRIVALS = [Arrival(at, (at % 2,)) for at in (-9, -3, 0, 1, 1, 2, 5, 8, 9, 12, 13, 40)]


def came(element: Element) -> int:
    (origin,) = element.row.tag
    assert isinstance(origin, Origin)
    return origin.at


def kinds(of: type[WindowSpec]) -> set[type[WindowSpec]]:
    return {one for below in of.__subclasses__() for one in {below, *kinds(below)}}


def test_every_kind_of_window_is_among_those_tried_here() -> None:
    assert {type(one).__name__ for one in WINDOWS} == {one.__name__ for one in kinds(WindowSpec)}


@pytest.mark.parametrize("spec", WINDOWS, ids=lambda one: one.describe(TimeUnit.TICK))
def test_the_facts_agree_with_the_intervals_of_rows(spec: WindowSpec) -> None:
    elements = windowed(spec, ARRIVALS, SCHEMA)
    stays = [one.end - came(one) for one in elements if one.end < INFINITY]
    assert spec.never_ends == (not stays)
    if spec.span is not None:
        assert max(stays) <= spec.span
    ends = [one.end for one in elements]
    if not spec.counts_rows:
        # Windows over time end rows in the order in which they came.
        assert ends == sorted(ends)
    if spec.time_slide is not None:
        moved = [at for one in elements for at in (one.start, one.end)]
        assert all(at % spec.time_slide == 0 for at in moved)


@pytest.mark.parametrize("spec", WINDOWS, ids=lambda one: one.describe(TimeUnit.TICK))
def test_without_its_slide_a_window_begins_when_rows_come(spec: WindowSpec) -> None:
    plain = spec.without_slide()
    assert plain.time_slide is None
    elements = windowed(plain, ARRIVALS, SCHEMA)
    assert all(one.start == came(one) for one in elements)


@pytest.mark.parametrize(
    "spec",
    [one for one in WINDOWS if not one.counts_rows],
    ids=lambda one: one.describe(TimeUnit.TICK),
)
def test_blocks_of_rows_get_the_intervals_of_the_definition(spec: WindowSpec) -> None:
    starts, ends = intervals(spec, np.array([one.at for one in ARRIVALS]))
    found = [(s, e) for s, e in zip(starts.tolist(), ends.tolist(), strict=True) if s < e]
    assert found == [(one.start, one.end) for one in windowed(spec, ARRIVALS, SCHEMA)]
