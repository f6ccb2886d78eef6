"""The ends of the 64-bit range stand for before and after all time; rows cannot lie there."""

from __future__ import annotations

import pytest

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.builder import relation, stream
from penstock.errors import DataError
from penstock.reference.inputs import Inputs, RelationChange, RelationHistory
from penstock.reference.oracle import Oracle

S = stream("s", "ts BIGINT, v INT", time="ts")
R = relation("r", "v INT")


@pytest.mark.parametrize("at", [BEGINNING, INFINITY])
def test_a_row_at_the_end_of_time_is_refused(at: int) -> None:
    with pytest.raises(DataError, match="lies outside of time"):
        Oracle(Inputs({"s": [(at, 1)]})).timeline(S.range(5).plan)


@pytest.mark.parametrize("at", [BEGINNING, INFINITY])
def test_a_change_at_the_end_of_time_is_refused(at: int) -> None:
    history = RelationHistory(changes=[RelationChange(at, "+", (1,))])
    with pytest.raises(DataError, match="lies outside of time"):
        Oracle(Inputs(relations={"r": history})).timeline(R.plan)


def test_the_last_rows_of_time_count() -> None:
    last = INFINITY - 1
    timeline = Oracle(Inputs({"s": [(BEGINNING + 1, 1), (last, 2)]})).timeline(S.range(5).plan)
    assert timeline.at(BEGINNING + 1) == {(BEGINNING + 1, 1): 1}
    assert timeline.at(last) == {(last, 2): 1}
    assert [change.at for change in timeline.changes()] == [BEGINNING + 1, BEGINNING + 6, last]


def test_a_row_without_event_time_is_refused() -> None:
    with pytest.raises(DataError, match="has no event time"):
        Oracle(Inputs({"s": [(None, 1)]})).timeline(S.range(5).plan)


def test_a_row_of_the_wrong_width_is_refused() -> None:
    with pytest.raises(DataError, match="has 1 values, the stream has 2 columns"):
        Oracle(Inputs({"s": [(1,)]})).timeline(S.range(5).plan)


def test_removing_what_is_not_there_is_refused() -> None:
    history = RelationHistory(changes=[RelationChange(3, "-", (1,))])
    with pytest.raises(DataError, match="does not hold"):
        Oracle(Inputs(relations={"r": history})).timeline(R.plan)
