"""Shedding by its meaning: an answer is that over the rows which stay.

Which rows these are is part of a run: for the rows of a stream that came together, how they were
chosen, and that one in so many was to stay. The weight of a row that was kept by chance grows by
that number.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import Value
    from penstock.reference.timeline import Row


def useful(rows: Sequence[Row], utility: int, one_in: int) -> list[bool]:
    """The rows that stay by their utility, which is in a column of this number.

    >>> useful([(0.2,), (0.5,), (None,), (1,)], utility=0, one_in=2)
    [False, True, False, True]
    """
    return [_utility(row[utility]) >= 1 - 1 / one_in for row in rows]


def _utility(value: object) -> float:
    """A number; a row that does not say how useful it is, is not."""
    found = 0.0 if value is None or isinstance(value, str) else float(value)  # type: ignore[arg-type]  # a number by its declaration
    return 0.0 if math.isnan(found) else found


def weighed(rows: Sequence[Row], weight: int, one_in: int) -> list[Row]:
    """Rows that were kept by chance: each stands for as many times more rows as before.

    >>> weighed([("a", 1), ("b", None)], weight=1, one_in=4)
    [('a', 4), ('b', None)]
    """
    return [(*row[:weight], _times(row[weight], one_in), *row[weight + 1 :]) for row in rows]


def _times(value: Value, one_in: int) -> Value:
    if isinstance(value, float):
        return value * one_in
    if not isinstance(value, int):
        return value
    return min(value, (2**63 - 1) // one_in) * one_in
