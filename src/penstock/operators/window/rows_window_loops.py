"""The loop of windows that count rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.state.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places, Signs

_FOREVER = INFINITY
_WAITS, _BEGUN = 0, 1
_NEXT, _BEGAN = 0, 1
_OLDEST, _NEWEST, _WAITING, _ROWS, _WAIT = 0, 1, 2, 3, 4


class MadeElements(NamedTuple):
    """Elements that are made in a step."""

    slots: Ints
    ts: Ints
    te: Ints
    sign: Signs


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
    gone = np.empty(most, np.int64)
    made = MadeElements(
        np.empty(2 * most, np.int64),
        np.empty(2 * most, np.int64),
        np.empty(2 * most, np.int64),
        np.empty(2 * most, np.int8),
    )
    made_count, gone_count = 0, 0
    for arrival in range(len(slots)):
        row, partition, now = slots[arrival], partitions[arrival], ts[arrival]
        came[partition] += 1
        number = came[partition]
        enter(row, partition, of_partition, of_row)
        if number % slide:
            continue
        first = 0 if tell_vanished else number - count + 1
        made_count = begin(partition, number, first, now, of_partition, of_row, made, made_count)
        made_count, gone_count = push_out(
            partition, count, now, of_partition, of_row, made, made_count, gone, gone_count
        )
    kept = bring_forward(made, made_count, of_row, tell_vanished)
    return (
        made.slots[:kept].copy(),
        made.ts[:kept].copy(),
        made.te[:kept].copy(),
        made.sign[:kept].copy(),
        gone[:gone_count].copy(),
    )


@compiled_within
def enter(row: int, partition: int, of_partition: Places, of_row: Places) -> None:
    """Link a row behind the newest of its partition; it waits for the next slide."""
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


@compiled_within
def begin(
    partition: int,
    number: int,
    first: int,
    now: int,
    of_partition: Places,
    of_row: Places,
    made: MadeElements,
    made_count: int,
) -> int:
    """Make elements of the rows that wait, from the one with the number `first` on."""
    waiting = of_partition[partition, _WAITING]
    its_number = number - of_partition[partition, _WAIT] + 1
    while waiting >= 0:
        if its_number >= first:
            made.slots[made_count], made.ts[made_count] = waiting, now
            made.te[made_count], made.sign[made_count] = _FOREVER, 1
            of_row[waiting, _BEGAN] = made_count + 2
            made_count += 1
        waiting = of_row[waiting, _NEXT]
        its_number += 1
    of_partition[partition, _WAITING] = -1
    of_partition[partition, _WAIT] = 0
    return made_count


@compiled_within
def push_out(
    partition: int,
    count: int,
    now: int,
    of_partition: Places,
    of_row: Places,
    made: MadeElements,
    made_count: int,
    gone: Ints,
    gone_count: int,
) -> tuple[int, int]:
    """End the oldest rows of a partition, until it has `count`."""
    oldest = of_partition[partition, _OLDEST]
    while oldest >= 0 and of_partition[partition, _ROWS] > count:
        begun = of_row[oldest, _BEGAN]
        if begun >= 2:
            made.te[begun - 2] = now
        elif begun == _BEGUN:
            made.slots[made_count], made.ts[made_count] = oldest, now
            made.te[made_count], made.sign[made_count] = _FOREVER, -1
            made_count += 1
        gone[gone_count] = oldest
        gone_count += 1
        oldest = of_row[oldest, _NEXT]
        of_partition[partition, _ROWS] -= 1
    of_partition[partition, _OLDEST] = oldest
    if oldest < 0:
        of_partition[partition, _NEWEST] = -1
    return made_count, gone_count


@compiled_within
def bring_forward(made: MadeElements, made_count: int, of_row: Places, tell_vanished: bool) -> int:
    """Bring the elements that are told to the front; how many there are."""
    kept = 0
    for element in range(made_count):
        row = made.slots[element]
        if of_row[row, _BEGAN] == element + 2:
            of_row[row, _BEGAN] = _BEGUN
        if made.ts[element] < made.te[element] or tell_vanished:
            made.slots[kept], made.ts[kept] = made.slots[element], made.ts[element]
            made.te[kept], made.sign[kept] = made.te[element], made.sign[element]
            kept += 1
    return kept


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
