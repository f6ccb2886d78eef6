"""Counting equal values; compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Int8s, Int64s
    from penstock.state.arrays import Values


@compiled
def count(
    slots: Int64s, rows: Int64s, weights: Int8s, counts: Values, signs: Int8s
) -> tuple[Int64s, int]:
    """Count the values of rows, by slot, and say which slots have none at the end.

    `signs` gets +1 at the row of a new value and -1 at that of the last of one. The second result
    is the highest count met.
    """
    most = 0
    for place in range(len(slots)):
        slot, row = slots[place], rows[place]
        before = counts[slot]
        after = before + weights[row]
        counts[slot] = after
        most = max(most, after)
        signs[row] = (1 if after > 0 else 0) - (1 if before > 0 else 0)
    gone = np.empty(len(slots), np.int64)
    found = 0
    for slot in slots:
        if counts[slot] == 0:
            # Marked, so that it is found but once.
            counts[slot] = -1
            gone[found] = slot
            found += 1
    counts[gone[:found]] = 0
    return gone[:found].copy(), most
