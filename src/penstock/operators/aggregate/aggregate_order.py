"""In which order, and how many at once, an aggregation takes in the events of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state import arrays
from penstock.state.cutting import portions_of_text
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs


def in_time(times: Ints, signs: Signs) -> Ints:
    """Events by time; at one instant rows enter before others leave, so no count is ever short."""
    entering_first = np.argsort(signs < 0, kind="stable")
    return entering_first[order_of(times[entering_first])]


def portions_in_time(times: Ints, order: Ints, longest: int) -> list[Ints]:
    """Cut the order of events in time between instants, so that arrays can hold their text.

    At each there may be a row with the longest key or value.
    """
    if longest * len(order) <= arrays.MOST_TEXT:
        return [order] if len(order) else []
    starts = np.flatnonzero(np.diff(times[order], prepend=times[order[0]] - 1))
    stops = np.append(starts[1:], len(order))
    parts = portions_of_text(len(starts), [longest * (stops - starts)])
    return [order[starts[one.start] : stops[one.stop - 1]] for one in parts]
