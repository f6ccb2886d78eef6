"""The loops of `levels`: lists of ends in order, and copies sent out while they are good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places

LISTS = 3
"""Ends in the left input, in the right input, and of copies sent out."""
_SENT = 2
_NEXT, _BEFORE = 0, 1


@compiled
def insert(
    slot: int, which: int, end: int, node: int,
    heads: Places, tails: Places, counts: Places, node_ends: Ints, links: Places,
) -> None:  # fmt: skip
    """Put an end into a list, searching from the latest. A node: its end; next and previous."""
    behind = tails[slot, which]
    while behind >= 0 and node_ends[behind] > end:
        behind = links[behind, _BEFORE]
    ahead = heads[slot, which] if behind < 0 else links[behind, _NEXT]
    node_ends[node] = end
    links[node, _NEXT], links[node, _BEFORE] = ahead, behind
    if behind < 0:
        heads[slot, which] = node
    else:
        links[behind, _NEXT] = node
    if ahead < 0:
        tails[slot, which] = node
    else:
        links[ahead, _BEFORE] = node
    counts[slot, which] += 1


@compiled
def good_until(
    slot: int,
    wanted: int,
    least: bool,
    heads: Places,
    tails: Places,
    counts: Places,
    node_ends: Ints,
    links: Places,
) -> int:
    """Until when the result has `wanted` copies for certain, by the ends known now."""
    found = 0
    is_first = True
    for which in range(_SENT):
        if counts[slot, which] < wanted:
            continue
        # The wanted-th latest end: from the nearer side of the list.
        skip = counts[slot, which] - wanted
        node = heads[slot, which]
        if skip <= wanted:
            for _ in range(skip):
                node = links[node, _NEXT]
        else:
            node = tails[slot, which]
            for _ in range(wanted - 1):
                node = links[node, _BEFORE]
        end = int(node_ends[node])
        if is_first or (end < found if least else end > found):
            found = end
        is_first = False
    return found


@compiled
def sweep_levels(
    times: Ints,
    slots: Ints,
    sides: Ints,
    ends: Ints,
    position: int,
    heads: Places,
    tails: Places,
    counts: Places,
    node_ends: Ints,
    links: Places,
    fresh: Ints,
    least: bool,
) -> tuple[Ints, Ints, Ints, int, int, Ints]:
    """Go through events in time order, from a position, as far as the fresh nodes suffice.

    A side of -1 is an end. Returns the copies sent out (slot, ts, te), the position reached, how
    many fresh nodes are used, and the nodes that became free.
    """  # fmt: skip
    made_slots = np.empty(len(fresh), np.int64)
    made_ts = np.empty(len(fresh), np.int64)
    made_te = np.empty(len(fresh), np.int64)
    freed = np.empty(len(node_ends), np.int64)
    made, used, free = 0, 0, 0
    while position < len(times):
        now = times[position]
        stop = position
        needed = 0
        while stop < len(times) and times[stop] == now:
            slot = slots[stop]
            needed += 2
            if stop == position or slots[stop - 1] != slot:
                needed += counts[slot, 0] + counts[slot, 1]
            stop += 1
        if used + needed > len(fresh):
            break
        for event in range(position, stop):
            if sides[event] >= 0:
                insert(
                    slots[event],
                    sides[event],
                    ends[event],
                    fresh[used],
                    heads,
                    tails,
                    counts,
                    node_ends,
                    links,
                )
                used += 1
        for event in range(position, stop):
            slot = slots[event]
            for which in range(LISTS):
                node = heads[slot, which]
                while node >= 0 and node_ends[node] <= now:
                    freed[free] = node
                    free += 1
                    node = links[node, _NEXT]
                    counts[slot, which] -= 1
                heads[slot, which] = node
                if node < 0:
                    tails[slot, which] = -1
                else:
                    links[node, _BEFORE] = -1
            left, right = counts[slot, 0], counts[slot, 1]
            wanted = min(left, right) if least else max(left, right)
            missing = wanted - counts[slot, _SENT]
            if missing <= 0:
                continue
            end = good_until(slot, wanted, least, heads, tails, counts, node_ends, links)
            for _ in range(missing):
                made_slots[made], made_ts[made], made_te[made] = slot, now, end
                made += 1
                insert(slot, _SENT, end, fresh[used], heads, tails, counts, node_ends, links)
                used += 1
        position = stop
    return (
        made_slots[:made].copy(),
        made_ts[:made].copy(),
        made_te[:made].copy(),
        position,
        used,
        freed[:free].copy(),
    )


@compiled
def insert_all(
    slots: Ints,
    lists: Ints,
    ends: Ints,
    heads: Places,
    tails: Places,
    counts: Places,
    node_ends: Ints,
    links: Places,
    fresh: Ints,
) -> None:
    """Put ends into their lists."""  # fmt: skip
    for place in range(len(slots)):
        insert(
            slots[place],
            lists[place],
            ends[place],
            fresh[place],
            heads,
            tails,
            counts,
            node_ends,
            links,
        )


@compiled
def all_nodes(
    slots: Ints, heads: Places, node_ends: Ints, links: Places, total: int
) -> tuple[Ints, Ints, Ints]:
    """The ends of all lists: the row's place among the slots, which list, the end."""
    rows = np.empty(total, np.int64)
    lists = np.empty(total, np.int64)
    ends = np.empty(total, np.int64)
    found = 0
    for place in range(len(slots)):
        for which in range(LISTS):
            node = heads[slots[place], which]
            while node >= 0:
                rows[found], lists[found], ends[found] = place, which, node_ends[node]
                found += 1
                node = links[node, _NEXT]
    return rows[:found], lists[:found], ends[:found]
