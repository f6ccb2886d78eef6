"""The loop of windows that count rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places, Signs

_FOREVER = INFINITY
_WAITS, _BEGUN = 0, 1
_NEXT, _BEGAN = 0, 1
_OLDEST, _NEWEST, _WAITING, _ROWS, _WAIT = 0, 1, 2, 3, 4


@compiled
def slide_rows(
    slots: Ints,
    partitions: Ints,
    ts: Ints,
    came: Ints,
    of_partition: Places,
    of_row: Places,
    count: int,
    slide: int,
    held: int,
    tell_vanished: bool,
) -> tuple[Ints, Ints, Ints, Signs, Ints]:
    """Rows in time order enter their partitions: what begins, what ends, which slots are free.

    See `rows_window` for the fields. While a step runs, the second field of a row that began in
    it is 2 plus the number of the element made for it. `held` rows are in the window or wait.
    """
    # Each row begins once and ends once; without a slide one row begins at each arrival.
    most = held if slide > 1 else len(slots)
    made_slots = np.empty(2 * most, np.int64)
    made_ts = np.empty(2 * most, np.int64)
    made_te = np.empty(2 * most, np.int64)
    made_sign = np.empty(2 * most, np.int8)
    gone = np.empty(most, np.int64)
    made, gone_count = 0, 0
    for arrival in range(len(slots)):
        row, partition, now = slots[arrival], partitions[arrival], ts[arrival]
        came[partition] += 1
        number = came[partition]
        of_row[row, _NEXT], of_row[row, _BEGAN] = -1, _WAITS
        newest = of_partition[partition, _NEWEST]
        if newest >= 0:
            of_row[newest, _NEXT] = row
        else:
            of_partition[partition, _OLDEST] = row
        of_partition[partition, _NEWEST] = row
        if of_partition[partition, _WAITING] < 0:
            of_partition[partition, _WAITING] = row
        of_partition[partition, _ROWS] += 1
        of_partition[partition, _WAIT] += 1
        if number % slide:
            continue
        waiting = of_partition[partition, _WAITING]
        its_number = number - of_partition[partition, _WAIT] + 1
        while waiting >= 0:
            if its_number + count > number or tell_vanished:
                made_slots[made], made_ts[made] = waiting, now
                made_te[made], made_sign[made] = _FOREVER, 1
                of_row[waiting, _BEGAN] = made + 2
                made += 1
            waiting = of_row[waiting, _NEXT]
            its_number += 1
        of_partition[partition, _WAITING] = -1
        of_partition[partition, _WAIT] = 0
        oldest = of_partition[partition, _OLDEST]
        while oldest >= 0 and of_partition[partition, _ROWS] > count:
            begun = of_row[oldest, _BEGAN]
            if begun >= 2:
                made_te[begun - 2] = now
            elif begun == _BEGUN:
                made_slots[made], made_ts[made] = oldest, now
                made_te[made], made_sign[made] = _FOREVER, -1
                made += 1
            gone[gone_count] = oldest
            gone_count += 1
            oldest = of_row[oldest, _NEXT]
            of_partition[partition, _ROWS] -= 1
        of_partition[partition, _OLDEST] = oldest
        if oldest < 0:
            of_partition[partition, _NEWEST] = -1
    kept = 0
    for element in range(made):
        row = made_slots[element]
        if of_row[row, _BEGAN] == element + 2:
            of_row[row, _BEGAN] = _BEGUN
        if made_ts[element] < made_te[element] or tell_vanished:
            made_slots[kept], made_ts[kept] = made_slots[element], made_ts[element]
            made_te[kept], made_sign[kept] = made_te[element], made_sign[element]
            kept += 1
    return (
        made_slots[:kept].copy(),
        made_ts[:kept].copy(),
        made_te[:kept].copy(),
        made_sign[:kept].copy(),
        gone[:gone_count].copy(),
    )


@compiled
def rows_in_order(
    partitions: Ints, came: Ints, of_partition: Places, of_row: Places, held: int
) -> tuple[Ints, Ints, Ints]:
    """All rows, partition by partition, oldest first: slot, number there, and how many came."""
    slots = np.empty(held, np.int64)
    numbers = np.empty(held, np.int64)
    totals = np.empty(held, np.int64)
    found = 0
    for partition in partitions:
        row = of_partition[partition, _OLDEST]
        number = came[partition] - of_partition[partition, _ROWS] + 1
        while row >= 0:
            slots[found], numbers[found], totals[found] = row, number, came[partition]
            found += 1
            number += 1
            row = of_row[row, _NEXT]
    return slots[:found], numbers[:found], totals[:found]


@compiled
def link_rows(slots: Ints, partitions: Ints, of_partition: Places, of_row: Places) -> None:
    """Link rows, oldest first, to those of their partitions."""
    for place in range(len(slots)):
        row, partition = slots[place], partitions[place]
        of_row[row, _NEXT] = -1
        newest = of_partition[partition, _NEWEST]
        if newest >= 0:
            of_row[newest, _NEXT] = row
        else:
            of_partition[partition, _OLDEST] = row
        of_partition[partition, _NEWEST] = row
        of_partition[partition, _ROWS] += 1
        if of_row[row, _BEGAN] == _WAITS:
            of_partition[partition, _WAIT] += 1
            if of_partition[partition, _WAITING] < 0:
                of_partition[partition, _WAITING] = row
