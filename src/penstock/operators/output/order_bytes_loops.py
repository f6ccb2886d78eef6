"""Values as bytes that compare as the values do; compiled.

A value is a mark (whether it is NULL, and where NULLs stand) and its bytes: numbers with the
highest byte first, texts with an end that no text contains. Descending, all bytes are flipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bools, Bytes
    from penstock.state.arrays import Ints

_ESCAPED = 0xFF
_KNOWN = 1


@compiled
def text_room(offsets: Ints, text: Bytes, known: Bools) -> Ints:
    """Bytes that texts take: a mark, each byte, a zero as two, and two for the end."""
    room = np.ones(known.size, np.int64)
    for row in range(known.size):
        if known[row]:
            room[row] += offsets[row + 1] - offsets[row] + 2
            for place in range(offsets[row], offsets[row + 1]):
                room[row] += text[place] == 0
    return room


@compiled
def write_text(
    offsets: Ints, text: Bytes, known: Bools, flip: int, null: int, data: Bytes, places: Ints
) -> None:
    """Write texts; a zero inside is followed by a byte that is greater than the end."""
    for row in range(known.size):
        at = places[row]
        data[at] = _KNOWN if known[row] else null
        at += 1
        if known[row]:
            for place in range(offsets[row], offsets[row + 1]):
                data[at] = text[place] ^ flip
                at += 1
                if text[place] == 0:
                    data[at] = _ESCAPED ^ flip
                    at += 1
            data[at] = flip
            data[at + 1] = flip
            at += 2
        places[row] = at


@compiled
def write_words(words: Ints, known: Bools, flip: int, null: int, data: Bytes, places: Ints) -> None:
    """Write numbers of one or more words, which compare as if they had no sign."""
    for row in range(known.size):
        at = places[row]
        data[at] = _KNOWN if known[row] else null
        at += 1
        if known[row]:
            for word in range(words.shape[1]):
                value = words[row, word]
                for byte in range(8):
                    data[at] = ((value >> (56 - 8 * byte)) & 0xFF) ^ flip
                    at += 1
        places[row] = at
