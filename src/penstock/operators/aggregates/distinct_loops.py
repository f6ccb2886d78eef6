"""Counters per (group, values) by hash; compiled.

Row i of `keys` has a group and the codes of its values, `counts[i]` how often they occur; 0 means
that the row is free. Linear probing; `meta[0]` is the number of rows in use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregates.pool_loops import MIX, SHIFT
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregates.events import Int8s, Int64s


@compiled
def home(rows: Int64s, row: int, mask: int) -> int:
    """Where the search for the key in a row begins."""
    state = np.uint64(0)
    for i in range(rows.shape[1]):
        state = (state ^ np.uint64(rows[row, i])) * MIX
        state ^= state >> SHIFT
    return int(np.int64(state * MIX >> SHIFT)) & mask


@compiled
def find(rows: Int64s, row: int, keys: Int64s, counts: Int64s) -> int:
    """Where the key in a row is among the keys, or the free place it may take."""
    mask = counts.size - 1
    place = home(rows, row, mask)
    while counts[place] != 0:
        equal = 0
        while equal < rows.shape[1] and keys[place, equal] == rows[row, equal]:
            equal += 1
        if equal == rows.shape[1]:
            break
        place = (place + 1) & mask
    return place


@compiled
def put_key(rows: Int64s, row: int, keys: Int64s, place: int) -> None:
    """Copy a key."""
    for i in range(rows.shape[1]):
        keys[place, i] = rows[row, i]


@compiled
def remove(hole: int, keys: Int64s, counts: Int64s) -> None:
    """Free a row, moving back those that probed past it."""
    mask = counts.size - 1
    counts[hole] = 0
    row = (hole + 1) & mask
    while counts[row] != 0:
        start = home(keys, row, mask)
        if (row - start) & mask >= (row - hole) & mask:
            put_key(keys, row, keys, hole)
            counts[hole], counts[row] = counts[row], 0
            hole = row
        row = (row + 1) & mask


@compiled
def sweep(
    start: int, rows: Int64s, weights: Int8s, keys: Int64s, counts: Int64s, meta: Int64s,
    signs: Int8s,
) -> int:  # fmt: skip
    """Count events from `start` on; `signs` gets +1 for a new value and -1 for the last of one.

    Returns the event before which the table must grow, or the number of events.
    """
    for i in range(start, weights.size):
        signs[i] = 0
        if weights[i] == 0:
            continue
        row = find(rows, i, keys, counts)
        before = counts[row]
        if before == 0:
            if 2 * (meta[0] + 1) > counts.size:
                return i
            put_key(rows, i, keys, row)
            meta[0] += 1
        after = before + weights[i]
        counts[row] = after
        signs[i] = (1 if after > 0 else 0) - (1 if before > 0 else 0)
        if after == 0:
            remove(row, keys, counts)
            meta[0] -= 1
    return weights.size


@compiled
def put(rows: Int64s, numbers: Int64s, keys: Int64s, counts: Int64s) -> None:
    """Put counters into a table with room for them; those of 0 are skipped."""
    for i in range(numbers.size):
        if numbers[i] != 0:
            row = find(rows, i, keys, counts)
            put_key(rows, i, keys, row)
            counts[row] = numbers[i]
