"""Ranks among the counters of `tree_loops`, and the sweeps over events; compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregate.accumulators.tree_loops import (
    DISTINCT,
    HEIGHT,
    INNERS,
    LEAVES,
    MANY,
    POINT,
    ROOT,
    SIZE,
    before,
    change,
    weight_of,
)
from penstock.state.compiled import compiled_borrowing
from penstock.state.prefetching import prefetch

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bytes, Doubles, Int8s, Int64s
    from penstock.operators.aggregate.accumulators.tree_loops import Nodes

Rank = tuple[int, int, float]
"""A fraction of the weight: numerator, denominator (0: not exact), and the nearest double."""
NEAR, FAR = 4, 8
"""How many events ahead to ask for a leaf, and for its parent."""
LINE = 8
"""Codes that the processor fetches at once."""
MANY_LEAVES = 1 << 13
"""Trees of fewer leaves stay in the caches, more or less."""


@compiled_borrowing
def weight_before(group: int, leaves: Nodes, inners: Nodes, meta: Int64s) -> int:
    """The weight of all entries of lower groups."""
    node, total = meta[ROOT], 0
    for _ in range(meta[HEIGHT]):
        place = 0
        while place + 1 < inners.sizes[node] and inners.groups[node, place + 1] < group:
            place += 1
        total += weight_of(inners, node, place, meta)
        node = inners.children[node, place]
    place = 0
    while place < leaves.sizes[node] and leaves.groups[node, place] < group:
        place += 1
    return total + weight_of(leaves, node, place, meta)


@compiled_borrowing
def find(rank: int, leaves: Nodes, inners: Nodes, meta: Int64s) -> tuple[int, int, int]:
    """The leaf and place where the weight passes `rank`, from 0, and the weight left there."""
    node = meta[ROOT]
    for _ in range(meta[HEIGHT]):
        place = 0
        while rank >= inners.weights[node, place]:
            rank -= inners.weights[node, place]
            place += 1
        node = inners.children[node, place]
    if meta[DISTINCT] == 1:
        return node, rank, 1
    place = 0
    while rank >= leaves.weights[node, place]:
        rank -= leaves.weights[node, place]
        place += 1
    return node, place, leaves.weights[node, place] - rank


@compiled_borrowing
def select(rank: int, both: bool, leaves: Nodes, inners: Nodes, meta: Int64s) -> tuple[int, int]:
    """The codes of the entries in which the weight passes `rank` and, if wanted, the next rank."""
    leaf, place, left = find(rank, leaves, inners, meta)
    low = leaves.codes[leaf, place]
    if not both:
        return low, 0
    if left > 1:
        return low, low
    if place + 1 < leaves.sizes[leaf]:
        return low, leaves.codes[leaf, place + 1]
    leaf, place, left = find(rank + 1, leaves, inners, meta)
    return low, leaves.codes[leaf, place]


@compiled_borrowing
def entries(leaves: Nodes, inners: Nodes, meta: Int64s, path: Int64s, out: Int64s) -> None:
    """Write all entries in order into the columns of `out`: group, code, counter."""
    row, level, node = 0, np.int64(0), meta[ROOT]
    while True:
        while level < meta[HEIGHT]:
            path[level, 0], path[level, 1] = node, 0
            node = inners.children[node, 0]
            level += 1
        for i in range(leaves.sizes[node]):
            out[0, row] = leaves.groups[node, i]
            out[1, row] = leaves.codes[node, i]
            out[2, row] = leaves.weights[node, i]
            row += 1
        level -= 1
        while level >= 0 and path[level, 1] + 1 == inners.sizes[path[level, 0]]:
            level -= 1
        if level < 0:
            return
        path[level, 1] += 1
        node = inners.children[path[level, 0], path[level, 1]]
        level += 1


@compiled_borrowing
def fetch(nodes: Nodes, node: int) -> None:
    """Ask for the memory of a node."""
    for place in range(0, SIZE, LINE):
        prefetch(nodes.codes[node], place)
    for place in range(0, SIZE, 2 * LINE):
        prefetch(nodes.groups[node], place)


@compiled_borrowing
def look_ahead(
    event: int, groups: Int64s, codes: Int64s, leaves: Nodes, inners: Nodes, meta: Int64s,
    texts: Int64s, data: Bytes, parents: Int64s,
) -> None:  # fmt: skip
    """Ask for the nodes that later events will change: the parent of the leaf, then the leaf.

    `parents` are those of the events just ahead. One may be gone when its leaf is looked for:
    what is asked for is then of no use, and does no harm.
    """
    later = event + FAR
    if later < groups.size:
        node = meta[ROOT]
        for _ in range(meta[HEIGHT] - 1):
            place = max(before(inners, node, groups[later], codes[later], 1, texts, data) - 1, 0)
            node = inners.children[node, place]
        fetch(inners, node)
        for place in range(0, SIZE, LINE):
            prefetch(inners.children[node], place)
        parents[later % FAR] = node
    soon = event + NEAR
    node = parents[soon % FAR]
    if soon < groups.size and node >= 0:
        place = max(before(inners, node, groups[soon], codes[soon], 1, texts, data) - 1, 0)
        prefetch(inners.weights[node], place)
        leaf = inners.children[node, place]
        fetch(leaves, leaf)
        for place in range(0, SIZE, 2 * LINE):
            prefetch(leaves.weights[leaf], place)


@compiled_borrowing
def roomy(leaves: Nodes, inners: Nodes, meta: Int64s) -> bool:
    """Room for any one change: there are nodes enough, and counters are wide enough."""
    leaf_room = len(leaves.sizes) - meta[LEAVES]
    inner_room = len(inners.sizes) - meta[INNERS]
    wide = meta[MANY] == 0 or leaves.weights.itemsize == 8
    return bool(leaf_room > 1 and inner_room > meta[HEIGHT] + 1 and wide)


@compiled_borrowing
def load(
    start: int, rows: Int64s, leaves: Nodes, inners: Nodes, meta: Int64s, texts: Int64s,
    data: Bytes, path: Int64s,
) -> int:  # fmt: skip
    """Put in entries (as `entries` wrote them) from `start` on.

    Returns the one before which the tree must grow, or the number of entries.
    """
    for i in range(start, rows.shape[1]):
        if not roomy(leaves, inners, meta):
            return i
        change(rows[0, i], rows[1, i], rows[2, i], leaves, inners, meta, texts, data, path)
    return int(rows.shape[1])


@compiled_borrowing
def sweep(
    start: int, groups: Int64s, weights: Int8s, codes: Int64s, points: Int64s, rank: Rank,
    leaves: Nodes, inners: Nodes, meta: Int64s, texts: Int64s, data: Bytes, path: Int64s,
    parents: Int64s, totals: Int64s, low: Int64s, high: Int64s, beyond: Doubles,
) -> int:  # fmt: skip
    """Take in events from `start` on; `totals` are the groups' weights.

    At each point, `low` and `high` get the codes between which the rank falls, and `beyond` how
    far it is from `low` (of 1), -1 where the group has no values. `rank` is the fraction of the
    weight: numerator and denominator (0: not exact) and the nearest double.

    Returns the event before which the tree must grow, or the number of events.
    """
    numerator, denominator, fraction = rank
    base_group, base = -1, 0
    parents[:] = -1
    for i in range(start, groups.size):
        group = groups[i]
        if weights[i] != 0:
            if not roomy(leaves, inners, meta):
                return i
            if meta[LEAVES] >= MANY_LEAVES and len(texts) == 0:
                look_ahead(i, groups, codes, leaves, inners, meta, texts, data, parents)
            totals[group, 0] += change(
                group, codes[i], weights[i], leaves, inners, meta, texts, data, path
            )
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
            base = weight_before(group, leaves, inners, meta)
        if denominator > 0:
            below = last * numerator // denominator
            beyond[at] = (last * numerator % denominator) / denominator
        else:
            below = np.int64(last * fraction)
            beyond[at] = last * fraction - below
        low[at], high[at] = select(base + below, beyond[at] > 0.0, leaves, inners, meta)
    return groups.size
