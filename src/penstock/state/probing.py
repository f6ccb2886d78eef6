"""The loops of the hash index: open addressing with linear probing.

An entry of the table is a mark, 31 bits of the key's hash, and a slot in the lower half. A key is
looked at only where its mark is met, and the mark says where in the table an entry belongs, so
that entries can be moved without looking at keys at all. A table is as long as need be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled, compiled_borrowing
from penstock.state.hashing import mixed
from penstock.state.prefetching import FAR, NEAR, prefetch

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Places, Words

NO_ENTRY = -1
_SEED = np.uint64(0x2545F4914F6CDD1D)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SLOT_BITS = 32
_MARK_BITS = 31
_SLOT = (1 << _SLOT_BITS) - 1


@compiled
def _mark(first: np.uint64, second: np.uint64) -> np.int64:
    # Spread first: the hash is the same for words that are exchanged.
    return np.int64(mixed(first * _SPREAD, second, _SEED) >> np.uint64(33))


@compiled_borrowing
def home_of(mark: int, room: int) -> int:
    """The place of a mark in a table with so much room; marks in order belong in order."""
    return (mark * room) >> _MARK_BITS


def homes(marks: Ints, room: int) -> Ints:
    """The places of marks in a table with so much room."""
    return (marks * room) >> _MARK_BITS


def room_for(keys: int) -> int:
    """The least length of a table of so many keys: nine sixteenths full."""
    return 16 * keys // 9 + 2


@compiled
def marks_of(keys: Words) -> Ints:
    """The marks of keys."""
    marks = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        marks[row] = _mark(keys[row, 0], keys[row, 1])
    return marks


@compiled
def _fetch_first(start: int, marks: Ints, table: Ints) -> None:
    """Ask for the entries that the next rows belong to."""
    for row in range(start, min(start + FAR, len(marks))):
        prefetch(table, home_of(marks[row], len(table)))


@compiled
def _fetch_ahead(row: int, marks: Ints, table: Ints, keys: Words) -> None:
    """Ask for the entry of a row further ahead, and for the key of one not as far."""
    if row + FAR < len(marks):
        prefetch(table, home_of(marks[row + FAR], len(table)))
    if row + NEAR < len(marks):
        entry = table[home_of(marks[row + NEAR], len(table))]
        if entry >= 0:
            prefetch(keys, entry & _SLOT)


@compiled
def _probe(
    table: Ints, keys: Words, first: np.uint64, second: np.uint64, mark: int
) -> tuple[int, int]:
    """The place of a key in the table, if it is there or not, and its slot, -1 if it is not."""
    place = home_of(mark, len(table))
    while table[place] >= 0:
        if table[place] >> _SLOT_BITS == mark:
            slot = table[place] & _SLOT
            if keys[slot, 0] == first and keys[slot, 1] == second:
                return place, slot
        place += 1
        if place == len(table):
            place = 0
    return place, -1


@compiled
def find(table: Ints, keys: Words, wanted: Words) -> Ints:
    """The slot of each wanted key, -1 where it is not in the table."""
    slots = np.empty(len(wanted), np.int64)
    marks = marks_of(wanted)
    _fetch_first(0, marks, table)
    for row in range(len(wanted)):
        _fetch_ahead(row, marks, table, keys)
        first, second, mark = wanted[row, 0], wanted[row, 1], marks[row]
        _, found = _probe(table, keys, first, second, mark)
        slots[row] = found
    return slots


@compiled
def find_or_add(
    table: Ints, keys: Words, wanted: Words, marks: Ints, free: Places, free_count: int,
    high: int, live: int, start: int, slots: Ints, new: Ints, new_count: int,
) -> tuple[int, int, int, int]:  # fmt: skip
    """The slot of each key from `start` on; keys not there get one that is free, or the next.

    Returns the row for whose key there is no room, or the number of rows.
    """
    _fetch_first(start, marks, table)
    most = 9 * len(table) // 16
    for row in range(start, len(wanted)):
        _fetch_ahead(row, marks, table, keys)
        first, second, mark = wanted[row, 0], wanted[row, 1], marks[row]
        place, found = _probe(table, keys, first, second, mark)
        if found < 0:
            if live == most or (not free_count and high == len(keys)):
                return row, new_count, high, free_count
            if free_count:
                free_count -= 1
                found = int(free[free_count])
            else:
                found = high
                high += 1
            table[place] = mark << _SLOT_BITS | found
            keys[found, 0], keys[found, 1] = first, second
            new[new_count] = row
            new_count += 1
            live += 1
        slots[row] = found
    return len(wanted), new_count, high, free_count


@compiled
def slots_of(table: Ints) -> Ints:
    """The slots of all entries."""
    slots = np.empty(len(table), np.int64)
    count = 0
    for entry in table:
        if entry >= 0:
            slots[count] = entry & _SLOT
            count += 1
    return slots[:count].copy()


@compiled
def _enter(table: Ints, entry: int) -> None:
    at = home_of(entry >> _SLOT_BITS, len(table))
    while table[at] >= 0:
        at = at + 1 if at + 1 < len(table) else 0
    table[at] = entry


@compiled
def place(table: Ints, keys: Words, slots: Ints) -> None:
    """Enter slots into a table that does not have them."""
    for slot in slots:
        _enter(table, _mark(keys[slot, 0], keys[slot, 1]) << _SLOT_BITS | slot)


@compiled
def move(old: Ints, table: Ints) -> None:
    """Enter the entries of one table into another."""
    for entry in old:
        if entry >= 0:
            _enter(table, entry)


@compiled
def remove(table: Ints, keys: Words, slots: Ints) -> None:
    """Take slots out; entries behind them move up, so that no gaps are left."""
    entries = np.empty(len(slots), np.int64)
    for row in range(len(slots)):
        if row + FAR < len(slots):
            prefetch(keys, slots[row + FAR])
        slot = slots[row]
        mark = _mark(keys[slot, 0], keys[slot, 1])
        entries[row] = mark << _SLOT_BITS | slot
    for row in range(len(entries)):
        if row + FAR < len(entries):
            prefetch(table, home_of(entries[row + FAR] >> _SLOT_BITS, len(table)))
        _take_out(table, entries[row])


@compiled
def _take_out(table: Ints, entry: int) -> None:
    room = len(table)
    gap = home_of(entry >> _SLOT_BITS, room)
    while table[gap] != entry:
        gap = gap + 1 if gap + 1 < room else 0
    at = gap
    while True:
        at = at + 1 if at + 1 < room else 0
        other = table[at]
        if other < 0:
            break
        home = home_of(other >> _SLOT_BITS, room)
        # An entry may fill the gap unless its home lies behind the gap.
        if distance(home, at, room) >= distance(gap, at, room):
            table[gap] = other
            gap = at
    table[gap] = NO_ENTRY


@compiled
def distance(start: int, stop: int, room: int) -> int:
    """The distance from one place to another, going on at the front behind the last."""
    return stop - start if stop >= start else stop - start + room
