"""Counters per (group, value) in order: a B+-tree that knows how much lies below; compiled.

One tree holds all groups, ordered by group, then by value. Leaves have the entries; an inner node
has for each child its least entry, the weight of all entries below, and the child's place. (Its
least entry, not one that was: the number of a text that left may stand for another by now.) A full
node is split on the way down; a leaf that is nearly empty is joined with a neighbour, an inner node
is freed when it is empty. `meta`: see the constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.operators.aggregate.accumulators.pool_loops import compare
from penstock.state.compiled import compiled_borrowing

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bytes, Int32s, Int64s
    from penstock.state.arrays import Values

SIZE = 32
"""Entries of a leaf, children of an inner node."""
THIN, ROOMY = SIZE // 4, SIZE * 3 // 4
"""A leaf of so many entries joins a neighbour if both together have at most so many."""
UNUSED = 2**31 - 1
"""The group at a place of a node that is not in use: it comes after all others."""
ROOT, HEIGHT, ENTRIES, LEAF_FREE, LEAVES, INNER_FREE, INNERS, DISTINCT, POINT, MANY = range(10)
"""Of `meta`. HEIGHT 0: the root is a leaf. DISTINCT 1: an entry weighs 1 whatever its counter.
MANY 1: a counter has passed `FEW`."""
FEW = 2**30
"""A counter up to this may go on in 32 bits for one change more."""
DEEPEST = 16
"""Levels a tree never reaches."""


class Nodes(NamedTuple):
    """All leaves, or all inner nodes: what stands at each place of each node, and their sizes.

    `weights` are the counters of entries, or the weights below children. Leaves have no children.
    """

    groups: Int32s
    codes: Int64s
    weights: Values
    children: Int64s
    sizes: Int64s


@compiled_borrowing
def take(nodes: Nodes, meta: Int64s, free: int) -> int:
    """A free node; `free` says of which kind, its number in use stands next to it."""
    node = int(meta[free])
    meta[free] = nodes.codes[node, 0]
    meta[free + 1] += 1
    nodes.sizes[node] = 0
    for place in range(SIZE):
        nodes.groups[node, place] = UNUSED
    return node


@compiled_borrowing
def give_back(node: int, nodes: Nodes, meta: Int64s, free: int) -> None:
    """Free a node."""
    nodes.codes[node, 0] = meta[free]
    meta[free] = node
    meta[free + 1] -= 1


@compiled_borrowing
def chain(nodes: Nodes, first: int, meta: Int64s, free: int) -> None:
    """Make the nodes from `first` on free."""
    for node in range(len(nodes.sizes) - 1, first - 1, -1):
        nodes.codes[node, 0] = meta[free]
        meta[free] = node


@compiled_borrowing
def copy(nodes: Nodes, source: int, place: int, target: int, at: int) -> None:
    """Write what stands at a place of a node to a place of the same or another."""
    nodes.groups[target, at] = nodes.groups[source, place]
    nodes.codes[target, at] = nodes.codes[source, place]
    nodes.weights[target, at] = nodes.weights[source, place]
    if len(nodes.children):
        nodes.children[target, at] = nodes.children[source, place]


@compiled_borrowing
def insert_gap(nodes: Nodes, node: int, place: int) -> None:
    """Move what stands at `place` and after it one further."""
    for i in range(nodes.sizes[node], place, -1):
        copy(nodes, node, i - 1, node, i)
    nodes.sizes[node] += 1


@compiled_borrowing
def remove_gap(nodes: Nodes, node: int, place: int) -> None:
    """Move what stands after `place` one back."""
    nodes.sizes[node] -= 1
    for i in range(place, nodes.sizes[node]):
        copy(nodes, node, i + 1, node, i)
    nodes.groups[node, nodes.sizes[node]] = UNUSED


@compiled_borrowing
def move_end(nodes: Nodes, source: int, start: int, target: int) -> None:
    """Move what stands at `start` and after it to the end of another node."""
    size = nodes.sizes[target]
    for i in range(start, nodes.sizes[source]):
        copy(nodes, source, i, target, size)
        nodes.groups[source, i] = UNUSED
        size += 1
    nodes.sizes[source], nodes.sizes[target] = start, size


@compiled_borrowing
def order(
    nodes: Nodes, node: int, place: int, group: int, code: int, texts: Int64s, data: Bytes
) -> int:
    """The order of an entry and (group, code), less, the same or greater: -1, 0, 1."""
    other = nodes.groups[node, place]
    if other != group:
        return -1 if other < group else 1
    return compare(nodes.codes[node, place], code, texts, data)


@compiled_borrowing
def before(
    nodes: Nodes, node: int, group: int, code: int, limit: int, texts: Int64s, data: Bytes
) -> int:
    """The number of entries of a node less than (group, code), with limit 1 or the same."""
    if len(texts) == 0:
        # All places are looked at, without a branch: faster than to search.
        found = 0
        for i in range(SIZE):
            other, value = nodes.groups[node, i], nodes.codes[node, i]
            less = (value < code) | ((value == code) & (limit == 1))
            found += (other < group) | ((other == group) & less)
        return found
    low, high = 0, nodes.sizes[node]
    while low < high:
        middle = (low + high) // 2
        if order(nodes, node, middle, group, code, texts, data) < limit:
            low = middle + 1
        else:
            high = middle
    return low


@compiled_borrowing
def weight_of(nodes: Nodes, node: int, size: int, meta: Int64s) -> int:
    """The weight of everything in and below the first `size` places of a node."""
    total = 0
    if meta[DISTINCT] == 1 and len(nodes.children) == 0:
        # Within an instant a counter may be below 0.
        for i in range(size):
            total += nodes.weights[node, i] > 0
        return total
    for i in range(size):
        total += nodes.weights[node, i]
    return total


@compiled_borrowing
def raise_root(nodes: Nodes, inners: Nodes, meta: Int64s) -> None:
    """Put a new root above a full one, which is one of the nodes."""
    old = meta[ROOT]
    root = take(inners, meta, INNER_FREE)
    inners.groups[root, 0], inners.codes[root, 0] = nodes.groups[old, 0], nodes.codes[old, 0]
    inners.weights[root, 0] = weight_of(nodes, old, SIZE, meta)
    inners.children[root, 0] = old
    inners.sizes[root] = 1
    meta[ROOT] = root
    meta[HEIGHT] += 1


@compiled_borrowing
def make_room(
    parent: int, place: int, nodes: Nodes, inners: Nodes, meta: Int64s, free: int,
    group: int, code: int, texts: Int64s, data: Bytes,
) -> int:  # fmt: skip
    """Split a parent's child if it is full; the place of the child for (group, code) then."""
    child = inners.children[parent, place]
    if nodes.sizes[child] < SIZE:
        return place
    # What comes in order fills nodes nearly up.
    ascending = order(nodes, child, SIZE - 1, group, code, texts, data) < 0
    new = take(nodes, meta, free)
    move_end(nodes, child, SIZE - 2 if ascending else SIZE // 2, new)
    insert_gap(inners, parent, place + 1)
    inners.groups[parent, place + 1] = nodes.groups[new, 0]
    inners.codes[parent, place + 1] = nodes.codes[new, 0]
    inners.children[parent, place + 1] = new
    inners.weights[parent, place + 1] = weight_of(nodes, new, nodes.sizes[new], meta)
    inners.weights[parent, place] -= inners.weights[parent, place + 1]
    following = order(nodes, new, 0, group, code, texts, data) <= 0
    return place + 1 if following else place


@compiled_borrowing
def change(
    group: int, code: int, step: int, leaves: Nodes, inners: Nodes, meta: Int64s,
    texts: Int64s, data: Bytes, path: Int64s,
) -> int:  # fmt: skip
    """Add a step to the counter of (group, code); returns by how much the weight changed."""
    if meta[HEIGHT] == 0 and leaves.sizes[meta[ROOT]] == SIZE:
        raise_root(leaves, inners, meta)
    elif meta[HEIGHT] > 0 and inners.sizes[meta[ROOT]] == SIZE:
        raise_root(inners, inners, meta)
    node, height = meta[ROOT], meta[HEIGHT]
    for level in range(height):
        place = max(before(inners, node, group, code, 1, texts, data) - 1, 0)
        if level == height - 1:
            place = make_room(
                node, place, leaves, inners, meta, LEAF_FREE, group, code, texts, data
            )
        else:
            place = make_room(
                node, place, inners, inners, meta, INNER_FREE, group, code, texts, data
            )
        path[level, 0], path[level, 1] = node, place
        node = inners.children[node, place]
    place = before(leaves, node, group, code, 0, texts, data)
    found = place < leaves.sizes[node] and order(leaves, node, place, group, code, texts, data) == 0
    if not found:
        insert_gap(leaves, node, place)
        leaves.groups[node, place], leaves.codes[node, place] = group, code
        leaves.weights[node, place] = 0
        meta[ENTRIES] += 1
        if place == 0:
            lead(height, group, code, inners, path)
    old = leaves.weights[node, place]
    new = old + step
    leaves.weights[node, place] = new
    if new > FEW:
        meta[MANY] = 1
    grown = step
    if meta[DISTINCT] == 1:
        grown = (1 if new > 0 else 0) - (1 if old > 0 else 0)
    for level in range(height):
        inners.weights[path[level, 0], path[level, 1]] += grown
    if new == 0:
        remove_gap(leaves, node, place)
        meta[ENTRIES] -= 1
        if leaves.sizes[node] > 0 and place == 0:
            lead(height, leaves.groups[node, 0], leaves.codes[node, 0], inners, path)
        if leaves.sizes[node] <= THIN:
            tidy(leaves, inners, meta, path)
    return grown


@compiled_borrowing
def lead(level: int, group: int, code: int, inners: Nodes, path: Int64s) -> None:
    """Tell the parents of the node at a level of a path what its least entry is now."""
    for above in range(level - 1, -1, -1):
        node, place = path[above, 0], path[above, 1]
        inners.groups[node, place], inners.codes[node, place] = group, code
        if place > 0:
            return


@compiled_borrowing
def tidy(leaves: Nodes, inners: Nodes, meta: Int64s, path: Int64s) -> None:
    """Join the thin leaf at the end of a path with a neighbour, or free it if it is empty."""
    level = meta[HEIGHT] - 1
    if level < 0:
        return
    parent, place = path[level, 0], path[level, 1]
    size = leaves.sizes[inners.children[parent, place]]
    last = inners.sizes[parent] - 1
    if size > 0:
        # The following leaf moves into this one, or this one into that before it.
        if place < last and size + leaves.sizes[inners.children[parent, place + 1]] <= ROOMY:
            place += 1
        elif place == 0 or size + leaves.sizes[inners.children[parent, place - 1]] > ROOMY:
            return
        children = inners.children[parent, place - 1], inners.children[parent, place]
        move_end(leaves, children[1], 0, children[0])
        inners.weights[parent, place - 1] += inners.weights[parent, place]
        path[level, 1] = place
    give_back(inners.children[parent, place], leaves, meta, LEAF_FREE)
    prune(inners, meta, path)


@compiled_borrowing
def prune(inners: Nodes, meta: Int64s, path: Int64s) -> None:
    """Take the free node at the end of a path out of its parents, and lower the root."""
    for level in range(meta[HEIGHT] - 1, -1, -1):
        node, place = path[level, 0], path[level, 1]
        remove_gap(inners, node, place)
        if inners.sizes[node] > 0:
            if place == 0:
                lead(level, inners.groups[node, 0], inners.codes[node, 0], inners, path)
            break
        give_back(node, inners, meta, INNER_FREE)
    while meta[HEIGHT] > 0 and inners.sizes[meta[ROOT]] == 1:
        root = meta[ROOT]
        meta[ROOT] = inners.children[root, 0]
        give_back(root, inners, meta, INNER_FREE)
        meta[HEIGHT] -= 1
