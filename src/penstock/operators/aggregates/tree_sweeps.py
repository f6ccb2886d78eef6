"""Ranks among the counters of `tree_loops`, and the sweeps over events; compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregates.tree_loops import (
    CHILD,
    CODE,
    DEEPEST,
    DISTINCT,
    GROUP,
    HEIGHT,
    INNERS,
    LEAVES,
    POINT,
    ROOT,
    WEIGHT,
    change,
    weight_of,
)
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregates.events import Bytes, Doubles, Int8s, Int64s

Rank = tuple[int, int, float]
"""A fraction of the weight: numerator, denominator (0: not exact), and the nearest double."""


@compiled
def weight_before(
    group: int, leaves: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s, meta: Int64s
) -> int:
    """The weight of all entries of lower groups."""
    node, total = meta[ROOT], 0
    for _ in range(meta[HEIGHT]):
        place = 0
        while place + 1 < inner_sizes[node] and inners[node, GROUP, place + 1] < group:
            total += inners[node, WEIGHT, place]
            place += 1
        node = inners[node, CHILD, place]
    place = 0
    while place < sizes[node] and leaves[node, GROUP, place] < group:
        place += 1
    return total + weight_of(leaves, node, place, meta, True)


@compiled
def select(
    rank: int, leaves: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s, meta: Int64s
) -> int:
    """The code of the entry in which the weight passes `rank`, counted from 0."""
    node = meta[ROOT]
    for _ in range(meta[HEIGHT]):
        place = 0
        while rank >= inners[node, WEIGHT, place]:
            rank -= inners[node, WEIGHT, place]
            place += 1
        node = inners[node, CHILD, place]
    place = 0
    while True:
        weight = leaves[node, WEIGHT, place]
        weight = min(weight, 1) if meta[DISTINCT] == 1 else weight
        if rank < weight:
            return int(leaves[node, CODE, place])
        rank -= weight
        place += 1


@compiled
def entries(
    leaves: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s, meta: Int64s, out: Int64s
) -> None:
    """Write all entries in order into the columns of `out`."""
    path = np.zeros((DEEPEST, 2), np.int64)
    row, level, node = 0, np.int64(0), meta[ROOT]
    while True:
        while level < meta[HEIGHT]:
            path[level, 0], path[level, 1] = node, 0
            node = inners[node, CHILD, 0]
            level += 1
        for i in range(sizes[node]):
            for part in range(3):
                out[part, row] = leaves[node, part, i]
            row += 1
        level -= 1
        while level >= 0 and path[level, 1] + 1 == inner_sizes[path[level, 0]]:
            level -= 1
        if level < 0:
            return
        path[level, 1] += 1
        node = inners[path[level, 0], CHILD, path[level, 1]]
        level += 1


@compiled
def roomy(leaves: Int64s, inners: Int64s, meta: Int64s) -> bool:
    """Whether there are nodes enough for any one change."""
    leaf_room, inner_room = leaves.shape[0] - meta[LEAVES], inners.shape[0] - meta[INNERS]
    return bool(leaf_room > 1 and inner_room > DEEPEST)


@compiled
def load(
    start: int, rows: Int64s, leaves: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s,
    meta: Int64s, texts: Int64s, data: Bytes,
) -> int:  # fmt: skip
    """Put in entries (as `entries` wrote them) from `start` on.

    Returns the one before which nodes must be added, or the number of entries.
    """
    path = np.zeros((DEEPEST, 2), np.int64)
    for i in range(start, rows.shape[1]):
        if not roomy(leaves, inners, meta):
            return i
        change(
            rows[GROUP, i], rows[CODE, i], rows[WEIGHT, i], leaves, sizes, inners, inner_sizes,
            meta, texts, data, path,
        )  # fmt: skip
    return int(rows.shape[1])


@compiled
def sweep(
    start: int, groups: Int64s, weights: Int8s, codes: Int64s, points: Int64s, rank: Rank,
    leaves: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s, meta: Int64s,
    texts: Int64s, data: Bytes, totals: Int64s, low: Int64s, high: Int64s, beyond: Doubles,
) -> int:  # fmt: skip
    """Take in events from `start` on; `totals` are the groups' weights.

    At each point, `low` and `high` get the codes between which the rank falls, and `beyond` how
    far it is from `low` (of 1), -1 where the group has no values. `rank` is the fraction of the
    weight: numerator and denominator (0: not exact) and the nearest double.

    Returns the event before which nodes must be added, or the number of events.
    """
    path = np.zeros((DEEPEST, 2), np.int64)
    numerator, denominator, fraction = rank
    base_group, base = -1, 0
    for i in range(start, groups.size):
        group = groups[i]
        if weights[i] != 0:
            if not roomy(leaves, inners, meta):
                return i
            totals[group, 0] += change(
                group, codes[i], weights[i], leaves, sizes, inners, inner_sizes, meta, texts,
                data, path,
            )  # fmt: skip
        at = meta[POINT]
        if at == points.size or points[at] != i:
            continue
        meta[POINT] += 1
        last = totals[group, 0] - 1
        beyond[at] = -1.0
        low[at] = high[at] = 0
        if last < 0:
            continue
        if group != base_group:
            # Lower groups are done: what lies before this one stays the same.
            base_group = group
            base = weight_before(group, leaves, sizes, inners, inner_sizes, meta)
        if denominator > 0:
            below = last * numerator // denominator
            beyond[at] = (last * numerator % denominator) / denominator
        else:
            below = np.int64(last * fraction)
            beyond[at] = last * fraction - below
        low[at] = select(base + below, leaves, sizes, inners, inner_sizes, meta)
        if beyond[at] > 0.0:
            high[at] = select(base + below + 1, leaves, sizes, inners, inner_sizes, meta)
    return groups.size
