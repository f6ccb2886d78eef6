"""The loop that lets withdrawals end their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs


@compiled
def ends_by_withdrawal(elements: Ints, ts: Ints, te: Ints, sign: Signs) -> Ints:
    """The ends of elements, each withdrawal taking the oldest element alike.

    `elements` numbers what is alike in row and te; elements stand before their withdrawals.
    """
    ends = te.copy()
    following = np.full(len(elements), -1, np.int64)
    oldest = np.full(len(elements), -1, np.int64)
    newest = np.full(len(elements), -1, np.int64)
    for place in range(len(elements)):
        alike = elements[place]
        if sign[place] > 0:
            if oldest[alike] < 0:
                oldest[alike] = place
            else:
                following[newest[alike]] = place
            newest[alike] = place
        elif oldest[alike] >= 0:
            ends[oldest[alike]] = ts[place]
            oldest[alike] = following[oldest[alike]]
    return ends
