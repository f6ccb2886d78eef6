"""Rows as bytes that compare as ORDER BY does, ties by the whole row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregate.accumulators.codes import DirectCodes, codes_for
from penstock.operators.aggregate.accumulators.counting import known_of
from penstock.operators.aggregate.accumulators.decimal_words import words_of
from penstock.operators.aggregate.accumulators.pool import binary_of
from penstock.operators.output.order_bytes_loops import text_room, write_text, write_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.algebra.types import Type
    from penstock.operators.aggregate.accumulators.events import Bools, Bytes
    from penstock.state.arrays import Ints

SIGN = np.int64(-(2**63))
NULL_FIRST, KNOWN, NULL_LAST = 0, 1, 2


class _Part:
    """A column of what rows are ordered by, and the bytes that it takes of each row."""

    def __init__(self, column: pa.Array, type_: Type, descending: bool, nulls_first: bool) -> None:
        self.known: Bools = known_of([column], len(column))
        self.flip = 0xFF if descending else 0
        self.null = NULL_FIRST if nulls_first else NULL_LAST
        codes = codes_for(type_)
        self.words: Ints | None = None
        if isinstance(codes, DirectCodes):
            self.words = codes.encode(column, self.known).reshape(-1, 1) ^ SIGN
        elif type_.is_decimal:
            self.words = words_of(column)[:, ::-1].copy()
            self.words[:, 0] ^= SIGN
        else:
            self.text = binary_of(column)

    def room(self) -> Ints:
        """Bytes of each row: a mark, and the value if it is known."""
        if self.words is None:
            return text_room(*self.text, self.known)
        return np.where(self.known, 1 + 8 * self.words.shape[1], 1)

    def write(self, data: Bytes, places: Ints) -> None:
        """Write the values at places, which move on behind them."""
        if self.words is None:
            write_text(*self.text, self.known, self.flip, self.null, data, places)
        else:
            write_words(self.words, self.known, self.flip, self.null, data, places)


def order_bytes(
    columns: Sequence[pa.Array],
    types: Sequence[Type],
    directions: Sequence[tuple[bool, bool]],
    length: int,
) -> tuple[Ints, Bytes]:
    """Offsets and bytes of rows; `directions` say which columns descend, and have NULLs first."""
    parts = [
        _Part(column, type_, *direction)
        for column, type_, direction in zip(columns, types, directions, strict=True)
    ]
    room = np.zeros(length, np.int64)
    for part in parts:
        room += part.room()
    offsets = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    data, places = np.empty(offsets[-1], np.uint8), offsets[:-1].copy()
    for part in parts:
        part.write(data, places)
    return offsets, data
