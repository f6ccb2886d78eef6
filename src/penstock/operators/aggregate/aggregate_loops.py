"""The loops of aggregation that do not depend on the aggregate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints, Signs

_FOREVER = INFINITY
_SPARSE = 16
"""Groups are few if each would have so much space."""


@compiled
def by_group(groups: Ints, order: Ints, space: Ints) -> Ints:
    """Bring an order of events together by group, groups ascending, keeping it within each.

    `space` is working space by group, zero before and after; where events touch few groups, the
    work does not depend on how many others there are.
    """
    met = np.empty(len(order), np.int64)
    different = 0
    for event in order:
        group = groups[event]
        if space[group] == 0:
            met[different] = group
            different += 1
        space[group] += 1
    if different > len(space) // _SPARSE:
        # Looking at all is faster than sorting many.
        different = 0
        for group in range(len(space)):
            if space[group] > 0:
                met[different] = group
                different += 1
    else:
        met = np.sort(met[:different])
    start = 0
    for place in range(different):
        group = met[place]
        count = space[group]
        space[group] = start
        start += count
    arranged = np.empty(len(order), np.int64)
    for event in order:
        group = groups[event]
        arranged[space[group]] = event
        space[group] += 1
    for place in range(different):
        space[met[place]] = 0
    return arranged


@compiled
def counts_at(groups: Ints, signs: Signs, points: Ints, counts: Ints) -> Ints:
    """The number of rows of each point's group after it; `counts` by group goes along."""
    found = np.empty(len(points), np.int64)
    event = 0
    for place in range(len(points)):
        group = groups[points[place]]
        while event <= points[place]:
            counts[group] += signs[event]
            event += 1
        found[place] = counts[group]
    return found


@compiled
def latest_at(
    groups: Ints, times: Ints, signs: Signs, ends: Ints, points: Ints, latest: Ints
) -> Ints:
    """1 where the group of a point has rows after it, else 0; `latest` ends go along."""
    found = np.empty(len(points), np.int64)
    event = 0
    for place in range(len(points)):
        group = groups[points[place]]
        while event <= points[place]:
            if signs[event] > 0:
                latest[group] = max(latest[group], ends[event])
            event += 1
        found[place] = 1 if latest[group] > times[points[place]] else 0
    return found


@compiled
def expect(groups: Ints, ends: Ints, awaited: Ints) -> None:
    """The ends of groups are awaited."""
    for place in range(len(groups)):
        awaited[groups[place]] = max(awaited[groups[place]], ends[place])


@compiled
def change_ends(groups: Ints, times: Ints, unchanged: Flags) -> Ints:
    """Until when the row of each point holds: the next point of its group that changes it."""
    ends = np.empty(len(groups), np.int64)
    following = _FOREVER
    for place in range(len(groups) - 1, -1, -1):
        if place == len(groups) - 1 or groups[place + 1] != groups[place]:
            following = _FOREVER
        ends[place] = following
        if not unchanged[place]:
            following = times[place]
    return ends
