"""Split and coalesce cut intervals anew, and no snapshot changes."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.elements import ROWS, check_same_snapshots, closed, ending_edges
from operators.join_model import HORIZON, Element, Run, block_of, check_edge, edges, sent, step_of
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.errors import Refused
from penstock.operators.output.cuts import CoalesceOperator, SplitOperator

TYPES = [pa.int64(), pa.string()]
NOTHING = block_of([], TYPES, True)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_pieces_lie_between_multiples_of_the_length(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from([Pattern.WKS, Pattern.WK, Pattern.STR]))
    strict = pattern is Pattern.STR
    of_pattern = edges(pattern, ROWS)
    elements = data.draw(of_pattern | ending_edges(ROWS) if strict else of_pattern)
    length = data.draw(st.integers(1, 7))
    run = Run(lambda: SplitOperator(length), [TYPES], [strict])
    found = run.results(data, [elements])
    check_edge(found, signed=strict)
    cut = [one for one in found if one.ts > BEGINNING]
    assert all((one.te - 1) // length == one.ts // length for one in cut)
    open_ends = [one for one in closed(elements) if one.te > HORIZON]
    assert run.last.state_rows == len(open_ends)
    found += sent(run.last, INFINITY, NOTHING)
    check_same_snapshots(found, elements)


@given(st.data())
@settings(deadline=None, max_examples=200)
def test_coalesced_elements_are_fewer_and_mean_the_same(data: st.DataObject) -> None:
    pattern = data.draw(st.sampled_from(list(Pattern)))
    of_pattern = edges(pattern, ROWS)
    strict = pattern is Pattern.STR
    elements = data.draw(of_pattern | ending_edges(ROWS) if strict else of_pattern)
    found = Run(CoalesceOperator, [TYPES], [strict]).results(data, [elements])
    check_edge(found, signed=strict)
    check_same_snapshots(found, elements)
    assert len(found) <= len(elements)


@given(ending_edges(ROWS))
@settings(deadline=None, max_examples=200)
def test_within_a_step_no_equal_rows_meet(elements: list[Element]) -> None:
    operator = CoalesceOperator()
    found = sent(operator, INFINITY, block_of(elements, TYPES, True))
    begins = {(one.row, one.ts) for one in found}
    assert all((one.row, one.te) not in begins for one in found)


def test_a_withdrawal_reaches_the_piece_that_is_out() -> None:
    operator = SplitOperator(4)
    pieces = [Element((1, "a"), 1, 4), Element((1, "a"), 4, 7)]
    assert sent(operator, 5, block_of([Element((1, "a"), 1, 7)], TYPES, True)) == pieces
    withdrawn = [Element((1, "a"), 5, 7, -1)]
    assert sent(operator, 8, block_of(withdrawn, TYPES, True)) == withdrawn


def test_pieces_without_end_begin_as_time_goes_on() -> None:
    """A strict element lasts until it is withdrawn."""
    operator = SplitOperator(10)
    pieces = [Element((1, "a"), 3, 10), Element((1, "a"), 10, 20)]
    assert sent(operator, 11, block_of([Element((1, "a"), 3, INFINITY)], TYPES, True)) == pieces
    withdrawn = block_of([Element((1, "a"), 25, INFINITY, -1)], TYPES, True)
    assert sent(operator, INFINITY, withdrawn) == [Element((1, "a"), 20, 25)]


def test_what_was_always_there_is_cut_from_the_first_clock_on() -> None:
    operator = SplitOperator(10)
    there = block_of([Element((1, "a"), BEGINNING, INFINITY)], TYPES, True)
    assert sent(operator, 7, there) == [Element((1, "a"), BEGINNING, 10)]
    pieces = [Element((1, "a"), 10, 20), Element((1, "a"), 20, 30)]
    assert sent(operator, 21, NOTHING) == pieces
    # At the end of the input there is nothing to cut any more for.
    assert sent(operator, INFINITY, NOTHING) == [Element((1, "a"), 30, INFINITY)]


def test_an_unsigned_element_that_never_ends_is_refused() -> None:
    operator = SplitOperator(10)
    endless = block_of([Element((1, "a"), 3, INFINITY)], TYPES, False)
    with pytest.raises(Refused, match="never ends"):
        step_of(operator, 5, endless)


def test_coalesce_joins_what_meets() -> None:
    operator = CoalesceOperator()
    row, other = (1, "a"), (2, "a")
    elements = [Element(row, 1, 4), Element(row, 4, 6), Element(other, 4, 5), Element(row, 7, 9)]
    found = sent(operator, 8, block_of(elements, TYPES, False))
    merged = [Element(row, 1, 6), Element(other, 4, 5), Element(row, 7, 9)]
    assert Counter(found) == Counter(merged)
