"""The loops of duplicate elimination."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING
from penstock.state.compiled import compiled
from penstock.state.prefetching import FAR, prefetch

if TYPE_CHECKING:
    from penstock.state.arrays import Ints

_NEVER = BEGINNING


@compiled
def cover(slots: Ints, ts: Ints, te: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """Elements for rows in time order, where no element that was sent out covers them.

    `ends` has for each slot the end of the element sent out and the latest end seen.
    """
    made_slots = np.empty(2 * len(slots), np.int64)
    made_ts = np.empty(2 * len(slots), np.int64)
    made_te = np.empty(2 * len(slots), np.int64)
    made = 0
    for row in range(len(slots)):
        if row + FAR < len(slots):
            prefetch(ends, slots[row + FAR])
        slot = slots[row]
        sent, latest = ends[slot, 0], ends[slot, 1]
        if sent <= ts[row] and latest > sent:
            # The element ended before this row came: a duplicate took over.
            made_slots[made], made_ts[made], made_te[made] = slot, sent, latest
            made += 1
            sent = latest
        # At the beginning of time nothing has been sent out yet.
        if sent <= ts[row]:
            made_slots[made], made_ts[made], made_te[made] = slot, ts[row], te[row]
            made += 1
            sent = te[row]
            latest = sent
        ends[slot, 0], ends[slot, 1] = sent, max(latest, te[row])
    return made_slots[:made].copy(), made_ts[:made].copy(), made_te[:made].copy()


@compiled
def take_over(ended: Ints, slots: Ints, ends: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The successors of elements that ended: the youngest duplicate, or none, the row is gone."""
    later = np.empty(len(slots), np.int64)
    made_ts = np.empty(len(slots), np.int64)
    made_te = np.empty(len(slots), np.int64)
    removed = np.empty(len(slots), np.int64)
    made, gone = 0, 0
    for row in range(len(slots)):
        if row + FAR < len(slots):
            prefetch(ends, slots[row + FAR])
        slot = slots[row]
        sent, latest = ends[slot, 0], ends[slot, 1]
        if sent != ended[row]:
            continue
        if latest > sent:
            later[made], made_ts[made], made_te[made] = slot, sent, latest
            made += 1
            ends[slot, 0] = latest
        else:
            removed[gone] = slot
            gone += 1
            ends[slot, 0] = _NEVER
            ends[slot, 1] = _NEVER
    return later[:made].copy(), made_ts[:made].copy(), made_te[:made].copy(), removed[:gone].copy()
