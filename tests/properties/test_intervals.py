"""Coalesce and split cut intervals anew and never change what holds at an instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.time import INFINITY
from penstock.errors import Refused
from penstock.reference.intervals import Validity, coalesce, split, timeline_of, validities

if TYPE_CHECKING:
    from penstock.reference.timeline import Bag

values = st.tuples(st.integers(0, 2))
bounds = st.tuples(st.integers(-6, 12), st.integers(1, 9))
elements = st.lists(
    st.builds(lambda row, at: Validity(row, at[0], at[0] + at[1]), values, bounds), max_size=9
)


def snapshots(of: list[Validity]) -> list[Bag]:
    return [timeline_of(of).at(instant) for instant in range(-7, 23)]


@given(elements)
def test_coalesce_keeps_every_snapshot(given_elements: list[Validity]) -> None:
    assert snapshots(coalesce(given_elements)) == snapshots(given_elements)


@given(elements)
def test_after_coalesce_no_equal_rows_meet(given_elements: list[Validity]) -> None:
    merged = coalesce(given_elements)
    starts = {(one.row, one.start) for one in merged}
    assert not any((one.row, one.end) in starts for one in merged)


@given(elements, st.integers(1, 5))
def test_split_keeps_every_snapshot(given_elements: list[Validity], length: int) -> None:
    assert snapshots(split(given_elements, length)) == snapshots(given_elements)


@given(elements, st.integers(1, 5))
def test_no_piece_of_a_split_crosses_a_multiple(
    given_elements: list[Validity], length: int
) -> None:
    for piece in split(given_elements, length):
        assert piece.start < piece.end
        assert piece.start // length == (piece.end - 1) // length


@given(elements)
def test_validities_stand_for_the_same_result(given_elements: list[Validity]) -> None:
    found = validities(timeline_of(given_elements))
    assert snapshots(found) == snapshots(given_elements)


def test_an_interval_without_end_cannot_be_split() -> None:
    with pytest.raises(Refused, match="never ends"):
        split([Validity((1,), 0, INFINITY)], 1)
