"""Rows of one validity put together, before they are sent to where they are aggregated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock.errors import InternalError
from penstock.operators.aggregate.partials_loops import in_order_of_codes
from penstock.operators.block import Block, concatenated, rows_by_time
from penstock.operators.operator import Inputs, Operator
from penstock.state.fingerprints import fingerprints
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.aggregate.partials import Partial, Whole
    from penstock.state.arrays import Ints, Places

_MOST_CODES = 1 << 16
"""So many groups have numbers of 16 bits."""


class CombineOperator(Operator):
    """One row for rows with equal keys and one validity; nothing is remembered between steps."""

    meets = False

    def __init__(
        self, keys: Sequence[Evaluator], partials: Sequence[Partial], failures: Failures
    ) -> None:
        self._keys = tuple(keys)
        self._partials = tuple(partials)
        self._failures = failures

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of a step, put together."""
        (block,) = map(rows_by_time, inputs)
        if block is None:
            return ()
        if block.sign is not None:
            msg = "rows that are withdrawn cannot be put together"
            raise InternalError(msg)
        keys = tuple(key(block.columns, len(block), self._failures) for key in self._keys)
        values = [one.values(block, self._failures) for one in self._partials]
        order, starts = _groups(keys, block)
        wholes = self._wholes(values, order, starts) if len(starts) < len(block) else None
        if wholes is None:
            return [block.with_columns((*keys, *values))]
        first = order[starts]
        heads = tuple(key.take(pa.array(first)) for key in keys)
        whole = Block((*heads, *(one.values for one in wholes)), block.ts[first], block.te[first])
        left = np.logical_or.reduce([one.has_rest for one in wholes] or [np.zeros(0, np.bool_)])
        if not left.any():
            return [whole.by_time()]
        rest = whole.with_columns((*heads, *(one.rests for one in wholes)))
        return [concatenated([whole, rest.take(left)]).by_time()]

    def _wholes(
        self, values: Sequence[pa.Array], order: Ints | Places, starts: Ints
    ) -> list[Whole] | None:
        """The totals of the stretches; None if one of the values would be too much for that."""
        wholes = [
            one.together(column, order, starts)
            for one, column in zip(self._partials, values, strict=True)
        ]
        found = [one for one in wholes if one is not None]
        return found if len(found) == len(wholes) else None


def _groups(keys: Sequence[pa.Array], block: Block) -> tuple[Ints | Places, Ints]:
    """An order in which rows that may be put together follow each other, and where they begin."""
    codes = _codes(keys, block)
    if codes is None:
        compared = _compared(keys, block)
        order = order_of(*compared)
        return order, _starts(compared, order)
    most = int(codes.max())
    if most > 2 * len(codes):
        # Of 16 bits NumPy sorts digit by digit.
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        return order, np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    counts = np.zeros(most + 1, np.int64)
    places = np.empty(len(codes), np.int32)
    in_order_of_codes(codes, counts, places)
    used = counts[counts > 0]
    return places, np.cumsum(used) - used


def _codes(keys: Sequence[pa.Array], block: Block) -> np.ndarray[tuple[int], np.dtype[Any]] | None:
    """Numbers of 16 bits for the keys of rows of one validity; None if there is no such thing."""
    if not len(block) or block.ts[0] != block.ts.max() or block.te[0] != block.te.max():
        return None
    if block.ts[0] != block.ts.min() or block.te[0] != block.te.min():
        return None
    codes, count = np.zeros(len(block), np.int64), 1
    for key in keys:
        # Not of doubles: zeros of both signs are equal, and NaNs are.
        if pa.types.is_floating(key.type):
            return None
        places, different = _places(key)
        count *= different
        if count > _MOST_CODES:
            return None
        codes = codes * different + places if len(keys) > 1 else places
    return codes.astype(np.uint16)


def _places(key: pa.Array) -> tuple[Ints, int]:
    """Numbers from 0 for the values of a key, and how many there may be."""
    if pa.types.is_integer(key.type) and not key.null_count:
        values = key.to_numpy()
        # The difference of two short numbers may need more than they have.
        values = values.astype(np.int32) if values.itemsize < 4 else values
        least, most = int(values.min()), int(values.max())
        if most - least < _MOST_CODES:
            return values - values.dtype.type(least), most - least + 1
    encoded = key.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(), len(encoded.dictionary)


def _compared(keys: Sequence[pa.Array], block: Block) -> list[Ints]:
    """Numbers that are all equal in rows that may be put together."""
    compared = [block.ts, block.te]
    if keys:
        compared += list(fingerprints(tuple(keys), len(block)).view(np.int64).T)
    return compared


def _starts(compared: Sequence[Ints], order: Ints) -> Ints:
    """The places where rows begin that differ from the one before."""
    is_new = np.zeros(len(order), np.bool_)
    is_new[0] = True
    for one in compared:
        ordered = one[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    return np.flatnonzero(is_new)
