"""The loops of `attached`: rows linked by the number of their element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints, Signs


@compiled
def add_rows(keys: Ints, slots: Ints, heads: Ints, following: Ints) -> None:
    """Link rows to the keys of their numbers."""
    for place in range(len(keys)):
        following[slots[place]] = heads[keys[place]]
        heads[keys[place]] = slots[place]


@compiled
def attach(
    keys: Ints, ended: Flags, signs: Signs, heads: Ints, following: Ints
) -> tuple[Ints, Ints, Ints]:
    """The rows of elements, which element each belongs to, and which elements are over.

    An element is over when its end is known, or when it is withdrawn. A key below zero has none.
    """
    total = 0
    for key in keys:
        row = heads[key] if key >= 0 else -1
        while row >= 0:
            total += 1
            row = following[row]
    slots = np.empty(total, np.int64)
    which = np.empty(total, np.int64)
    gone = np.empty(len(keys), np.int64)
    found, over = 0, 0
    for place in range(len(keys)):
        key = keys[place]
        row = heads[key] if key >= 0 else -1
        while row >= 0:
            slots[found], which[found] = row, place
            found += 1
            row = following[row]
        if key >= 0 and (ended[place] or signs[place] < 0):
            gone[over] = place
            over += 1
    return slots, which, gone[:over].copy()
