"""The loops of EMIT FINAL: which elements have ended, and which withdrawal ends which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs

SENT = BEGINNING
"""The end of an element that has been sent."""
OLDEST, NEWEST, HELD = 0, 1, 2
"""Of elements alike: the place of the oldest not withdrawn, of the newest, and how many are held.
Places are counted from 1 on, so that 0 means none."""
NUMBER, NEXT = 0, 1
"""Of an element: the number of those alike, and the place of the next of them."""
_FOREVER = INFINITY


@compiled
def first_open(te: Ints, head: int, tail: int, clock: int) -> int:
    """The first element that has not ended; when all is over there is none."""
    while head < tail and (te[head] <= clock or clock == _FOREVER):
        head += 1
    return head


@compiled
def close_withdrawn(
    numbers: Ints, ts: Ints, sign: Signs, place: int, te: Ints, of_element: Ints, of_alike: Ints
) -> None:
    """Go through the rows of a step: the elements stand from a place on, withdrawals end others."""
    for row in range(len(numbers)):
        number = numbers[row]
        if sign[row] > 0:
            place += 1
            of_element[place - 1, NUMBER], of_element[place - 1, NEXT] = number, 0
            if of_alike[number, OLDEST] == 0:
                of_alike[number, OLDEST] = place
            else:
                of_element[of_alike[number, NEWEST] - 1, NEXT] = place
            of_alike[number, NEWEST] = place
            of_alike[number, HELD] += 1
        elif of_alike[number, OLDEST] > 0:
            oldest = of_alike[number, OLDEST] - 1
            te[oldest] = ts[row]
            of_alike[number, OLDEST] = of_element[oldest, NEXT]


@compiled
def let_go(places: Ints, of_element: Ints, of_alike: Ints) -> Ints:
    """Elements have been sent; the numbers of which none is held any more."""
    idle = np.empty(len(places), np.int64)
    count = 0
    for place in places:
        number = of_element[place, NUMBER]
        of_alike[number, HELD] -= 1
        if of_alike[number, HELD] == 0:
            idle[count] = number
            count += 1
    return idle[:count].copy()
