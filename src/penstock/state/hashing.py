"""The loops behind fingerprints: a keyed hash of words and of strings, 128 bits wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from penstock.state.arrays import Flags, Ints, Words

_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(32)


@compiled
def mixed(state: np.uint64, word: np.uint64, key: np.uint64) -> np.uint64:
    """The state of a hash after one more word (the finisher of MurmurHash3, keyed)."""
    state = (state ^ word) * key + _FIRST
    state ^= state >> _SHIFT
    state *= _SECOND
    state ^= state >> np.uint64(29)
    state *= _FIRST
    return state ^ (state >> _SHIFT)


@compiled
def mix_words(found: Words, words: Words, key: Words) -> None:
    """Mix one word into the fingerprint of each row."""
    for row in range(len(words)):
        found[row, 0] = mixed(found[row, 0], words[row], key[0])
        found[row, 1] = mixed(found[row, 1], words[row], key[1])


@compiled
def mix_text(
    found: Words, starts: Ints, content: npt.NDArray[np.uint8], valid: Flags, key: Words
) -> None:
    """Mix one string into the fingerprint of each row, eight bytes at a time, length last.

    What lies under a NULL is arbitrary, and left out.
    """
    for row in range(len(found)):
        if not valid[row]:
            continue
        first, second = found[row, 0], found[row, 1]
        word = np.uint64(0)
        filled = 0
        for place in range(starts[row], starts[row + 1]):
            word |= np.uint64(content[place]) << np.uint64(8 * filled)
            filled += 1
            if filled == 8:
                first, second = mixed(first, word, key[0]), mixed(second, word, key[1])
                word = np.uint64(0)
                filled = 0
        if filled:
            first, second = mixed(first, word, key[0]), mixed(second, word, key[1])
        length = np.uint64(starts[row + 1] - starts[row])
        found[row, 0] = mixed(first, length, key[0])
        found[row, 1] = mixed(second, length, key[1])
