"""The loop that finds intervals that meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints


@compiled
def merge_adjacent(begins: Ints, ends: Ints, te: Ints) -> tuple[Ints, Flags]:
    """New ends for elements in time order, and which elements became part of an earlier one.

    `begins` and `ends` number where the elements begin and end: the same for rows alike at one
    instant. At each place the elements that end there form a chain, until one is continued.
    """
    made = te.copy()
    merged = np.zeros(len(te), np.bool_)
    latest = np.full(2 * len(te), -1, np.int64)
    before = np.full(len(te), -1, np.int64)
    for element in range(len(te)):
        grown = latest[begins[element]]
        if grown >= 0:
            latest[begins[element]] = before[grown]
            made[grown] = te[element]
            merged[element] = True
        else:
            grown = element
        before[grown] = latest[ends[element]]
        latest[ends[element]] = grown
    return made, merged
