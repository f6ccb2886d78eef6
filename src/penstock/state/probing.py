"""The loops of the hash index: open addressing with linear probing.

An entry of the table is a mark, 31 bits of the key's hash, and a slot in the lower half. A key is
looked at only where its mark is met, and the mark says where in the table an entry belongs, so
that entries can be moved without looking at keys at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled
from penstock.state.hashing import mixed
from penstock.state.prefetching import FAR, NEAR, prefetch

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Words

NO_ENTRY = -1
_SEED = np.uint64(0x2545F4914F6CDD1D)
_SLOT_BITS = 32
_SLOT = (1 << _SLOT_BITS) - 1


@compiled
def _mark(first: np.uint64, second: np.uint64) -> np.int64:
    return np.int64(mixed(first, second, _SEED) >> np.uint64(33))


@compiled
def marks_of(keys: Words, mask: int, table: Ints) -> Ints:
    """The marks of keys; the table is asked for the first entries they belong to."""
    marks = np.empty(len(keys), np.int64)
    for row in range(len(keys)):
        marks[row] = _mark(keys[row, 0], keys[row, 1])
        if row < FAR:
            prefetch(table, marks[row] & mask)
    return marks


@compiled
def _fetch_ahead(row: int, marks: Ints, mask: int, table: Ints, keys: Words) -> None:
    """Ask for the entry of a row further ahead, and for the key of one not as far."""
    if row + FAR < len(marks):
        prefetch(table, marks[row + FAR] & mask)
    if row + NEAR < len(marks):
        entry = table[marks[row + NEAR] & mask]
        if entry >= 0:
            prefetch(keys, entry & _SLOT)


@compiled
def _probe(
    table: Ints, keys: Words, first: np.uint64, second: np.uint64, mark: int
) -> tuple[int, int]:
    """Where a key stands or would stand in the table, and its slot, -1 if it is not there."""
    mask = len(table) - 1
    place = mark & mask
    while table[place] >= 0:
        if table[place] >> _SLOT_BITS == mark:
            slot = table[place] & _SLOT
            if keys[slot, 0] == first and keys[slot, 1] == second:
                return place, slot
        place = (place + 1) & mask
    return place, -1


@compiled
def find(table: Ints, keys: Words, wanted: Words) -> Ints:
    """The slot of each wanted key, -1 where it is not in the table."""
    mask = len(table) - 1
    slots = np.empty(len(wanted), np.int64)
    marks = marks_of(wanted, mask, table)
    for row in range(len(wanted)):
        _fetch_ahead(row, marks, mask, table, keys)
        first, second, mark = wanted[row, 0], wanted[row, 1], marks[row]
        _, found = _probe(table, keys, first, second, mark)
        slots[row] = found
    return slots


@compiled
def find_or_add(
    table: Ints, keys: Words, wanted: Words, free: Ints, free_count: int, high: int
) -> tuple[Ints, Ints, int, int]:
    """The slot of each key; keys not there get one that is free, or the next."""
    mask = len(table) - 1
    slots = np.empty(len(wanted), np.int64)
    new = np.empty(len(wanted), np.int64)
    new_count = 0
    marks = marks_of(wanted, mask, table)
    for row in range(len(wanted)):
        _fetch_ahead(row, marks, mask, table, keys)
        first, second, mark = wanted[row, 0], wanted[row, 1], marks[row]
        place, found = _probe(table, keys, first, second, mark)
        if found < 0:
            if free_count:
                free_count -= 1
                found = free[free_count]
            else:
                found = high
                high += 1
            table[place] = mark << _SLOT_BITS | found
            keys[found, 0], keys[found, 1] = first, second
            new[new_count] = row
            new_count += 1
        slots[row] = found
    return slots, new[:new_count].copy(), high, free_count


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
    mask = len(table) - 1
    at = (entry >> _SLOT_BITS) & mask
    while table[at] >= 0:
        at = (at + 1) & mask
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
    mask = len(table) - 1
    entries = np.empty(len(slots), np.int64)
    for row in range(len(slots)):
        if row + FAR < len(slots):
            prefetch(keys, slots[row + FAR])
        slot = slots[row]
        mark = _mark(keys[slot, 0], keys[slot, 1])
        entries[row] = mark << _SLOT_BITS | slot
    for row in range(len(entries)):
        if row + FAR < len(entries):
            prefetch(table, (entries[row + FAR] >> _SLOT_BITS) & mask)
        _take_out(table, entries[row], mask)


@compiled
def _take_out(table: Ints, entry: int, mask: int) -> None:
    gap = (entry >> _SLOT_BITS) & mask
    while table[gap] != entry:
        gap = (gap + 1) & mask
    at = gap
    while True:
        at = (at + 1) & mask
        other = table[at]
        if other < 0:
            break
        home = (other >> _SLOT_BITS) & mask
        # An entry may fill the gap unless its home lies behind the gap.
        if ((at - home) & mask) >= ((at - gap) & mask):
            table[gap] = other
            gap = at
    table[gap] = NO_ENTRY
