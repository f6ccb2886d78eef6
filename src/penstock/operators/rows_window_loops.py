"""The loop of windows that count rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Signs

_FOREVER = INFINITY
_WAITS, _BEGUN = 0, 1


@compiled
def slide_rows(
    slots: Ints,
    partitions: Ints,
    ts: Ints,
    of_partition: Ints,
    of_row: Ints,
    count: int,
    slide: int,
    held: int,
    tell_vanished: bool,
) -> tuple[Ints, Ints, Ints, Signs, Ints]:
    """Rows in time order enter their partitions: what begins, what ends, which slots are free.

    See `rows_window` for the fields. While a step runs, the third field of a row that began in
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
        number = of_partition[partition, 3] + 1
        of_partition[partition, 3] = number
        of_row[row, 0], of_row[row, 1], of_row[row, 2] = -1, number, _WAITS
        newest = of_partition[partition, 1]
        if newest >= 0:
            of_row[newest, 0] = row
        else:
            of_partition[partition, 0] = row
        of_partition[partition, 1] = row
        if of_partition[partition, 2] < 0:
            of_partition[partition, 2] = row
        if number % slide:
            continue
        waiting = of_partition[partition, 2]
        while waiting >= 0:
            if of_row[waiting, 1] + count > number or tell_vanished:
                made_slots[made], made_ts[made] = waiting, now
                made_te[made], made_sign[made] = _FOREVER, 1
                of_row[waiting, 2] = made + 2
                made += 1
            waiting = of_row[waiting, 0]
        of_partition[partition, 2] = -1
        oldest = of_partition[partition, 0]
        while oldest >= 0 and of_row[oldest, 1] + count <= number:
            begun = of_row[oldest, 2]
            if begun >= 2:
                made_te[begun - 2] = now
            elif begun == _BEGUN:
                made_slots[made], made_ts[made] = oldest, now
                made_te[made], made_sign[made] = _FOREVER, -1
                made += 1
            gone[gone_count] = oldest
            gone_count += 1
            oldest = of_row[oldest, 0]
        of_partition[partition, 0] = oldest
        if oldest < 0:
            of_partition[partition, 1] = -1
    kept = 0
    for element in range(made):
        row = made_slots[element]
        if of_row[row, 2] == element + 2:
            of_row[row, 2] = _BEGUN
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
    partitions: Ints, of_partition: Ints, of_row: Ints, held: int
) -> tuple[Ints, Ints]:
    """The slots of all rows, partition by partition, oldest first; and how many came there."""
    slots = np.empty(held, np.int64)
    came = np.empty(held, np.int64)
    found = 0
    for partition in partitions:
        row = of_partition[partition, 0]
        while row >= 0:
            slots[found], came[found] = row, of_partition[partition, 3]
            found += 1
            row = of_row[row, 0]
    return slots[:found], came[:found]


@compiled
def link_rows(slots: Ints, partitions: Ints, came: Ints, of_partition: Ints, of_row: Ints) -> None:
    """Link rows, oldest first, to those of their partitions."""
    for place in range(len(slots)):
        row, partition = slots[place], partitions[place]
        of_row[row, 0] = -1
        newest = of_partition[partition, 1]
        if newest >= 0:
            of_row[newest, 0] = row
        else:
            of_partition[partition, 0] = row
        of_partition[partition, 1] = row
        if of_partition[partition, 2] < 0 and of_row[row, 2] == _WAITS:
            of_partition[partition, 2] = row
        of_partition[partition, 3] = came[place]
