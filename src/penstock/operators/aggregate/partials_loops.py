"""The loop of `partials`: sums of doubles without rounding, where two doubles can hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.state.compiled import compiled, compiled_borrowing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from penstock.state.arrays import Ints

    Doubles = npt.NDArray[np.float64]


@compiled_borrowing
def _added(one: float, other: float) -> tuple[float, float]:
    """The rounded sum and what rounding took away; both together are exact."""
    total = one + other
    share = total - one
    return total, (one - (total - share)) + (other - share)


@compiled
def summed(values: Doubles, starts: Ints, sums: Doubles, rests: Doubles) -> bool:
    """The sums of stretches as pairs of doubles; False if one of them needs more.

    So it is with infinities, NaN, and numbers that are too far apart.
    """
    for number in range(starts.size):
        stop = starts[number + 1] if number + 1 < starts.size else values.size
        total, rest = 0.0, 0.0
        for i in range(starts[number], stop):
            total, less = _added(total, values[i])
            rest, lost = _added(rest, less)
            if lost != 0.0:
                return False
        sums[number], rests[number] = total, rest
    return True
