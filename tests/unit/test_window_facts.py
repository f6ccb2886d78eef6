"""Facts that a kind of window owns, for every kind that there is."""

from __future__ import annotations

import json

import numpy as np
import pytest

from penstock.algebra.time import INFINITY, TimeUnit
from penstock.algebra.types import INT, Field, Schema
from penstock.algebra.windows import (
    Between,
    Fixed,
    Hopping,
    Now,
    Range,
    Rows,
    Since,
    Unbounded,
    WindowSpec,
)
from penstock.operators.window.hopping_window import windows_of
from penstock.operators.window.time_windows import intervals
from penstock.planner.physical.physical_plan import CODEC
from penstock.reference.inputs import Arrival
from penstock.reference.timeline import Element, Origin
from penstock.reference.windows import windowed

WINDOWS: list[WindowSpec] = [
    Range(7), Range(7, 3), Range(2, 5), Fixed(4), Now(), Unbounded(), Since(9), Between(3, 8),
    Rows(3), Rows(4, 2), Rows(2, None, ("a",)), Hopping(5, 5), Hopping(7, 3, 1), Hopping(2, 6, 4),
    Hopping(5, 5, open=True), Hopping(7, 3, 2, open=True),
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
        # Most windows over time end rows in the order in which they came.
        assert (ends == sorted(ends)) == spec.ends_in_order
    if spec.time_slide is not None:
        moved = [at for one in elements for at in (one.start, one.end)]
        assert all(at % spec.time_slide == 0 for at in moved)


@pytest.mark.parametrize("spec", WINDOWS, ids=lambda one: one.describe(TimeUnit.TICK))
def test_a_window_can_be_part_of_a_plan_that_is_written_down(spec: WindowSpec) -> None:
    assert CODEC.decoded(json.loads(json.dumps(CODEC.encoded(spec)))) == spec


@pytest.mark.parametrize("spec", WINDOWS, ids=lambda one: one.describe(TimeUnit.TICK))
def test_without_its_slide_a_window_begins_when_rows_come(spec: WindowSpec) -> None:
    plain = spec.without_slide()
    assert plain.time_slide is None
    elements = windowed(plain, ARRIVALS, SCHEMA)
    if isinstance(plain, Hopping) and not plain.open:
        assert all(one.start == one.row.row[-1] and one.end == one.start + 1 for one in elements)
        return
    assert all(one.start == came(one) for one in elements)


@pytest.mark.parametrize(
    "spec",
    [one for one in WINDOWS if not one.counts_rows and not one.added],
    ids=lambda one: one.describe(TimeUnit.TICK),
)
def test_blocks_of_rows_get_the_intervals_of_the_definition(spec: WindowSpec) -> None:
    starts, ends = intervals(spec, np.array([one.at for one in ARRIVALS]))
    found = [(s, e) for s, e in zip(starts.tolist(), ends.tolist(), strict=True) if s < e]
    assert found == [(one.start, one.end) for one in windowed(spec, ARRIVALS, SCHEMA)]


@pytest.mark.parametrize("spec", [one for one in WINDOWS if one.added], ids=str)
def test_blocks_of_rows_get_the_windows_of_the_definition(spec: Hopping) -> None:
    times = np.array([-(2**63), *(one.at for one in ARRIVALS), INFINITY - 3, INFINITY - 1])
    found = [
        (int(times[row]), int(start), int(end))
        for rows, starts, ends in windows_of(spec, times)
        for row, start, end in zip(rows, starts, ends, strict=True)
        if spec.open or end < INFINITY
    ]
    arrivals = [Arrival(int(at), (0,)) for at in times]
    expected = [(came(one), *one.row.row[1:]) for one in windowed(spec, arrivals, SCHEMA)]
    assert sorted(found) == sorted(expected)
