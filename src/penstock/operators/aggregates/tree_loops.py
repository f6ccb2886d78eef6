"""Counters per (group, value) in order: a B+-tree that knows how much lies below; compiled.

One tree holds all groups, ordered by group, then by value. Leaves have the entries; an inner node
has for each child its least entry, the weight of all entries below, and the child's place. (Its
least entry, not one that was: the number of a text that left may stand for another by now.) A full
node is split on the way down; a node is freed when it is empty, and the owner rebuilds a tree in
which nodes have become too thin. `meta`: see the constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.operators.aggregates.pool_loops import compare
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregates.events import Bytes, Int64s

SIZE = 32
"""Entries of a leaf, children of an inner node."""
GROUP, CODE, WEIGHT, CHILD = range(4)
"""Rows of a node; WEIGHT is an entry's counter, or the weight below a child."""
ROOT, HEIGHT, ENTRIES, LEAF_FREE, LEAVES, INNER_FREE, INNERS, DISTINCT, POINT = range(9)
"""Of `meta`. HEIGHT 0: the root is a leaf. DISTINCT 1: an entry weighs 1 whatever its counter."""
DEEPEST = 16
"""Levels a tree never reaches."""


@compiled
def take(nodes: Int64s, sizes: Int64s, meta: Int64s, free: int) -> int:
    """A free node; `free` says of which kind, its number in use stands next to it."""
    node = int(meta[free])
    meta[free] = nodes[node, 0, 0]
    meta[free + 1] += 1
    sizes[node] = 0
    return node


@compiled
def give_back(node: int, nodes: Int64s, meta: Int64s, free: int) -> None:
    """Free a node."""
    nodes[node, 0, 0] = meta[free]
    meta[free] = node
    meta[free + 1] -= 1


@compiled
def chain(nodes: Int64s, first: int, meta: Int64s, free: int) -> None:
    """Make the nodes from `first` on free."""
    for node in range(nodes.shape[0] - 1, first - 1, -1):
        nodes[node, 0, 0] = meta[free]
        meta[free] = node


@compiled
def insert_gap(nodes: Int64s, node: int, size: int, place: int) -> None:
    """Move what stands at `place` and after it one further.

    A node is given as array and index, here and below: a view of its own would cost more than
    what is done with it.
    """
    for row in range(nodes.shape[1]):
        for i in range(size, place, -1):
            nodes[node, row, i] = nodes[node, row, i - 1]


@compiled
def remove_gap(nodes: Int64s, node: int, size: int, place: int) -> None:
    """Move what stands after `place` one back."""
    for row in range(nodes.shape[1]):
        for i in range(place, size - 1):
            nodes[node, row, i] = nodes[node, row, i + 1]


@compiled
def order(
    nodes: Int64s, node: int, place: int, group: int, code: int, texts: Int64s, data: Bytes
) -> int:
    """Whether an entry is less than (group, code), the same or greater: -1, 0, 1."""
    other = nodes[node, GROUP, place]
    if other != group:
        return -1 if other < group else 1
    return compare(nodes[node, CODE, place], code, texts, data)


@compiled
def first_not_below(
    nodes: Int64s, node: int, size: int, group: int, code: int, texts: Int64s, data: Bytes
) -> int:
    """The first place with an entry not less than (group, code)."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if order(nodes, node, middle, group, code, texts, data) < 0:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def child_for(
    nodes: Int64s, node: int, size: int, group: int, code: int, texts: Int64s, data: Bytes
) -> int:
    """The child in whose range (group, code) falls; the first takes all that is less."""
    place = first_not_below(nodes, node, size, group, code, texts, data)
    exact = place < size and order(nodes, node, place, group, code, texts, data) == 0
    return place if exact else max(place - 1, 0)


@compiled
def weight_of(nodes: Int64s, node: int, size: int, meta: Int64s, leaf: bool) -> int:
    """The weight of everything in and below a node."""
    total = 0
    for i in range(size):
        weight = nodes[node, WEIGHT, i]
        total += min(max(weight, 0), 1) if leaf and meta[DISTINCT] == 1 else weight
    return total


@compiled
def split(
    parent: int, place: int, nodes: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s,
    meta: Int64s, leaf: bool,
) -> None:  # fmt: skip
    """Move the upper half of a parent's full child into a new one next to it."""
    child = inners[parent, CHILD, place]
    new = take(nodes, sizes, meta, LEAF_FREE if leaf else INNER_FREE)
    half = SIZE // 2
    for row in range(nodes.shape[1]):
        for i in range(half):
            nodes[new, row, i] = nodes[child, row, half + i]
    sizes[child], sizes[new] = half, half
    insert_gap(inners, parent, inner_sizes[parent], place + 1)
    inner_sizes[parent] += 1
    inners[parent, GROUP, place + 1] = nodes[new, GROUP, 0]
    inners[parent, CODE, place + 1] = nodes[new, CODE, 0]
    inners[parent, CHILD, place + 1] = new
    inners[parent, WEIGHT, place + 1] = weight_of(nodes, new, half, meta, leaf)
    inners[parent, WEIGHT, place] -= inners[parent, WEIGHT, place + 1]


