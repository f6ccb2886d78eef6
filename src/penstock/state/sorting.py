"""Putting numbers into order: a radix sort, since most of what is sorted lies close together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints

_BITS = 11
_DIGITS = 1 << _BITS
_FEW = 512
_MOST_PASSES = 4
_RUNS = 16


def order_of(keys: Ints, *ties: Ints) -> Ints:
    """The positions of keys in ascending order; equal ones by the ties, then as they stand.

    >>> order_of(np.array([7, 3, 7, 1])).tolist()
    [3, 1, 0, 2]
    >>> order_of(np.array([7, 3, 7, 1]), np.array([2, 0, 1, 0])).tolist()
    [3, 1, 2, 0]
    """
    if ties:
        order = order_of(*ties)
        return order[order_of(keys[order])]
    if len(keys) < _FEW or np.count_nonzero(keys[1:] < keys[:-1]) < _RUNS:
        # A few runs that are in order already are merged faster.
        return np.argsort(keys, kind="stable")
    least = int(keys.min())
    passes = -(-(int(keys.max()) - least).bit_length() // _BITS)
    if passes > _MOST_PASSES:
        return np.argsort(keys, kind="stable")
    return _radix(keys, least, passes)


@compiled
def _radix(keys: Ints, least: int, passes: int) -> Ints:
    """Sort by one digit after the other, the lowest first."""
    order = np.arange(len(keys))
    other = np.empty(len(keys), np.int64)
    ends = np.empty(_DIGITS, np.int64)
    for number in range(passes):
        shift = number * _BITS
        ends[:] = 0
        for key in keys:
            ends[((key - least) >> shift) & (_DIGITS - 1)] += 1
        total = 0
        for digit in range(_DIGITS):
            count = ends[digit]
            ends[digit] = total
            total += count
        for place in order:
            digit = ((keys[place] - least) >> shift) & (_DIGITS - 1)
            other[ends[digit]] = place
            ends[digit] += 1
        order, other = other, order
    return order
