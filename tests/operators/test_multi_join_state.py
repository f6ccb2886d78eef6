"""The join of many inputs: what it remembers, in which ways it can be carried out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from operators.join_model import Element, block_of, elements_of, sent, step_of
from operators.multi_join_model import grouping, plain_orders
from operators.multi_join_steps import by_first, common, passing, run, steps_of
from penstock.algebra.patterns import Pattern
from penstock.errors import InternalError
from penstock.operators.block import Block
from penstock.operators.division import Division, Spread
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.join_sides import JoinSide
from penstock.operators.multi_join.multi_join import MultiJoin, Theta
from penstock.operators.operator import stepped
from penstock.operators.window.merged_numbers import Numbers
from penstock.state.lane_hash import lanes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.multi_join.multi_join import Evaluation


@pytest.mark.parametrize("evaluation", ["eager", "lazy"])
def test_rows_meet_those_that_were_there_when_they_came(evaluation: Evaluation) -> None:
    """The windows of tables 2 and 3 of the paper; a row of age 100 does not join here."""
    join = common(3, evaluation=evaluation)
    times = ((90, 100), (150, 180), (195, 205))
    inputs = [[Element((1, ts), ts, ts + 100) for ts in instants] for instants in times]
    blocks = [block_of(rows, [pa.int64()] * 2, False) for rows in inputs]
    with grouping():
        found = [one.row[1::2] for one in sent(join, 210, *blocks)]
    assert sorted(found) == [(100, 150, 195), (100, 180, 195)]


@pytest.mark.parametrize("expiration", ["eager", "lazy"])
@pytest.mark.parametrize("evaluation", ["eager", "lazy"])
def test_it_finds_what_a_tree_of_joins_does(evaluation: str, expiration: str) -> None:
    inputs, steps = 4, steps_of(4, 8, 150, 40)
    trees = [
        JoinOperator(
            by_first(Pattern.WKS if number == 2 else Pattern.WK, 2 * number - 2), by_first()
        )
        for number in range(2, inputs + 1)
    ]
    expected: Counter[Element] = Counter()
    for number, blocks in enumerate(steps):
        made: Sequence[Block] = blocks[:1]
        for tree, block in zip(trees, blocks[1:], strict=True):
            made = stepped(tree, [made, [block]], 150 * (number + 1))
        expected.update(one for block in made for one in elements_of(block))
    join = common(inputs, evaluation=evaluation, expiration=expiration, portion=64, at_once=100)
    with grouping():
        assert run(join, steps, 150) == expected
    assert expected


@pytest.mark.parametrize("buckets", [1, 5, 1000])
def test_the_number_of_buckets_does_not_matter(buckets: int) -> None:
    steps = steps_of(3, 4, 150, 30)
    expected = run(common(3), steps, 150)
    assert run(common(3, buckets=[buckets, 1, 7]), steps, 150) == expected
    assert run(common(3, expected=[10_000, 0, buckets]), steps, 150) == expected


def test_sixteen_inputs() -> None:
    steps = steps_of(16, 3, 120, 400)
    rows = [Element((1000, port), 5 * port, 500) for port in range(16)]
    for port, row in enumerate(rows):
        steps[0][port] = block_of([row], [pa.int64()] * 2, False)
    found = run(common(16), steps, 120)
    assert found[Element(sum((one.row for one in rows), ()), 75, 500)] == 1


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK, Pattern.STR])
@pytest.mark.parametrize("expiration", ["eager", "lazy"])
def test_state_does_not_grow_with_the_stream(pattern: Pattern, expiration: str) -> None:
    join, sizes, rows = common(3, pattern, expiration=expiration), [], []
    for start in range(0, 5000, 50):
        blocks = [passing(start, start + 50, 10**9, port) for port in range(3)]
        step_of(join, start + 50, *blocks)
        sizes.append(join.state_bytes)
        rows.append(join.state_rows)
    assert max(sizes[50:]) <= max(sizes[:50])
    assert 3 * 99 <= rows[-1] <= 3 * (150 if expiration == "eager" else 1400)


@pytest.mark.parametrize("pattern", [Pattern.WKS, Pattern.WK, Pattern.STR])
def test_room_is_given_back_behind_a_burst(pattern: Pattern) -> None:
    join = common(3, pattern)
    ts = np.zeros(20_000, np.int64)
    values = pa.array(np.arange(20_000))
    step_of(join, 1, *[Block((values, values), ts, ts + 100)] * 3)
    burst = join.state_bytes
    for start in range(1, 2000, 50):
        blocks = [passing(start, start + 50, 10**9, port) for port in range(3)]
        step_of(join, start + 50, *blocks)
    assert join.state_bytes < burst / 5


def test_probes_are_counted() -> None:
    join = common(3, evaluation="eager")
    run(join, steps_of(3, 2, 50, 5), 50)
    measured = join.measured
    assert [(one.origin, one.target, one.agreements) for one in measured] == [
        (0, 1, (0,)), (0, 2, (0,)), (1, 0, (0,)), (1, 2, (0,)), (2, 0, (0,)), (2, 1, (0,)),
    ]  # fmt: skip
    assert all(measured[one].matches == measured[one + 1].probes > 0 for one in (0, 2, 4))


def test_combinations_come_in_portions() -> None:
    sizes = []

    def asks(columns: Sequence[pa.Array], length: int) -> np.ndarray[Any, Any]:
        assert len(columns) == 2
        sizes.append(length)
        return np.zeros(length, np.bool_)

    side = JoinSide([pa.int64()], lambda _: (), (), Pattern.WKS)
    thetas = [Theta((0, 2), asks)]
    join = MultiJoin([side] * 3, [()] * 3, thetas, plain_orders(3), at_once=1000)
    rows = [Element((one,), one, one + 500) for one in range(40)]
    assert sent(join, 100, *[block_of(rows, [pa.int64()], False)] * 3) == []
    assert max(sizes) <= 1000


def test_withdrawing_what_is_not_there_is_refused() -> None:
    for pattern in (Pattern.STR, Pattern.WKS):
        join = common(2, pattern)
        withdrawn = block_of([Element((1, 1), 0, 5, -1)], [pa.int64()] * 2, True)
        with pytest.raises(InternalError, match="not there"):
            step_of(join, 4, withdrawn, withdrawn.stretch(0, 0))


def test_lanes_are_divided_anew() -> None:
    steps = steps_of(3, 6, 100, 30)
    expected = run(common(3), steps, 100)
    whole = common(3)
    found = run(whole, steps[:3], 100)
    spread = Spread(2, [lambda columns, length, failures: columns[0]])
    division = Division("join", [spread] * 3, spread, 2, Numbers(), meets=True)
    parts = common(3).divided([whole.segments()], division)
    assert all(part[f"input {port}/rows"].num_rows for part in parts for port in range(3))
    for lane, part in enumerate(parts):
        join = common(3, evaluation="eager", expiration="eager")
        join.restore(part)
        mine = [
            [block.take(lanes_of(block.columns[:1], len(block), 2) == lane) for block in blocks]
            for blocks in steps
        ]
        nothing = [[block.stretch(0, 0) for block in blocks] for blocks in mine[:3]]
        found.update(run(join, [*nothing, *mine[3:]], 100))
    assert found == expected