@compiled
def raise_root(
    leaves: Int64s, sizes: Int64s, inners: Int64s, inner_sizes: Int64s, meta: Int64s
) -> None:
    """Put a new root above a full one."""
    old, leaf = meta[ROOT], meta[HEIGHT] == 0
    root = take(inners, inner_sizes, meta, INNER_FREE)
    nodes = leaves if leaf else inners
    inners[root, CHILD, 0] = old
    inners[root, GROUP, 0], inners[root, CODE, 0] = nodes[old, GROUP, 0], nodes[old, CODE, 0]
    inners[root, WEIGHT, 0] = weight_of(nodes, old, SIZE, meta, leaf)
    inner_sizes[root] = 1
    meta[ROOT] = root
    meta[HEIGHT] += 1


@compiled
def change(
    group: int, code: int, step: int, leaves: Int64s, sizes: Int64s, inners: Int64s,
    inner_sizes: Int64s, meta: Int64s, texts: Int64s, data: Bytes, path: Int64s,
) -> int:  # fmt: skip
    """Add a step to the counter of (group, code); returns by how much the weight changed."""
    full = sizes[meta[ROOT]] if meta[HEIGHT] == 0 else inner_sizes[meta[ROOT]]
    if full == SIZE:
        raise_root(leaves, sizes, inners, inner_sizes, meta)
    node, height = meta[ROOT], meta[HEIGHT]
    for level in range(height):
        place = child_for(inners, node, inner_sizes[node], group, code, texts, data)
        child = inners[node, CHILD, place]
        lowest = level == height - 1
        if (sizes[child] if lowest else inner_sizes[child]) == SIZE:
            if lowest:
                split(node, place, leaves, sizes, inners, inner_sizes, meta, True)
            else:
                split(node, place, inners, inner_sizes, inners, inner_sizes, meta, False)
            place = child_for(inners, node, inner_sizes[node], group, code, texts, data)
        path[level, 0], path[level, 1] = node, place
        node = inners[node, CHILD, place]
    size = sizes[node]
    place = first_not_below(leaves, node, size, group, code, texts, data)
    found = place < size and order(leaves, node, place, group, code, texts, data) == 0
    if not found:
        insert_gap(leaves, node, size, place)
        leaves[node, GROUP, place], leaves[node, CODE, place] = group, code
        leaves[node, WEIGHT, place] = 0
        sizes[node] += 1
        meta[ENTRIES] += 1
        if place == 0:
            lead(height, group, code, inners, path)
    before = leaves[node, WEIGHT, place]
    after = before + step
    leaves[node, WEIGHT, place] = after
    grown = step
    if meta[DISTINCT] == 1:
        grown = (1 if after > 0 else 0) - (1 if before > 0 else 0)
    for level in range(height):
        inners[path[level, 0], WEIGHT, path[level, 1]] += grown
    if after == 0:
        remove_gap(leaves, node, sizes[node], place)
        sizes[node] -= 1
        meta[ENTRIES] -= 1
        if sizes[node] > 0 and place == 0:
            lead(height, leaves[node, GROUP, 0], leaves[node, CODE, 0], inners, path)
        elif sizes[node] == 0 and height > 0:
            give_back(node, leaves, meta, LEAF_FREE)
            prune(inners, inner_sizes, meta, path)
    return grown


@compiled
def lead(level: int, group: int, code: int, inners: Int64s, path: Int64s) -> None:
    """Tell the parents of the node at a level of a path what its least entry is now."""
    for above in range(level - 1, -1, -1):
        node, place = path[above, 0], path[above, 1]
        inners[node, GROUP, place], inners[node, CODE, place] = group, code
        if place > 0:
            return


@compiled
def prune(inners: Int64s, inner_sizes: Int64s, meta: Int64s, path: Int64s) -> None:
    """Take the empty node at the end of a path out of its parents, and lower the root."""
    for level in range(meta[HEIGHT] - 1, -1, -1):
        node, place = path[level, 0], path[level, 1]
        remove_gap(inners, node, inner_sizes[node], place)
        inner_sizes[node] -= 1
        if inner_sizes[node] > 0:
            if place == 0:
                lead(level, inners[node, GROUP, 0], inners[node, CODE, 0], inners, path)
            break
        give_back(node, inners, meta, INNER_FREE)
    while meta[HEIGHT] > 0 and inner_sizes[meta[ROOT]] == 1:
        root = meta[ROOT]
        meta[ROOT] = inners[root, CHILD, 0]
        give_back(root, inners, meta, INNER_FREE)
        meta[HEIGHT] -= 1
