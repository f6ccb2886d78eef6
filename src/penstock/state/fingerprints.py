"""Fingerprints: two 64-bit words by which rows are told apart.

Rows that are not distinct (NULL like NULL, NaN like NaN) have the same fingerprint. Of a single
fixed-width column the fingerprint is the value itself. Otherwise it is a keyed hash of 128 bits:
two different rows out of a thousand million share one with a chance below 1e-20, and the key is
drawn anew in every process, so that no input can be made to collide. Fingerprints are therefore
never saved: a restored operator computes them again from its rows.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from penstock.state.arrays import Flags, Words, is_text, text_parts, validity_of, values_of
from penstock.state.hashing import mix_text, mix_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

_KEY = np.array([secrets.randbits(64) | 1, secrets.randbits(64) | 1], dtype=np.uint64)
_BITS = 64
"""So many columns say in one word where they are NULL."""


def fingerprints(columns: Sequence[pa.Array], length: int) -> Words:
    """The fingerprints of rows, as an array of two columns."""
    found = np.zeros((length, 2), dtype=np.uint64)
    if len(columns) == 1 and not is_text(columns[0].type) and columns[0].type.bit_width <= 64:
        _keep_single(columns[0], found)
        return found
    _mix(found, columns, _KEY)
    return found


def _mix(found: Words, columns: Sequence[pa.Array], key: Words) -> None:
    nulls = np.zeros(len(found), np.uint64)
    for number, column in enumerate(columns):
        valid = validity_of(column)
        if is_text(column.type):
            starts, content = text_parts(column)
            there = np.ones(len(found), np.bool_) if valid is None else valid
            mix_text(found, starts, content, there, key)
        else:
            for word in _words(column):
                mix_words(found, word, key)
        if valid is not None:
            nulls |= (~valid).astype(np.uint64) << np.uint64(number % _BITS)
        if number % _BITS == _BITS - 1 or number == len(columns) - 1:
            mix_words(found, nulls, key)
            nulls[:] = 0


def any_null(columns: Sequence[pa.Array], length: int) -> Flags | None:
    """The rows that have a NULL among the columns; None if no row has."""
    found: Flags | None = None
    for column in columns:
        valid = validity_of(column)
        if valid is not None:
            found = ~valid if found is None else found | ~valid
    assert found is None or len(found) == length
    return found


def _keep_single(column: pa.Array, found: Words) -> None:
    (word,) = _words(column)
    found[:, 0] = word
    valid = validity_of(column)
    if valid is not None:
        found[:, 1] = ~valid


def _words(column: pa.Array) -> list[Words]:
    """The values as unsigned words, zero under NULLs."""
    values = values_of(column)
    if values.ndim == 2:
        parts = [np.ascontiguousarray(values[:, 0]), np.ascontiguousarray(values[:, 1])]
    elif values.dtype == np.float64:
        # -0.0 becomes 0.0, and every NaN the same one.
        parts = [np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)]
    else:
        parts = [values.astype(np.int64).view(np.uint64)]
    valid = validity_of(column)
    return parts if valid is None else [np.where(valid, part, np.uint64(0)) for part in parts]
