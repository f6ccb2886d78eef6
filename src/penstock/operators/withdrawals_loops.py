"""The loop that lets withdrawals end their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints, Signs


@compiled
def ends_by_withdrawal(elements: Ints, ts: Ints, te: Ints, sign: Signs) -> tuple[Ints, Flags]:
    """The ends of elements, each withdrawal taking the oldest element alike.

    `elements` numbers what is alike in row and te; elements stand before their withdrawals. The
    flags tell which rows are withdrawals of an element that is not among these.
    """
    ends = te.copy()
    is_left = np.zeros(len(elements), np.bool_)
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
        else:
            is_left[place] = True
    return ends, is_left
