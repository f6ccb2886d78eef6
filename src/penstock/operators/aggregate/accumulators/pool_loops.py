"""Texts (any bytes) numbered so that equal ones have one number; compiled.

The state of a pool, beside the bytes themselves:

- `index`: open addressing by hash, the number + 1 of a text, 0 where free; at most four
  sevenths full;
- `texts`: for each number its hash, its offset and length in the bytes, how often it is held (0:
  the number is free, and its offset is the next free number);
- `meta`: see the constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled, compiled_borrowing
from penstock.state.probing import distance

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bools, Bytes, Int32s, Int64s

HASH, OFFSET, LENGTH, HELD = range(4)
FREE, LIVE, USED, DEAD = range(4)
"""The first free number; texts held; bytes written; those of them no longer needed."""
MIX = np.uint64(0x9E3779B97F4A7C15)
EIGHT = np.uint64(8)
SHIFT = np.uint64(29)
_LOW = 2**32 - 1


@compiled
def hash_bytes(data: Bytes, start: int, length: int) -> int:
    """A 64-bit hash of data[start : start + length]."""
    state = np.uint64(length) * MIX
    for i in range(0, length, 8):
        word = np.uint64(0)
        for k in range(i, min(i + 8, length)):
            word = (word << EIGHT) | np.uint64(data[start + k])
        state = (state ^ word) * MIX
        state ^= state >> SHIFT
    return int(np.int64(state * MIX ^ state >> SHIFT))


@compiled_borrowing
def compare(left: int, right: int, texts: Int64s, data: Bytes) -> int:
    """-1, 0 or 1; without texts the numbers are the values themselves."""
    if texts.shape[0] == 0:
        return -1 if left < right else 1 if left > right else 0
    if left == right:
        return 0
    first, second = texts[left, OFFSET], texts[right, OFFSET]
    lengths = texts[left, LENGTH], texts[right, LENGTH]
    for i in range(min(lengths[0], lengths[1])):
        if data[first + i] != data[second + i]:
            return -1 if data[first + i] < data[second + i] else 1
    return -1 if lengths[0] < lengths[1] else 1 if lengths[0] > lengths[1] else 0


@compiled
def same(number: int, texts: Int64s, data: Bytes, other: Bytes, start: int, length: int) -> bool:
    """A numbered text that equals other[start : start + length]."""
    if texts[number, LENGTH] != length:
        return False
    offset = texts[number, OFFSET]
    equal = 0
    while equal < length and data[offset + equal] == other[start + equal]:
        equal += 1
    return equal == length


@compiled
def home(code: int, room: int) -> int:
    """The place of a hash in an index with so much room."""
    return ((code & _LOW) * room) >> 32


@compiled
def intern(
    start: int,
    offsets: Int64s,
    new: Bytes,
    known: Bools,
    index: Int32s,
    texts: Int64s,
    data: Bytes,
    meta: Int64s,
    numbers: Int64s,
) -> int:
    """Number the texts new[offsets[i] : offsets[i + 1]] from row `start` on and hold each.

    Returns the row at which some array must grow first, or the number of rows.
    """
    room = index.size
    for row in range(start, known.size):
        numbers[row] = 0
        if not known[row]:
            continue
        first, length = offsets[row], offsets[row + 1] - offsets[row]
        code = hash_bytes(new, first, length)
        place = home(code, room)
        while index[place] != 0:
            number = int(index[place]) - 1
            if texts[number, HASH] == code and same(number, texts, data, new, first, length):
                break
            place = place + 1 if place + 1 < room else 0
        if index[place] == 0:
            if meta[FREE] < 0 or meta[USED] + length > data.size:
                return row
            number = meta[FREE]
            meta[FREE] = texts[number, OFFSET]
            texts[number, HASH], texts[number, OFFSET] = code, meta[USED]
            texts[number, LENGTH], texts[number, HELD] = length, 0
            for i in range(length):
                data[meta[USED] + i] = new[first + i]
            meta[USED] += length
            meta[LIVE] += 1
            index[place] = number + 1
        texts[index[place] - 1, HELD] += 1
        numbers[row] = index[place] - 1
    return known.size


@compiled
def release(numbers: Int64s, index: Int32s, texts: Int64s, meta: Int64s) -> None:
    """Let go of texts, once for each time they occur; those no longer held are forgotten."""
    for i in range(numbers.size):
        number = numbers[i]
        texts[number, HELD] -= 1
        if texts[number, HELD] == 0:
            unlink(number, index, texts)
            meta[DEAD] += texts[number, LENGTH]
            meta[LIVE] -= 1
            texts[number, OFFSET] = meta[FREE]
            meta[FREE] = number


@compiled
def unlink(number: int, index: Int32s, texts: Int64s) -> None:
    """Take a text out of the index, moving back those that probed past it."""
    room = index.size
    hole = home(texts[number, HASH], room)
    while index[hole] != number + 1:
        hole = hole + 1 if hole + 1 < room else 0
    place = hole + 1 if hole + 1 < room else 0
    while index[place] != 0:
        start = home(texts[index[place] - 1, HASH], room)
        if distance(start, place, room) >= distance(hole, place, room):
            index[hole] = index[place]
            hole = place
        place = place + 1 if place + 1 < room else 0
    index[hole] = 0


@compiled
def rebuild(index: Int32s, texts: Int64s, meta: Int64s) -> None:
    """Fill an empty index, and chain the free numbers, lowest first."""
    room = index.size
    meta[FREE] = -1
    meta[LIVE] = 0
    for number in range(texts.shape[0] - 1, -1, -1):
        if texts[number, HELD] == 0:
            texts[number, OFFSET] = meta[FREE]
            meta[FREE] = number
            continue
        place = home(texts[number, HASH], room)
        while index[place] != 0:
            place = place + 1 if place + 1 < room else 0
        index[place] = number + 1
        meta[LIVE] += 1


@compiled
def gather(numbers: Int64s, known: Bools, texts: Int64s, data: Bytes, out: Bytes) -> None:
    """Write the known texts one after the other."""
    end = 0
    for i in range(numbers.size):
        if known[i]:
            offset, length = texts[numbers[i], OFFSET], texts[numbers[i], LENGTH]
            out[end : end + length] = data[offset : offset + length]
            end += length


@compiled
def compact(texts: Int64s, data: Bytes, out: Bytes) -> int:
    """Move the bytes of the texts held into `out`; returns how many they are."""
    end = 0
    for number in range(texts.shape[0]):
        if texts[number, HELD] > 0:
            offset, length = texts[number, OFFSET], texts[number, LENGTH]
            out[end : end + length] = data[offset : offset + length]
            texts[number, OFFSET] = end
            end += length
    return end
