"""Which rows of a group are the same as the row before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.state.arrays import is_text, validity_of, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Flags, Values


def same_rows(
    rows: Sequence[pa.Array],
    before: Sequence[pa.Array],
    is_first: Flags,
    exists: Flags,
    was_there: Flags,
) -> Flags:
    """For rows in groups, whether nothing changes at each.

    A row is compared with the one in front of it; the first of each group with that group's row in
    `before`, which was there or not. `exists` says the same of `rows`: no row is like no row.
    """
    there_before = np.empty(len(is_first), np.bool_)
    there_before[1:] = exists[:-1]
    there_before[is_first] = was_there
    same = np.ones(len(is_first), np.bool_)
    for column, first in zip(rows, before, strict=True):
        same &= _same_column(column, first, is_first)
    return np.where(exists & there_before, same, exists == there_before)


def _same_column(column: pa.Array, first: pa.Array, is_first: Flags) -> Flags:
    """Whether each value is not distinct from the one before it."""
    if is_text(column.type):
        return _same_texts(column, first, is_first)
    values, valid = values_of(column), validity_of(column)
    previous = np.empty_like(values)
    previous[1:] = values[:-1]
    previous[is_first] = values_of(first)
    same = _equal(values, previous)
    first_valid = validity_of(first)
    if valid is None and first_valid is None:
        return same
    now = np.ones(len(values), np.bool_) if valid is None else valid
    earlier = np.empty_like(now)
    earlier[1:] = now[:-1]
    earlier[is_first] = True if first_valid is None else first_valid
    return np.where(now & earlier, same, now == earlier)


def _equal(left: Values, right: Values) -> Flags:
    """Values alike; NaN is like NaN."""
    if left.dtype == np.float64:
        return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))
    return np.asarray((left == right).all(axis=1) if left.ndim == 2 else left == right)


def _same_texts(column: pa.Array, first: pa.Array, is_first: Flags) -> Flags:
    same = np.empty(len(column), np.bool_)
    same[1:] = _same_values(column[1:], column[:-1])
    same[is_first] = _same_values(column.take(pa.array(np.flatnonzero(is_first))), first)
    return same


def _same_values(left: pa.Array, right: pa.Array) -> Flags:
    equal = pc.equal(left, right).fill_null(False)
    both_null = pc.and_(left.is_null(), right.is_null())
    return np.asarray(pc.or_(equal, both_null).to_numpy(zero_copy_only=False))
