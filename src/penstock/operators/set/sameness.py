"""Rows of a group that are the same as the row before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.operators.set.sameness_loops import tell_apart
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
        _compare_column(column, first, is_first, same)
    return np.where(exists & there_before, same, exists == there_before)


def _compare_column(column: pa.Array, first: pa.Array, is_first: Flags, same: Flags) -> None:
    """Rows whose value is distinct from the one before it are not the same."""
    if is_text(column.type):
        same &= _same_texts(column, first, is_first)
        return
    valid, first_valid = _flags(validity_of(column)), _flags(validity_of(first))
    for values, firsts in zip(_words(column), _words(first), strict=True):
        tell_apart(values, valid, firsts, first_valid, is_first, same)


def _words(column: pa.Array) -> list[Values]:
    """The values in as few kinds of arrays as possible: a loop is compiled for each kind."""
    values = values_of(column)
    if values.dtype != np.float64:
        values = values.astype(np.int64, copy=False)
    parts = [values] if values.ndim == 1 else [np.ascontiguousarray(one) for one in values.T]
    return [_read_only(part) for part in parts]


def _flags(valid: Flags | None) -> Flags:
    return _read_only(np.zeros(0, np.bool_) if valid is None else valid)


def _read_only(values: Values) -> Values:
    view = values.view()
    view.flags.writeable = False
    return view


def _same_texts(column: pa.Array, first: pa.Array, is_first: Flags) -> Flags:
    same = np.empty(len(column), np.bool_)
    same[1:] = _same_values(column[1:], column[:-1])
    same[is_first] = _same_values(column.take(pa.array(np.flatnonzero(is_first))), first)
    return same


def _same_values(left: pa.Array, right: pa.Array) -> Flags:
    equal = pc.equal(left, right).fill_null(False)
    both_null = pc.and_(left.is_null(), right.is_null())
    return np.asarray(pc.or_(equal, both_null).to_numpy(zero_copy_only=False))
