"""Loops for rows that are put together: an order by small keys, and sums without rounding.

Sums of doubles are pairs of doubles, where two can hold them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled, compiled_borrowing

if TYPE_CHECKING:
    import numpy.typing as npt

    from penstock.state.arrays import Ints, Places

    Codes = npt.NDArray[np.uint16]
    Doubles = npt.NDArray[np.float64]


@compiled_borrowing
def _added(one: float, other: float) -> tuple[float, float]:
    """The rounded sum and what rounding took away; both together are exact."""
    total = one + other
    share = total - one
    return total, (one - (total - share)) + (other - share)


@compiled
def summed(
    values: Doubles, order: Ints | Places, starts: Ints, sums: Doubles, rests: Doubles
) -> bool:
    """The sums of stretches of an order as pairs of doubles; False if one of them needs more.

    So it is with infinities, NaN, and numbers that are too far apart.
    """
    for number in range(starts.size):
        stop = starts[number + 1] if number + 1 < starts.size else order.size
        total, rest = 0.0, 0.0
        for i in range(starts[number], stop):
            total, less = _added(total, values[order[i]])
            rest, lost = _added(rest, less)
            if lost != 0.0:
                return False
        sums[number], rests[number] = total, rest
    return True


@compiled
def in_order_of_codes(codes: Codes, counts: Ints, order: Places) -> None:
    """The places of rows by their codes, those of one code as they came; how many each has."""
    for i in range(codes.size):
        counts[codes[i]] += 1
    begin = np.empty(counts.size, np.int64)
    before = 0
    for code in range(counts.size):
        begin[code] = before
        before += counts[code]
    for i in range(codes.size):
        code = codes[i]
        order[begin[code]] = i
        begin[code] += 1
