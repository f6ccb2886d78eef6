"""MIN and MAX over elements that leave when their interval ends; compiled.

Of each group only the candidates are kept that are the answer now or can become it: ordered by
their end, each better than all that end later. A candidate is a row of `nodes`; `ends` has each
group's first and last candidate. Places in `nodes` are counted from 1, so that 0 means none. A
candidate is new until somebody asked for it: it then has the number of its group, from 1 on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.operators.aggregate.accumulators.pool_loops import compare
from penstock.state.compiled import compiled
from penstock.state.prefetching import NEAR, prefetch

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bytes, Int8s, Int64s

END, CODE, BEFORE, AFTER, NEW = range(5)
FIRST, LAST = range(2)
FREE, LIVE, DROPPED, POINT, ADDED = range(5)
"""Of `meta`: the first free place, candidates kept, codes dropped, points done in this sweep,
candidates added in it."""


@compiled
def link(end: int, code: int, left: int, right: int, nodes: Int64s, meta: Int64s) -> int:
    """Put a new candidate between two (0: none); the caller sets the group's ends."""
    node = int(meta[FREE])
    meta[FREE] = nodes[node, AFTER]
    meta[LIVE] += 1
    nodes[node, END], nodes[node, CODE] = end, code
    nodes[node, BEFORE], nodes[node, AFTER] = left, right
    if left > 0:
        nodes[left, AFTER] = node
    if right > 0:
        nodes[right, BEFORE] = node
    return node


@compiled
def unlink(group: int, node: int, nodes: Int64s, ends: Int64s, meta: Int64s, gone: Int64s) -> None:
    """Free a candidate; its code is noted in `gone` if that has room."""
    left, right = nodes[node, BEFORE], nodes[node, AFTER]
    if left > 0:
        nodes[left, AFTER] = right
    else:
        ends[group, FIRST] = right
    if right > 0:
        nodes[right, BEFORE] = left
    else:
        ends[group, LAST] = left
    forget(nodes[node, CODE], meta, gone)
    nodes[node, AFTER] = meta[FREE]
    nodes[node, NEW] = 0
    meta[FREE] = node
    meta[LIVE] -= 1


@compiled
def forget(code: int, meta: Int64s, gone: Int64s) -> None:
    """Note a code that is not needed any more."""
    if gone.size > 0:
        gone[meta[DROPPED]] = code
        meta[DROPPED] += 1


@compiled
def sweep(
    start: int,
    groups: Int64s,
    times: Int64s,
    weights: Int8s,
    until: Int64s,
    codes: Int64s,
    points: Int64s,
    direction: int,
    texts: Int64s,
    data: Bytes,
    nodes: Int64s,
    ends: Int64s,
    meta: Int64s,
    gone: Int64s,
    added: Int64s,
    out: Int64s,
    known: Int64s,
) -> int:
    """Take in events from `start` on; `direction` is 1 for MAX, -1 for MIN.

    `added` gets the places of new candidates. Returns the event before which `nodes` must grow, or
    the number of events.
    """
    for i in range(start, groups.size):
        group = groups[i]
        if i + NEAR < groups.size:
            prefetch(nodes, ends[groups[i + NEAR], LAST])
        if weights[i] > 0:
            if meta[FREE] == 0:
                return i
            end, code = until[i], codes[i]
            # Elements mostly end in the order they come: the place is near the last one.
            left, right = int(ends[group, LAST]), 0
            while left > 0 and nodes[left, END] > end:
                right, left = left, int(nodes[left, BEFORE])
            rival = right
            if left > 0 and nodes[left, END] == end:
                rival = left
            if rival > 0 and direction * compare(code, nodes[rival, CODE], texts, data) <= 0:
                forget(code, meta, gone)
            else:
                while left > 0 and direction * compare(nodes[left, CODE], code, texts, data) <= 0:
                    worse, left = left, int(nodes[left, BEFORE])
                    unlink(group, worse, nodes, ends, meta, gone)
                node = link(end, code, left, right, nodes, meta)
                nodes[node, NEW] = group + 1
                added[meta[ADDED]] = node
                meta[ADDED] += 1
                if left == 0:
                    ends[group, FIRST] = node
                if right == 0:
                    ends[group, LAST] = node
        at = meta[POINT]
        if at < points.size and points[at] == i:
            first = ends[group, FIRST]
            while first > 0 and nodes[first, END] <= times[i]:
                unlink(group, first, nodes, ends, meta, gone)
                first = ends[group, FIRST]
            known[at] = 1 if first > 0 else 0
            out[at] = nodes[first, CODE] if first > 0 else 0
            meta[POINT] += 1
    return groups.size


@compiled
def asked(added: Int64s, nodes: Int64s, groups: Int64s, until: Int64s) -> int:
    """Write out the candidates that are still new, which they are not any more; how many."""
    count = 0
    for node in added:
        if nodes[node, NEW] > 0:
            groups[count], until[count] = nodes[node, NEW] - 1, nodes[node, END]
            nodes[node, NEW] = 0
            count += 1
    return count


@compiled
def clear(groups: Int64s, nodes: Int64s, ends: Int64s, meta: Int64s, gone: Int64s) -> None:
    """Free all candidates of groups."""
    for i in range(groups.size):
        while ends[groups[i], FIRST] > 0:
            unlink(groups[i], ends[groups[i], FIRST], nodes, ends, meta, gone)


@compiled
def chain(nodes: Int64s, first: int, meta: Int64s) -> None:
    """Make the places from `first` on free."""
    for node in range(nodes.shape[0] - 1, first - 1, -1):
        nodes[node, AFTER] = meta[FREE]
        meta[FREE] = node


@compiled
def listed(ends: Int64s, nodes: Int64s, groups: Int64s, until: Int64s, codes: Int64s) -> None:
    """Write out all candidates, group by group, in order."""
    row = 0
    for group in range(ends.shape[0]):
        node = ends[group, FIRST]
        while node > 0:
            groups[row], until[row], codes[row] = group, nodes[node, END], nodes[node, CODE]
            row += 1
            node = nodes[node, AFTER]
