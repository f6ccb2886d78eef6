"""Numbers of elements: unique, and those of negative rows are of what they withdraw."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.join_model import (
    HORIZON,
    Element,
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
from penstock.errors import InternalError
from penstock.operators.window.element_numbers import Number

TYPES = [pa.string(), pa.int64()]
ROWS = st.tuples(st.sampled_from(["a", None]), st.sampled_from([1, 2]))


@given(st.data(), st.sampled_from(list(Pattern)))
@settings(deadline=None, max_examples=80)
def test_every_element_has_a_number_of_its_own(data: st.DataObject, pattern: Pattern) -> None:
    strict = pattern is Pattern.STR
    edge = data.draw(edges(pattern, ROWS))
    run = Run(lambda: Number(TYPES, pattern, 8, 4), [TYPES], [strict])
    found = run.results(data, [edge])

    check_edge(found, strict)
    positive = [one for one in found if one.sign > 0]
    assert len({one.row[-1] for one in positive}) == len(positive)
    bare = [Element(one.row[:-1], one.ts, one.te, one.sign) for one in found]
    assert sorted(bare, key=repr) == sorted(edge, key=repr)
    for instant in range(-1, HORIZON):
        counts = snapshot(found, instant)
        assert set(counts.values()) <= {1}
        assert len(counts) == snapshot(edge, instant).total()
    live = sum(one.sign for one in edge if one.te == INFINITY)
    assert run.last.state_rows == (live if strict else 0)


def test_numbers_go_on_after_a_restore() -> None:
    block = block_of([Element(("a", 1), 0, 3)], TYPES, False)
    first = Number(TYPES, Pattern.WKS)
    step_of(first, 1, block)
    second = Number(TYPES, Pattern.WKS)
    second.restore(first.segments())
    assert sent(second, 1, block) == [Element(("a", 1, 1), 0, 3)]


def test_withdrawing_what_is_not_there_is_refused() -> None:
    number = Number(TYPES, Pattern.STR)
    withdrawn = block_of([Element(("a", 1), 0, 3, -1)], TYPES, True)
    with pytest.raises(InternalError, match="not there"):
        step_of(number, 5, withdrawn)
