"""The loops of `levels`: lists of ends in order, and copies sent out while they are good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled, compiled_borrowing

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places

LISTS = 3
"""Ends in the left input, in the right input, and of copies sent out."""
_SENT = 2
_NEXT, _BEFORE = 0, 1


@compiled_borrowing
def insert(
    slot: int, which: int, end: int, node: int,
    tails: Places, counts: Places, node_ends: Ints, links: Places,
) -> None:  # fmt: skip
    """Put an end into a list, searching from the latest.

    Behind the last node of a list, which `tails` has, follows the first; before the first comes
    nothing that anybody may look at.
    """
    counts[slot, which] += 1
    last = tails[slot, which]
    if last < 0:
        links[node, _NEXT], links[node, _BEFORE] = node, node
        node_ends[node] = end
        tails[slot, which] = node
        return
    behind, ahead = last, links[last, _NEXT]
    if node_ends[last] <= end:
        tails[slot, which] = node
    else:
        if node_ends[ahead] <= end:
            while node_ends[behind] > end:
                behind = links[behind, _BEFORE]
            ahead = links[behind, _NEXT]
        links[ahead, _BEFORE] = node
    node_ends[node] = end
    links[node, _NEXT], links[node, _BEFORE] = ahead, behind
    links[behind, _NEXT] = node


@compiled_borrowing
def drop_ended(
    slot: int, which: int, now: int, tails: Places, counts: Places, node_ends: Ints,
    links: Places, freed: Ints, free: int,
) -> int:  # fmt: skip
    """Take what has ended out of a list; the nodes are noted, and how many those are now."""
    last = tails[slot, which]
    if last < 0:
        return free
    first = links[last, _NEXT]
    while counts[slot, which] > 0 and node_ends[first] <= now:
        freed[free] = first
        free += 1
        first = links[first, _NEXT]
        counts[slot, which] -= 1
    if counts[slot, which] > 0:
        links[last, _NEXT] = first
    else:
        tails[slot, which] = -1
    return free


@compiled_borrowing
def good_until(
    slot: int,
    wanted: int,
    least: bool,
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
        node = tails[slot, which]
        if skip < wanted:
            for _ in range(skip + 1):
                node = links[node, _NEXT]
        else:
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
                    tails,
                    counts,
                    node_ends,
                    links,
                )
                used += 1
        for event in range(position, stop):
            slot = slots[event]
            for which in range(LISTS):
                free = drop_ended(
                    slot, which, now, tails, counts, node_ends, links, freed, free
                )  # fmt: skip
            left, right = counts[slot, 0], counts[slot, 1]
            wanted = min(left, right) if least else max(left, right)
            missing = wanted - counts[slot, _SENT]
            if missing <= 0:
                continue
            end = good_until(slot, wanted, least, tails, counts, node_ends, links)
            for _ in range(missing):
                made_slots[made], made_ts[made], made_te[made] = slot, now, end
                made += 1
                insert(slot, _SENT, end, fresh[used], tails, counts, node_ends, links)
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
            tails,
            counts,
            node_ends,
            links,
        )


@compiled
def all_nodes(
    slots: Ints, tails: Places, counts: Places, node_ends: Ints, links: Places, total: int
) -> tuple[Ints, Ints, Ints]:
    """The ends of all lists: the row's place among the slots, which list, the end."""
    rows = np.empty(total, np.int64)
    lists = np.empty(total, np.int64)
    ends = np.empty(total, np.int64)
    found = 0
    for place in range(len(slots)):
        for which in range(LISTS):
            node = tails[slots[place], which]
            for _ in range(counts[slots[place], which]):
                node = links[node, _NEXT]
                rows[found], lists[found], ends[found] = place, which, node_ends[node]
                found += 1
    return rows[:found], lists[:found], ends[:found]
