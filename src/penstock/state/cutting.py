"""Cutting what is too much at once into portions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state import arrays

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints


def portions_of_text(length: int, weights: Sequence[Ints]) -> list[slice]:
    """Cut `length` rows, so that an array can hold the text of each portion.

    `weights` has the lengths of the strings for each column of text. A single row is not cut.

    >>> arrays.MOST_TEXT
    2147483647
    >>> portions_of_text(3, [np.array([2**30, 2**30, 5])])
    [slice(0, 1, None), slice(1, 3, None)]
    """
    totals = [np.cumsum(one) for one in weights]
    totals = [total for total in totals if length and int(total[-1]) > arrays.MOST_TEXT]
    if not totals:
        return [slice(0, length)]
    made: list[slice] = []
    start = 0
    while start < length:
        reach = [_reach(total, start) for total in totals]
        stop = max(min(reach), start + 1)
        made.append(slice(start, stop))
        start = stop
    return made


def _reach(total: Ints, start: int) -> int:
    """The row that the strings of a column may reach from a row on."""
    before = int(total[start - 1]) if start else 0
    return int(total.searchsorted(before + arrays.MOST_TEXT, side="right"))
