"""The loops over ends that are added up: a hash table by end and slot."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Values

EMPTY = -1
"""In the place of a slot, where there is none."""
_SPREAD_ENDS, _SPREAD_SLOTS = 0x9E3779B97F4A7C15 - (1 << 64), 0xC2B2AE3D27D4EB4F - (1 << 64)
"""Odd numbers that spread ends and slots over a table."""


class NetEnds(NamedTuple):
    """A table by end and slot, with how the copies of the slot's row change then."""

    ends: Ints
    slots: Values
    deltas: Values


@compiled
def _wanted(end: int, slot: int, mask: int) -> int:
    """The place of an entry, if no other was there before it."""
    return (end * _SPREAD_ENDS + slot * _SPREAD_SLOTS) >> 24 & mask


@compiled
def _found(end: int, slot: int, table: NetEnds) -> int:
    """The place of an entry or, if it is not there, the one where it belongs."""
    mask = len(table.ends) - 1
    place = _wanted(end, slot, mask)
    while table.slots[place] != EMPTY and (table.slots[place] != slot or table.ends[place] != end):
        place = (place + 1) & mask
    return place


@compiled
def _remove(place: int, table: NetEnds) -> None:
    """Leave a place empty; those behind it that had to give way move up."""
    mask = len(table.ends) - 1
    behind = (place + 1) & mask
    while table.slots[behind] != EMPTY:
        wanted = _wanted(table.ends[behind], table.slots[behind], mask)
        if (behind - wanted) & mask >= (behind - place) & mask:
            table.ends[place] = table.ends[behind]
            table.slots[place] = table.slots[behind]
            table.deltas[place] = table.deltas[behind]
            place = behind
        behind = (behind + 1) & mask
    table.slots[place] = EMPTY


@compiled
def net_in(
    start: int, ends: Ints, slots: Values, deltas: Values, table: NetEnds, live: int
) -> tuple[int, int, int]:
    """Add changes up, from one on, until the table is full.

    Returns:
        The change that comes next, how many entries there are, and by how much the sum of what
        they change, whichever way, has grown.
    """
    most = len(table.ends) // 4 * 3
    more = 0
    for i in range(start, len(ends)):
        place = _found(ends[i], slots[i], table)
        if table.slots[place] == EMPTY:
            if live == most:
                return i, live, more
            table.ends[place] = ends[i]
            table.slots[place] = slots[i]
            table.deltas[place] = deltas[i]
            live += 1
            more += abs(deltas[i])
        else:
            more -= abs(table.deltas[place])
            table.deltas[place] += deltas[i]
            more += abs(table.deltas[place])
            if table.deltas[place] == 0:
                _remove(place, table)
                live -= 1
    return len(ends), live, more


@compiled
def entries(table: NetEnds, live: int) -> NetEnds:
    """The entries of a table side by side."""
    found = NetEnds(np.empty(live, np.int64), np.empty(live, np.int32), np.empty(live, np.int32))
    count = 0
    for place in range(len(table.ends)):
        if table.slots[place] != EMPTY:
            found.ends[count] = table.ends[place]
            found.slots[count] = table.slots[place]
            found.deltas[count] = table.deltas[place]
            count += 1
    return found


@compiled
def taken_before(limit: int, table: NetEnds, live: int) -> NetEnds:
    """Take the entries out of a table that end before a limit."""
    found = NetEnds(np.empty(live, np.int64), np.empty(live, np.int32), np.empty(live, np.int32))
    count = 0
    for place in range(len(table.ends)):
        if table.slots[place] != EMPTY and table.ends[place] < limit:
            found.ends[count] = table.ends[place]
            found.slots[count] = table.slots[place]
            found.deltas[count] = table.deltas[place]
            count += 1
    for i in range(count):
        _remove(_found(found.ends[i], found.slots[i], table), table)
    return NetEnds(
        found.ends[:count].copy(), found.slots[:count].copy(), found.deltas[:count].copy()
    )
