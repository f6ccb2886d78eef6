"""DISTINCT, set operations, ISTREAM and DSTREAM against their definitions on snapshots."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.elements import ROWS, ending_edges
from operators.join_model import (
    HORIZON,
    Element,
    Row,
    Run,
    block_of,
    check_edge,
    edges,
    sent,
    snapshot,
    step_of,
)
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.operators.block import Block
from penstock.operators.declared_state.slot_entries import WIDE
from penstock.operators.set.counted import CountedRows, Target
from penstock.operators.set.distinct import DistinctOperator
from penstock.operators.set.set_counts import InsertedRows, RemovedRows, SetOperation
from penstock.state import strict_queue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.operators.operator import Operator

TYPES = [pa.int64(), pa.string()]
INSTANTS = range(-1, HORIZON)
TAME = [Pattern.MON, Pattern.WKS, Pattern.WK]
QUEUES = st.tuples(st.sampled_from([1, 8]), st.sampled_from([1, 4]))
"""Span and partitions of calendar queues: entries that wait for a later round, and none."""

Bag = Counter[Row]
MEANINGS: dict[Target, Callable[[Bag, Bag], Bag]] = {
    Target.COPIES: lambda left, _: left,
    Target.DISTINCT: lambda left, _: Counter(dict.fromkeys(left, 1)),
    Target.DIFFERENCE: lambda left, right: left - right,
    Target.INTERSECTION: lambda left, right: left & right,
    Target.MAX_UNION: lambda left, right: left | right,
    Target.STRICT_DIFFERENCE: lambda left, right: Counter(
        {row: copies for row, copies in left.items() if row not in right}
    ),
}


@pytest.fixture(scope="module", autouse=True)
def forgetful() -> Iterator[None]:
    """Where ends wait is chosen anew whenever a few have come."""
    with mock.patch.object(strict_queue, "REMEMBERED", 2):
        yield


def drawn(data: st.DataObject, pattern: Pattern) -> list[Element]:
    of_pattern = edges(pattern, ROWS)
    return data.draw(of_pattern | ending_edges(ROWS) if pattern is Pattern.STR else of_pattern)


def all_end(*inputs: Sequence[Element]) -> bool:
    return all(one.te < INFINITY for elements in inputs for one in elements)


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_distinct_has_every_row_once(data: st.DataObject) -> None:
    elements = drawn(data, data.draw(st.sampled_from(TAME)))
    queue = data.draw(QUEUES)
    run = Run(lambda: DistinctOperator(TYPES, *queue), [TYPES], [False])
    found = run.results(data, [elements])
    check_edge(found, signed=False)
    for instant in INSTANTS:
        wanted = MEANINGS[Target.DISTINCT](snapshot(elements, instant), Counter())
        assert snapshot(found, instant) == wanted, instant
    assert run.last.state_rows == len({one.row for one in elements if one.te == INFINITY})


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_set_operations_count_copies(data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(list(Target)))
    ports = 1 if target in (Target.COPIES, Target.DISTINCT) else 2
    patterns = [data.draw(st.sampled_from(list(Pattern))) for _ in range(ports)]
    inputs = [drawn(data, pattern) for pattern in patterns]
    queue = data.draw(QUEUES)
    signed = [pattern is Pattern.STR for pattern in patterns]

    def make() -> SetOperation:
        return SetOperation(CountedRows(TYPES, patterns, target, *queue))

    run = Run(make, [TYPES] * ports, signed)
    found = run.results(data, inputs)
    check_edge(found, signed=True)
    for instant in INSTANTS:
        left, *right = (snapshot(one, instant) for one in inputs)
        wanted = MEANINGS[target](left, *right or [Counter()])
        assert snapshot(found, instant) == wanted, instant
    if all_end(*inputs):
        assert run.last.state_rows == 0


@given(st.data())
@settings(deadline=None, max_examples=150)
def test_rows_that_enter_and_rows_that_leave_are_reported(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from([InsertedRows, RemovedRows]))
    pattern = data.draw(st.sampled_from(list(Pattern)))
    elements = drawn(data, pattern)
    queue = data.draw(QUEUES)

    def make() -> Operator:
        return kind(CountedRows(TYPES, [pattern], Target.COPIES, *queue))

    found = Run(make, [TYPES], [pattern is Pattern.STR]).results(data, [elements])
    wanted: Counter[Element] = Counter()
    for instant in range(HORIZON):
        now, earlier = snapshot(elements, instant), snapshot(elements, instant - 1)
        changed = now - earlier if kind is InsertedRows else earlier - now
        for row, copies in changed.items():
            wanted[Element(row, instant, INFINITY)] += copies
    assert Counter(found) == wanted


def test_the_youngest_duplicate_takes_over() -> None:
    operator = DistinctOperator([pa.int64()], 8, 4)
    rows = [Element((1,), 0, 4), Element((1,), 1, 9), Element((1,), 2, 6)]
    found = sent(operator, 20, block_of(rows, [pa.int64()], False))
    assert found == [Element((1,), 0, 4), Element((1,), 4, 9)]


@pytest.mark.parametrize("kind", ["distinct", "counted"])
@pytest.mark.parametrize("type_", [pa.int64(), pa.string()])
def test_state_does_not_grow_with_the_stream(kind: str, type_: pa.DataType) -> None:
    """Ever new rows in a window of 100 steps."""
    patterns = [Pattern.WKS, Pattern.WKS]
    made: dict[str, Operator] = {
        "distinct": DistinctOperator([type_], 100, 8),
        "counted": SetOperation(CountedRows([type_], patterns, Target.DIFFERENCE, 100, 8)),
    }
    operator, sizes = made[kind], []
    for start in range(0, 10_000, 250):
        ts = np.arange(start, start + 250)
        block = Block((pa.array(ts).cast(type_),), ts, ts + 100)
        step_of(operator, start + 250, *[block] * (1 if kind == "distinct" else 2))
        sizes.append(operator.state_bytes)
    assert max(sizes[20:]) <= max(sizes[:20])


def test_what_is_withdrawn_leaves_no_end_behind() -> None:
    """Rows that would last long, each withdrawn soon."""
    counted = SetOperation(CountedRows([pa.int64()], [Pattern.STR], Target.COPIES, 10**6, 8))
    for start in range(0, 10_000, 250):
        ts = np.arange(start, start + 250)
        rows = np.repeat(ts, 2)
        signs = np.tile(np.array([1, -1], np.int8), 250)
        at = rows + np.tile([0, 1], 250)
        step_of(counted, start + 251, Block((pa.array(rows),), at, rows + 10**6, signs))
    assert counted.state_rows < 1000


@pytest.mark.parametrize("copies", [5, WIDE - 1, 2**31 - 2, 2**40])
def test_counts_pass_what_32_bits_hold(copies: int) -> None:
    """So many copies can only be restored here; three more come, one at an instant."""

    def counted() -> CountedRows:
        return CountedRows(TYPES, [Pattern.STR], Target.COPIES, 1, 1)

    row = pa.array([1]), pa.array(["a"])
    first = counted()
    first.step([Block(row, np.array([0]), np.array([INFINITY]))], 1)
    saved = first.rows.segments()
    rows = saved["rows"].set_column(2, "_count0", pa.array([copies]))
    saved["rows"] = rows.set_column(4, "_count2", pa.array([copies]))
    second = counted()
    second.rows.restore(saved)
    three = tuple(column.take(pa.array([0, 0, 0])) for column in row)
    changes = second.step([Block(three, np.arange(1, 4), np.full(3, INFINITY))], 9)
    assert changes.deltas.tolist() == [1, 1, 1]
    assert second.counts[0].tolist() == [copies + 3, 0, copies + 3]
    assert (second.counts.itemsize == 8) == (copies + 3 > WIDE)
    table = second.rows.segments()["rows"]
    assert table["_count0"].to_pylist() == [copies + 3]
    assert table.schema == saved["rows"].schema
