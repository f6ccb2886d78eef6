"""The loop that finds intervals that meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints


@compiled
def meeting(rows: Ints, ts: Ints, te: Ints, mergeable: Flags) -> tuple[Ints, Flags]:
    """New ends for elements in time order, and which elements became part of an earlier one.

    `rows` numbers the different rows. For each, the elements that end form a chain from the
    latest on; one of them is continued by an element that begins where it ends.
    """
    ends = te.copy()
    merged = np.zeros(len(rows), np.bool_)
    latest = np.full(len(rows), -1, np.int64)
    before = np.full(len(rows), -1, np.int64)
    for element in range(len(rows)):
        if not mergeable[element]:
            continue
        row = rows[element]
        other = latest[row]
        while other >= 0 and ends[other] != ts[element]:
            other = before[other]
        if other >= 0:
            ends[other] = te[element]
            merged[element] = True
        else:
            before[element] = latest[row]
            latest[row] = element
    return ends, merged
