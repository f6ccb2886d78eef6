"""EMIT FINAL against the elements of the whole input, withdrawals resolved one by one."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.elements import ROWS, check_same_snapshots, closed, ending_edges
from operators.join_model import HORIZON, Element, block_of, check_edge, edges, elements_of, sent
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.operator import stepped
from penstock.operators.output.emit_final import FinalOperator

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES = [pa.int64(), pa.string()]
Interval = tuple[int, int]


def sendable(elements: Sequence[Element], clock: int) -> Counter[Interval]:
    """The intervals that are closed at the clock, without one that may have to come before."""
    ended = closed([one for one in elements if one.ts < clock])
    if clock == INFINITY:
        return Counter((one.ts, one.te) for one in ended)
    first = min((one.ts for one in ended if one.te > clock), default=INFINITY)
    return Counter((one.ts, one.te) for one in ended if one.te <= clock and one.ts <= first)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_closed_intervals_leave_in_order_as_soon_as_they_can(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(list(Pattern)))
    of_pattern = edges(pattern, ROWS)
    strict = pattern is Pattern.STR
    elements = data.draw(of_pattern | ending_edges(ROWS) if strict else of_pattern)
    clocks = sorted(data.draw(st.sets(st.integers(0, HORIZON), max_size=8)))
    operator, before = FinalOperator(TYPES, strict=strict), BEGINNING
    found: list[Element] = []
    for clock in [*clocks, INFINITY]:
        step = data.draw(st.permutations([one for one in elements if before <= one.ts < clock]))
        cut = data.draw(st.integers(0, len(step)))
        parts = [block_of(part, TYPES, strict) for part in (step[:cut], step[cut:]) if part]
        blocks = stepped(operator, [parts], clock)
        found += [one for block in blocks for one in elements_of(block)]
        assert Counter((one.ts, one.te) for one in found) == sendable(elements, clock)
        assert operator.state_rows == len(
            closed([one for one in elements if one.ts < clock])
        ) - len(found)
        assert operator.state_bytes > 0 or not operator.state_rows
        before = clock
        if data.draw(st.booleans()):
            segments = operator.segments()
            operator = FinalOperator(TYPES, strict=strict)
            operator.restore(segments)
    check_edge(found, signed=False)
    intervals = [(one.ts, one.te) for one in found]
    assert intervals == sorted(intervals)
    check_same_snapshots(found, elements)


@pytest.mark.parametrize("seed", range(6))
def test_many_elements_grow_move_to_the_front_and_leave(seed: int) -> None:
    random = Random(seed)
    strict = seed % 2 == 0
    elements = [Element((0, "open"), 0, 1500)] if seed > 3 else []
    for ts in range(0, 2000, 4):
        for number in range(random.randrange(3)):
            row, length = (random.randrange(3), "text" * number), random.choice([2, 30, 400])
            te = INFINITY if strict and random.random() < 0.5 else ts + length
            elements.append(Element(row, ts, te))
            if te == INFINITY or (strict and random.random() < 0.5):
                ended = ts + random.randrange(1, length)
                elements.append(Element(row, ended, te, -1))
    elements.sort(key=lambda one: one.ts)
    operator, before = FinalOperator(TYPES, strict=strict), BEGINNING
    found: list[Element] = []
    most = 0
    for clock in [*range(7, 2500, 11), INFINITY]:
        step = [one for one in elements if before <= one.ts < clock]
        found += sent(operator, clock, block_of(step, TYPES, strict))
        most, before = max(most, operator.state_bytes), clock
        if clock % 5 == 0:
            segments = operator.segments()
            operator = FinalOperator(TYPES, strict=strict)
            operator.restore(segments)
    assert sorted((one.ts, one.te) for one in found) == [(one.ts, one.te) for one in found]
    expected = Counter((one.row, one.ts, one.te) for one in closed(elements))
    assert Counter((one.row, one.ts, one.te) for one in found) == expected
    assert operator.state_rows == 0
    assert operator.state_bytes < most
    assert most < 500_000


def test_what_ends_at_the_clock_is_closed() -> None:
    operator = FinalOperator(TYPES, strict=False)
    rows = [Element((1, "a"), 2, 5), Element((2, "a"), 2, 6)]
    assert sent(operator, 5, block_of(rows, TYPES, False)) == [Element((1, "a"), 2, 5)]
    assert operator.state_rows == 1


def test_an_open_row_holds_back_those_that_began_behind_it() -> None:
    operator = FinalOperator(TYPES, strict=True)
    rows = [Element((1, "a"), 1, INFINITY), Element((2, "a"), 2, 3)]
    assert sent(operator, 10, block_of(rows, TYPES, True)) == []
    withdrawn = block_of([Element((1, "a"), 10, INFINITY, -1)], TYPES, True)
    ended = [Element((1, "a"), 1, 10), Element((2, "a"), 2, 3)]
    assert sent(operator, 11, withdrawn) == ended
