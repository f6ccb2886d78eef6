"""The lane of a row: the hash of its key, the same in every process and in Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.state.arrays import is_text, text_parts, validity_of, values_of
from penstock.state.xxhash import SEED, hash_ints, hash_longs, hash_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.state.arrays import Ints, Words

LONG_DIGITS = 18
"""Digits of the widest DECIMAL that Spark hashes as a 64-bit number."""


def lanes_of(keys: Sequence[pa.Array], length: int, lanes: int) -> Ints:
    """The lane of each row, `pmod(xxhash64(keys), lanes)` in Spark.

    Keys that are not distinct (NULL like NULL, NaN like NaN, -0.0 like 0.0) have the same lane.
    Spark hashes a DECIMAL of more than 18 digits otherwise.

    >>> import pyarrow as pa
    >>> lanes_of([pa.array([1, 2, None])], 3, 4).tolist()
    [2, 1, 2]
    """
    return np.asarray(hashes_of(keys, length).view(np.int64) % lanes)


def hashes_of(keys: Sequence[pa.Array], length: int) -> Words:
    """The hash of each row, `xxhash64(keys)` in Spark; a NULL changes nothing."""
    hashes = np.full(length, SEED, np.uint64)
    for key in keys:
        _mix(hashes, key)
    return hashes


def _mix(hashes: Words, key: pa.Array) -> None:
    valid = validity_of(key)
    there = np.ones(len(hashes), np.bool_) if valid is None else valid
    if is_text(key.type):
        hash_texts(hashes, *text_parts(key), there)
        return
    values = values_of(key)
    if values.ndim > 1:
        hash_longs(hashes, np.ascontiguousarray(values[:, 0]), there)
        if key.type.precision > LONG_DIGITS:
            hash_longs(hashes, np.ascontiguousarray(values[:, 1]), there)
    elif values.dtype == np.float64:
        plain = np.where(np.isnan(values), np.nan, values + 0.0)
        hash_longs(hashes, plain.view(np.uint64), there)
    elif values.dtype.itemsize == 8:
        hash_longs(hashes, values.astype(np.int64).view(np.uint64), there)
    else:
        hash_ints(hashes, values.astype(np.int64).view(np.uint64), there)
