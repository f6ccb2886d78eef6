"""The rows at the first places of each group, as rows come and go one by one; compiled.

The rows of all groups are in one tree (`tree_loops`), by group and order. Of a row that comes or
goes, only what crosses the ends of the stretch of places is told; with numbers, also the rows
behind it within the stretch, whose numbers change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregate.accumulators.tree_loops import (
    HEIGHT,
    ROOT,
    before,
    change,
    weight_of,
)
from penstock.operators.aggregate.accumulators.tree_sweeps import roomy, select, weight_before
from penstock.state.compiled import compiled, compiled_borrowing

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bytes
    from penstock.operators.aggregate.accumulators.tree_loops import Nodes
    from penstock.state.arrays import Ints, Values

EVENT, DONE, TOLD, FORGOTTEN = range(4)
"""Of `at`: the change that is next, its copies that are done, what has been told and forgotten."""
LOW, HIGH, NUMBERED, FORGETS = range(4)
"""Of `places`: the stretch of places that is shown, whether with numbers, and whether what lies
behind it can be forgotten, since nothing ever leaves."""


@compiled_borrowing
def weight_below(
    group: int, code: int, leaves: Nodes, inners: Nodes, meta: Ints, texts: Ints, data: Bytes
) -> int:
    """The weight of all entries before (group, code)."""
    node, total = meta[ROOT], 0
    for _ in range(meta[HEIGHT]):
        place = max(before(inners, node, group, code, 1, texts, data) - 1, 0)
        total += weight_of(inners, node, place, meta)
        node = inners.children[node, place]
    place = before(leaves, node, group, code, 0, texts, data)
    return total + weight_of(leaves, node, place, meta)


@compiled_borrowing
def tell(told: Ints, at: Ints, code: int, number: int, time: int, sign: int) -> None:
    """Note that a row enters or leaves what is shown."""
    row = at[TOLD]
    told[row, 0], told[row, 1], told[row, 2], told[row, 3] = code, number, time, sign
    at[TOLD] += 1


@compiled_borrowing
def shifted(
    place: int, base: int, total: int, sign: int, time: int, places: Ints,
    leaves: Nodes, inners: Nodes, meta: Ints, told: Ints, at: Ints,
) -> None:  # fmt: skip
    """Tell how what is shown changes where the row at a place has come, or is about to go.

    `total` are the rows of the group with that row; it begins behind `base` others.
    """
    low, high = places[LOW], places[HIGH]
    if place >= high:
        return
    first = max(place, low)
    if places[NUMBERED] == 1:
        last = min(high, total)
        if first >= last:
            return
        code, _ = select(base + first, False, leaves, inners, meta)
        for number in range(first, last):
            tell(told, at, code, number, time, sign)
            if number + 1 < total:
                code, _ = select(base + number + 1, False, leaves, inners, meta)
                tell(told, at, code, number, time, -sign)
        return
    if first < total:
        code, _ = select(base + first, False, leaves, inners, meta)
        tell(told, at, code, 0, time, sign)
    if total > high:
        code, _ = select(base + high, False, leaves, inners, meta)
        tell(told, at, code, 0, time, -sign)


@compiled_borrowing
def room_for_one(places: Ints, told: Ints, at: Ints, total: int) -> bool:
    """One row more can be told."""
    needed = 2
    if places[NUMBERED] == 1:
        needed = 2 * max(min(places[HIGH], total + 1) - places[LOW], 1)
    return bool(at[TOLD] + needed <= len(told))


@compiled_borrowing
def sweep(
    groups: Ints, codes: Ints, times: Ints, deltas: Ints, places: Ints, totals: Ints,
    leaves: Nodes, inners: Nodes, meta: Ints, texts: Ints, data: Bytes, path: Ints,
    told: Ints, forgotten: Ints, at: Ints,
) -> bool:  # fmt: skip
    """Let rows come and go in time order; False if the tree or `told` must grow before the next."""
    while at[EVENT] < groups.size:
        event = at[EVENT]
        group, code, time = groups[event], codes[event], times[event]
        sign = 1 if deltas[event] > 0 else -1
        while at[DONE] < abs(deltas[event]):
            total = totals[group]
            if not roomy(leaves, inners, meta) or not room_for_one(places, told, at, total):
                return False
            if at[FORGOTTEN] >= len(forgotten):
                return False
            if sign > 0:
                change(group, code, 1, leaves, inners, meta, texts, data, path)
                totals[group] += 1
                total += 1
            # Of rows that are alike the last is the one that comes or goes.
            base = weight_before(group, leaves, inners, meta)
            behind = weight_below(group, code + 0, leaves, inners, meta, texts, data)
            place = behind - base + copies_of(group, code, leaves, inners, meta, texts, data) - 1
            shifted(place, base, total, sign, time, places, leaves, inners, meta, told, at)
            if sign < 0:
                change(group, code, -1, leaves, inners, meta, texts, data, path)
                totals[group] -= 1
            elif places[FORGETS] == 1 and total > places[HIGH]:
                last, _ = select(base + total - 1, False, leaves, inners, meta)
                change(group, last, -1, leaves, inners, meta, texts, data, path)
                totals[group] -= 1
                forgotten[at[FORGOTTEN]] = last
                at[FORGOTTEN] += 1
            at[DONE] += 1
        at[DONE] = 0
        at[EVENT] += 1
    return True


@compiled_borrowing
def copies_of(
    group: int, code: int, leaves: Nodes, inners: Nodes, meta: Ints, texts: Ints, data: Bytes
) -> int:
    """The number of copies of an entry that is there."""
    node = meta[ROOT]
    for _ in range(meta[HEIGHT]):
        place = max(before(inners, node, group, code, 1, texts, data) - 1, 0)
        node = inners.children[node, place]
    place = before(leaves, node, group, code, 0, texts, data)
    return int(leaves.weights[node, place])


@compiled
def net(kinds: Ints, times: Ints, signs: Ints, space: Values) -> tuple[Ints, Ints, Ints]:
    """The net changes of kinds of rows at each instant; `space` is zero before and after."""
    found = np.empty(len(kinds), np.int64)
    amounts = np.empty(len(kinds), np.int64)
    count = start = 0
    while start < len(kinds):
        stop = start
        while stop < len(kinds) and times[stop] == times[start]:
            space[kinds[stop]] += signs[stop]
            stop += 1
        for one in range(start, stop):
            if space[kinds[one]] != 0:
                found[count], amounts[count] = one, space[kinds[one]]
                space[kinds[one]] = 0
                count += 1
        start = stop
    found = found[:count].copy()
    return kinds[found], times[found], amounts[:count].copy()
