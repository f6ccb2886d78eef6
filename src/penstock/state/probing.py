"""The loops of the hash index: open addressing with linear probing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled
from penstock.state.hashing import mixed

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Words

_SEED = np.uint64(0x2545F4914F6CDD1D)


@compiled
def home_of(first: np.uint64, second: np.uint64, mask: np.uint64) -> np.int64:
    """Where in the table a key belongs."""
    return np.int64(mixed(first, second, _SEED) & mask)


@compiled
def find(table: Ints, keys: Words, wanted: Words) -> Ints:
    """The slot of each wanted key, -1 where it is not in the table."""
    mask = np.uint64(len(table) - 1)
    slots = np.empty(len(wanted), np.int64)
    for row in range(len(wanted)):
        first, second = wanted[row, 0], wanted[row, 1]
        place = home_of(first, second, mask)
        while True:
            slot = table[place]
            if slot < 0 or (keys[slot, 0] == first and keys[slot, 1] == second):
                break
            place = (place + 1) & np.int64(mask)
        slots[row] = slot
    return slots


@compiled
def find_or_add(
    table: Ints, keys: Words, wanted: Words, free: Ints, free_count: int, high: int
) -> tuple[Ints, Ints, int, int]:
    """The slot of each key; keys not there get one that is free, or the next."""
    mask = np.uint64(len(table) - 1)
    slots = np.empty(len(wanted), np.int64)
    new = np.empty(len(wanted), np.int64)
    new_count = 0
    for row in range(len(wanted)):
        first, second = wanted[row, 0], wanted[row, 1]
        place = home_of(first, second, mask)
        while True:
            slot = table[place]
            if slot < 0:
                if free_count:
                    free_count -= 1
                    slot = free[free_count]
                else:
                    slot = high
                    high += 1
                table[place] = slot
                keys[slot, 0], keys[slot, 1] = first, second
                new[new_count] = row
                new_count += 1
                break
            if keys[slot, 0] == first and keys[slot, 1] == second:
                break
            place = (place + 1) & np.int64(mask)
        slots[row] = slot
    return slots, new[:new_count].copy(), high, free_count


@compiled
def place(table: Ints, keys: Words, slots: Ints) -> None:
    """Enter slots into a table that does not have them."""
    mask = np.uint64(len(table) - 1)
    for slot in slots:
        at = home_of(keys[slot, 0], keys[slot, 1], mask)
        while table[at] >= 0:
            at = (at + 1) & np.int64(mask)
        table[at] = slot


@compiled
def remove(table: Ints, keys: Words, slots: Ints) -> None:
    """Take slots out; entries behind them move up, so that no marks are left."""
    mask = np.uint64(len(table) - 1)
    step = np.int64(mask)
    for slot in slots:
        gap = home_of(keys[slot, 0], keys[slot, 1], mask)
        while table[gap] != slot:
            gap = (gap + 1) & step
        at = gap
        while True:
            at = (at + 1) & step
            other = table[at]
            if other < 0:
                break
            home = home_of(keys[other, 0], keys[other, 1], mask)
            # An entry may fill the gap unless its home lies behind the gap.
            if ((at - home) & step) >= ((at - gap) & step):
                table[gap] = other
                gap = at
        table[gap] = -1
