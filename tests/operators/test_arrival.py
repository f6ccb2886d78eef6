"""Streams that read a relation on arrival, against a loop over their rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.join_model import Element, Row, Run, block_of, edges, sent, snapshot
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import InternalError
from penstock.operators.join.arrival import Mode, ReadOnArrival
from penstock.operators.join.join_sides import JoinSide

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES = [pa.int64(), pa.string(), pa.int64()]
ROWS = st.tuples(
    st.sampled_from([1, 2, None]), st.sampled_from(["a", "b", None]), st.integers(0, 2)
)
MODES: list[Mode] = ["join", "semi", "anti", "aggregate"]


def less(columns: Sequence[pa.Array], length: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    assert all(len(column) == length for column in columns)
    return np.asarray(columns[2].to_numpy() < columns[5].to_numpy())


def count_and_sum(
    numbers: np.ndarray[Any, Any], columns: tuple[pa.Array, ...], rows: int
) -> tuple[pa.Array, ...]:
    counts = np.bincount(numbers, minlength=rows).astype(np.int64)
    sums = np.bincount(numbers, columns[2].to_numpy(), minlength=rows).astype(np.int64)
    return pa.array(counts), pa.array(sums)


@given(st.data())
@settings(deadline=None, max_examples=100)
def test_each_row_reads_the_relation_of_its_instant(data: st.DataObject) -> None:
    mode = data.draw(st.sampled_from(MODES))
    residual = data.draw(st.booleans())
    nulls = data.draw(st.tuples(st.booleans(), st.booleans()))
    pattern = data.draw(st.sampled_from([Pattern.MON, Pattern.WKS]))
    at_once = data.draw(st.sampled_from([1, 3, 1000]))

    def make() -> ReadOnArrival:
        stream, relation = (
            JoinSide(TYPES, lambda block: block.columns[:2], nulls, one)
            for one in (pattern, Pattern.STR)
        )
        fold = count_and_sum if mode == "aggregate" else None
        return ReadOnArrival(stream, relation, mode, less if residual else None, fold, at_once)

    stream, relation = data.draw(edges(pattern, ROWS)), data.draw(edges(Pattern.STR, ROWS))
    run = Run(make, [TYPES, TYPES], [False, True])
    found = run.results(data, [stream, relation])

    wanted: Counter[Element] = Counter()
    for one in stream:
        bag = snapshot(relation, one.ts)
        for row, copies in answers(mode, one.row, bag, nulls, residual).items():
            wanted[Element(row, one.ts, one.te)] += copies
    assert Counter(found) == wanted
    assert run.last.state_rows == sum(
        one.sign
        for one in relation
        if one.te == INFINITY
        and (one.row[0] is not None or nulls[0])
        and (one.row[1] is not None or nulls[1])
    )


def answers(
    mode: Mode, row: Row, relation: Counter[Row], nulls: tuple[bool, bool], residual: bool
) -> Counter[Row]:
    def matches(other: Row) -> bool:
        keys = zip(row[:2], other[:2], nulls, strict=True)
        equal = all(a == b and (a is not None or null) for a, b, null in keys)
        return equal and (not residual or row[2] < other[2])

    matched = [other for other in relation.elements() if matches(other)]
    if mode == "join":
        return Counter(row + other for other in matched)
    if mode == "aggregate":
        return Counter([(*row, len(matched), sum(other[2] for other in matched))])
    return Counter([row] if bool(matched) == (mode == "semi") else [])


def test_what_was_there_from_the_beginning_is_seen() -> None:
    side = JoinSide([pa.int64()], lambda block: block.columns, (False,), Pattern.STR)
    reading = ReadOnArrival(side, side, "join")
    there = block_of([Element((1,), BEGINNING, INFINITY)], [pa.int64()], True)
    assert sent(reading, 0, there.stretch(0, 0), there) == []
    row = block_of([Element((1,), 3, 7)], [pa.int64()], False)
    withdrawn = block_of([Element((1,), 4, INFINITY, -1)], [pa.int64()], True)
    assert sent(reading, 5, row, withdrawn) == [Element((1, 1), 3, 7)]
    assert reading.state_rows == 0


def test_a_fold_belongs_to_aggregates() -> None:
    side = JoinSide([pa.int64()], lambda block: block.columns, (False,), Pattern.STR)
    with pytest.raises(InternalError, match="fold"):
        ReadOnArrival(side, side, "aggregate")
