"""The loops over counted rows: net changes per instant, and the elements they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.withdrawals_loops import close_within
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints, Signs, Values

_FOREVER = INFINITY


@compiled
def copies(target: int, left: int, right: int) -> int:
    """The number of copies of a row in the result; the numbers are those of `Target`."""
    if target == 0:
        return left
    if target == 1:
        return 1 if left > 0 else 0
    if target == 2:
        return max(left - right, 0)
    if target == 3:
        return min(left, right)
    if target == 4:
        return max(left, right)
    return left if right == 0 else 0


@compiled
def net_changes(
    times: Ints,
    slots: Ints,
    sides: Signs,
    deltas: Signs,
    counts: Values,
    space: Values,
    target: int,
) -> tuple[Ints, Ints, Ints, int]:
    """Apply changes of the counts in time order; the changes of the result at each instant.

    `counts` has for each slot the copies left, right, and in the result. `space` is working
    space by slot, zero before and after. The last result is the most copies met, left or right.
    """
    changed_slots = np.empty(len(times), np.int64)
    changed_times = np.empty(len(times), np.int64)
    changes = np.empty(len(times), np.int64)
    found = 0
    most = 0
    start = 0
    while start < len(times):
        now = times[start]
        stop = start
        while stop < len(times) and times[stop] == now:
            counts[slots[stop], sides[stop]] += deltas[stop]
            stop += 1
        for event in range(start, stop):
            slot = slots[event]
            if space[slot]:
                continue
            space[slot] = 1
            left, right = counts[slot, 0], counts[slot, 1]
            most = max(most, abs(left), abs(right))
            wanted = copies(target, left, right)
            if wanted != counts[slot, 2]:
                changed_slots[found] = slot
                changed_times[found] = now
                changes[found] = wanted - counts[slot, 2]
                found += 1
                counts[slot, 2] = wanted
        for event in range(start, stop):
            space[slots[event]] = 0
        start = stop
    return changed_slots[:found], changed_times[:found], changes[:found], most


@compiled
def strict_elements(
    slots: Ints, times: Ints, deltas: Ints, newest: Values
) -> tuple[Ints, Ints, Ints, Signs]:
    """Elements for changes in time order: what begins and ends in the step has its interval.

    What is still there at the end lasts for ever, until a negative row withdraws it. `newest` is
    working space by slot, zero before and after.
    """
    made, ts, te, sign = _single_changes(slots, times, deltas)
    left = close_within(made, ts, te, sign, newest)
    count = 0
    for row in range(len(made)):
        # Without a branch: it is written over if it is not left.
        made[count], ts[count], te[count], sign[count] = made[row], ts[row], te[row], sign[row]
        count += left[row]
    return made[:count], ts[:count], te[:count], sign[:count]


@compiled
def _single_changes(slots: Ints, times: Ints, deltas: Ints) -> tuple[Ints, Ints, Ints, Signs]:
    """Changes by one, each an element for ever or its withdrawal."""
    total = 0
    for change in deltas:
        total += abs(change)
    made = np.empty(total, np.int64)
    ts = np.empty(total, np.int64)
    sign = np.empty(total, np.int8)
    count = 0
    for event in range(len(slots)):
        for _ in range(abs(deltas[event])):
            made[count], ts[count] = slots[event], times[event]
            sign[count] = 1 if deltas[event] > 0 else -1
            count += 1
    return made, ts, np.full(total, _FOREVER), sign


@compiled
def gone_rows(met: Ints, counts: Values, alive: Flags) -> Ints:
    """The slots among those met whose rows occur nowhere, each once; they are alive no more."""
    gone = np.empty(len(met), np.int64)
    found = 0
    for slot in met:
        if alive[slot] and counts[slot, 0] == 0 and counts[slot, 1] == 0 and counts[slot, 2] == 0:
            alive[slot] = False
            gone[found] = slot
            found += 1
    return gone[:found].copy()
