"""The loop that lets withdrawals end their elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Flags, Ints, Signs, Values


@compiled
def close_within(numbers: Ints, ts: Ints, te: Ints, sign: Signs, newest: Values) -> Flags:
    """Let withdrawals end the elements before them; which rows are left, the others did so.

    A withdrawal ends the newest element of its number, all of which are alike, that none ended
    before. `newest` is working space by number, zero before and after: which row is the newest
    open element, counted from 1.
    """
    left = np.ones(len(numbers), np.bool_)
    older = np.empty(len(numbers), np.int64)
    for row in range(len(numbers)):
        number = numbers[row]
        if sign[row] > 0:
            older[row] = newest[number]
            newest[number] = row + 1
        elif newest[number] > 0:
            opened = newest[number] - 1
            te[opened] = ts[row]
            newest[number] = older[opened]
            left[row] = False
    for number in numbers:
        newest[number] = 0
    return left
