"""Spark's `xxhash64`, so that a key has the same lane wherever it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from penstock.state.arrays import Flags, Ints, Words

SEED = np.uint64(42)
_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


@compiled
def _turned(word: np.uint64, bits: int) -> np.uint64:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@compiled
def _finished(state: np.uint64) -> np.uint64:
    state ^= state >> np.uint64(33)
    state *= _P2
    state ^= state >> np.uint64(29)
    state *= _P3
    return state ^ (state >> np.uint64(32))


@compiled
def _with_long(state: np.uint64, word: np.uint64) -> np.uint64:
    state ^= _turned(word * _P2, 31) * _P1
    return _turned(state, 27) * _P1 + _P4


@compiled
def _with_int(state: np.uint64, word: np.uint64) -> np.uint64:
    state ^= word * _P1
    return _turned(state, 23) * _P2 + _P3


@compiled
def hash_longs(hashes: Words, words: Words, valid: Flags) -> None:
    """Hash a column of 64-bit values into the hashes of rows; NULL changes nothing."""
    for row in range(len(hashes)):
        if valid[row]:
            hashes[row] = _finished(_with_long(hashes[row] + _P5 + np.uint64(8), words[row]))


@compiled
def hash_ints(hashes: Words, words: Words, valid: Flags) -> None:
    """Hash a column of 32-bit values into the hashes of rows."""
    low = np.uint64(0xFFFFFFFF)
    for row in range(len(hashes)):
        if valid[row]:
            state = hashes[row] + _P5 + np.uint64(4)
            hashes[row] = _finished(_with_int(state, words[row] & low))


@compiled
def _word(content: npt.NDArray[np.uint8], at: int, width: int) -> np.uint64:
    word = np.uint64(0)
    for place in range(width):
        word |= np.uint64(content[at + place]) << np.uint64(8 * place)
    return word


@compiled
def _lane_of_four(state: np.uint64, word: np.uint64) -> np.uint64:
    return _turned(state + word * _P2, 31) * _P1


@compiled
def _merged(state: np.uint64, lane: np.uint64) -> np.uint64:
    return (state ^ (_turned(lane * _P2, 31) * _P1)) * _P1 + _P4


@compiled
def _bytes_hash(
    content: npt.NDArray[np.uint8], start: int, stop: int, seed: np.uint64
) -> np.uint64:
    at = start
    if stop - start >= 32:
        a, b, c, d = seed + _P1 + _P2, seed + _P2, seed, seed - _P1
        while at + 32 <= stop:
            a = _lane_of_four(a, _word(content, at, 8))
            b = _lane_of_four(b, _word(content, at + 8, 8))
            c = _lane_of_four(c, _word(content, at + 16, 8))
            d = _lane_of_four(d, _word(content, at + 24, 8))
            at += 32
        state = _turned(a, 1) + _turned(b, 7) + _turned(c, 12) + _turned(d, 18)
        state = _merged(_merged(_merged(_merged(state, a), b), c), d)
    else:
        state = seed + _P5
    state += np.uint64(stop - start)
    while at + 8 <= stop:
        state = _with_long(state, _word(content, at, 8))
        at += 8
    if at + 4 <= stop:
        state = _with_int(state, _word(content, at, 4))
        at += 4
    while at < stop:
        state ^= np.uint64(content[at]) * _P5
        state = _turned(state, 11) * _P1
        at += 1
    return _finished(state)


@compiled
def hash_texts(hashes: Words, starts: Ints, content: npt.NDArray[np.uint8], valid: Flags) -> None:
    """Hash a column of strings into the hashes of rows."""
    for row in range(len(hashes)):
        if valid[row]:
            hashes[row] = _bytes_hash(content, starts[row], starts[row + 1], hashes[row])
