"""The tree of counters against a sorted list: ranks, what its nodes say, and its memory."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra.types import BIGINT
from penstock.operators.aggregate.accumulators import tree_loops as loops
from penstock.operators.aggregate.accumulators import tree_sweeps as sweeps
from penstock.operators.aggregate.accumulators.codes import codes_for
from penstock.operators.aggregate.accumulators.events import GroupEvents
from penstock.operators.aggregate.accumulators.tree import CountedTree

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs

CODES = codes_for(BIGINT)
HALF = 1, 2, 0.5
Found = tuple[list[int], list[int], list[float]]


def swept(tree: CountedTree, groups: Ints, codes: Ints, signs: Signs) -> Found:
    """Feed events, a value wanted after each; their groups ascend."""
    times = np.arange(len(groups))
    events = GroupEvents(groups, times, signs, times, times)
    low, high, beyond = tree.sweep(events, events.signs, codes, HALF)
    return low.tolist(), high.tolist(), beyond.tolist()


def check_nodes(tree: CountedTree) -> None:
    """Every parent knows the least entry and the weight below; all nodes are in use or free."""
    leaves, inners, meta = tree.leaves, tree.inners, tree.meta
    seen = [0, 0]

    def visit(node: int, height: int) -> tuple[tuple[int, int], int]:
        kind = leaves if height == 0 else inners
        seen[height > 0] += 1
        size = int(kind.sizes[node])
        assert size > 0 or meta[loops.ENTRIES] == 0
        assert (kind.groups[node, size:] == loops.UNUSED).all()
        groups, codes = kind.groups[node, :size].tolist(), kind.codes[node, :size].tolist()
        keys = list(zip(groups, codes, strict=True))
        assert keys == sorted(set(keys))
        weights = kind.weights[node, :size].tolist()
        if height > 0:
            below = [visit(child, height - 1) for child in inners.children[node, :size].tolist()]
            assert below == list(zip(keys, weights, strict=True))
        elif tree.distinct:
            weights = [1] * size
        return keys[0] if keys else (0, 0), sum(weights)

    visit(int(meta[loops.ROOT]), int(meta[loops.HEIGHT]))
    assert seen == [meta[loops.LEAVES], meta[loops.INNERS]]


def around_the_middle(values: list[int]) -> tuple[int, int, float]:
    if not values:
        return 0, 0, -1.0
    low, odd = divmod(len(values) - 1, 2)
    return values[low], values[low + 1] if odd else 0, odd / 2


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("most", [40, 10**6])
@pytest.mark.parametrize("several", [1, 7])
def test_middles_of_values_that_come_and_go(distinct: bool, most: int, several: int) -> None:
    """It grows to some thousand entries, stays, thins out, and grows again."""
    random = np.random.default_rng(most + several)
    tree = CountedTree(CODES, distinct=distinct)
    counters: list[Counter[int]] = [Counter() for _ in range(several)]
    for share in (0.9, 0.9, 0.5, 0.5, 0.1, 0.1, 0.05, 0.9):
        groups = np.sort(random.integers(0, several, 1500))
        codes = random.integers(0, most, 1500)
        signs = np.ones(1500, np.int8)
        wanted = []
        for place, group in enumerate(groups.tolist()):
            counter = counters[group]
            if random.random() > share and counter:
                codes[place] = random.choice(list(counter)) if place % 8 == 0 else min(counter)
                signs[place] = -1
            counter[int(codes[place])] += int(signs[place])
            if counter[int(codes[place])] == 0:
                del counter[int(codes[place])]
            if place % 25 == 0:
                values = sorted(counter if distinct else counter.elements())
                wanted.append((place, around_the_middle(values)))
        found = list(zip(*swept(tree, groups, codes, signs), strict=True))
        assert [(place, found[place]) for place, _ in wanted] == wanted
        check_nodes(tree)
        assert tree.in_use == sum(map(len, counters))
    saved = tree.table()
    rebuilt = CountedTree(CODES, distinct=distinct)
    rebuilt.restore(saved)
    check_nodes(rebuilt)
    assert rebuilt.table() == saved
    assert {field.type for field in saved.schema} == {pa.int64()}


def test_a_tree_beyond_the_caches() -> None:
    """So many leaves that nodes are asked for ahead."""
    random = np.random.default_rng(1)
    count = 30 * sweeps.MANY_LEAVES
    tree, codes = CountedTree(CODES, distinct=False), random.permutation(count)
    one_group, ones = np.zeros(count, np.int64), np.ones(count, np.int8)
    swept(tree, one_group, codes, ones)
    assert tree.meta[loops.LEAVES] > sweeps.MANY_LEAVES
    check_nodes(tree)
    low, high, beyond = swept(tree, one_group, codes, -ones)
    assert tree.in_use == 0
    left = np.sort(codes[2001:])
    assert (low[2000], high[2000], beyond[2000]) == around_the_middle(left.tolist())
    assert tree.nbytes < 20_000


def test_leaves_are_well_filled_when_values_come_and_go() -> None:
    random = np.random.default_rng(2)
    tree, codes = CountedTree(CODES, distinct=False), random.integers(0, 2**40, 220_000)
    for start in range(0, 200_000, 1000):
        stop = start + 1000
        swept(tree, np.zeros(1000, np.int64), codes[start:stop], np.ones(1000, np.int8))
        if start >= 20_000:
            gone = codes[start - 20_000 : stop - 20_000]
            swept(tree, np.zeros(1000, np.int64), gone, -np.ones(1000, np.int8))
    assert tree.in_use == 20_000
    places = loops.SIZE * int(tree.meta[loops.LEAVES])
    assert tree.in_use > 0.55 * places
    assert tree.nbytes < 40 * 20_000


@pytest.mark.parametrize("count", [loops.FEW - 1, 2**31 - 2, 2**40])
def test_counters_pass_what_32_bits_hold(count: int) -> None:
    tree = CountedTree(CODES, distinct=False)
    tree.restore(pa.table({"group": [0, 0], "code": [5, 9], "count": [count, 1]}))
    entering = np.zeros(4, np.int64), np.full(4, 9), np.ones(4, np.int8)
    assert swept(tree, *entering)[0] == [5] * 4
    swept(tree, np.zeros(4, np.int64), np.full(4, 5), np.ones(4, np.int8))
    assert tree.table().to_pydict() == {"group": [0, 0], "code": [5, 9], "count": [count + 4, 5]}
    assert (tree.leaves.weights.dtype == np.int64) == (count + 4 > loops.FEW)
