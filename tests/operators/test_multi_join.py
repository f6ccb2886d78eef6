"""The join of many inputs against its definition on snapshots."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operators.join_model import HORIZON, check_edge, snapshot
from operators.multi_join_model import MultiRun, combined, grouping, inputs_of, joins, shapes
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.operators.operator import stepped


@pytest.mark.parametrize("inputs", [2, 3, 4, 5, 6])
@given(data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_join_is_the_join_of_every_snapshot(inputs: int, data: st.DataObject) -> None:
    shape = data.draw(shapes(inputs))
    strict = [pattern is Pattern.STR for pattern in shape.patterns]
    types = [shape.types(number) for number in range(inputs)]
    run = MultiRun(lambda: data.draw(joins(shape)), types, strict, data=data, shape=shape)
    elements = data.draw(inputs_of(shape))

    with grouping() if data.draw(st.booleans()) else nullcontext():
        found = run.results(data, elements)

    check_edge(found, any(strict))
    for instant in range(-1, HORIZON):
        assert snapshot(found, instant) == combined(
            shape, [snapshot(one, instant) for one in elements]
        )
    if all(element.te < INFINITY for one in elements for element in one):
        stepped(run.last, [[] for _ in elements], INFINITY)
        assert run.last.state_rows == 0
