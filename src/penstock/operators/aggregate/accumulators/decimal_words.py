"""Arrow decimals as pairs of 64-bit words (low, high), and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bools, Int64s


def words_of(array: pa.Array) -> Int64s:
    """The unscaled numbers, zero for NULL.

    >>> from decimal import Decimal
    >>> words_of(pa.array([Decimal("-1.5"), None], pa.decimal128(20, 1))).tolist()
    [[-15, -1], [0, 0]]
    """
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)
    words = words[array.offset : array.offset + len(array)].copy()
    if array.null_count:
        words[array.is_null().to_numpy(zero_copy_only=False)] = 0
    return words


def from_words(words: Int64s, type_: pa.DataType, unknown: Bools) -> pa.Array:
    """An array of decimals, NULL where unknown."""
    valid = np.packbits(~unknown, bitorder="little")
    buffers = [pa.py_buffer(valid), pa.py_buffer(np.ascontiguousarray(words))]
    return pa.Array.from_buffers(type_, len(words), buffers)
