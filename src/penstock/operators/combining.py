"""Rows of one validity put together, before they are sent to where they are aggregated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.errors import InternalError
from penstock.operators.block import Block
from penstock.operators.buffered import Buffered
from penstock.operators.ordering import order_codes
from penstock.state.fingerprints import fingerprints
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.compute.evaluate import Evaluator
    from penstock.compute.failures import Failures
    from penstock.state.arrays import Ints

_MOST = 2.0**62
"""Sums of numbers that are together below this in absolute value stay within 64 bits."""


LEAST, GREATEST = ("min", "bool_and"), ("max", "bool_or")
"""What is chosen from values: FALSE is less than TRUE."""


@dataclass(frozen=True)
class Partial:
    """COUNT, SUM of integers, MIN, MAX, BOOL_AND or BOOL_OR over the rows of one validity."""

    function: str
    arguments: Sequence[Evaluator]
    type: pa.DataType

    def values(self, block: Block, failures: Failures) -> pa.Array:
        """What one row alone amounts to."""
        found = [one(block.columns, len(block), failures) for one in self.arguments]
        if self.function != "count":
            return found[0].cast(self.type)
        known = np.ones(len(block), np.int64)
        for column in found:
            known &= column.is_valid().to_numpy(zero_copy_only=False)
        return pa.array(known, self.type)

    def together(self, values: pa.Array, starts: Ints) -> pa.Array:
        """What stretches of rows amount to, of which each begins at a start."""
        if self.function in LEAST or self.function in GREATEST:
            return values.take(pa.array(self._chosen(values, starts)))
        known = values.is_valid().to_numpy(zero_copy_only=False)
        sums = np.add.reduceat(values.fill_null(0).to_numpy(), starts)
        return pa.array(sums, self.type, mask=~np.logical_or.reduceat(known, starts))

    def _chosen(self, values: pa.Array, starts: Ints) -> Ints:
        """The place of the least or the greatest value of each stretch; a NULL if all are."""
        codes = order_codes(values)
        if self.function in LEAST:
            # A NULL, which has code 0, is to lose here as well.
            codes = np.where(codes == 0, 0, codes.max() + 1 - codes)
        stretches = np.zeros(len(values), np.int64)
        stretches[starts[1:]] = 1
        order = np.lexsort((codes, np.cumsum(stretches)))
        return np.asarray(order[np.append(starts[1:], len(values)) - 1])


class Combining(Buffered):
    """One row for rows with equal keys and one validity; nothing is remembered between steps."""

    meets = False

    def __init__(
        self, keys: Sequence[Evaluator], partials: Sequence[Partial], failures: Failures
    ) -> None:
        super().__init__()
        self._keys = tuple(keys)
        self._partials = tuple(partials)
        self._failures = failures

    def step(self, inputs: Sequence[Block | None], clock: int) -> Sequence[Block]:
        """The rows of a step, put together."""
        (block,) = inputs
        if block is None:
            return ()
        if block.sign is not None:
            msg = "rows that are withdrawn cannot be put together"
            raise InternalError(msg)
        keys = tuple(key(block.columns, len(block), self._failures) for key in self._keys)
        values = [one.values(block, self._failures) for one in self._partials]
        compared = _compared(keys, block)
        order = order_of(*compared)
        starts = _starts(compared, order)
        if len(starts) == len(block) or not self._fits(values):
            return [block.with_columns((*keys, *values))]
        first = order[starts]
        whole = [
            one.together(column.take(pa.array(order)), starts)
            for one, column in zip(self._partials, values, strict=True)
        ]
        columns = (*(key.take(pa.array(first)) for key in keys), *whole)
        return [Block(columns, block.ts[first], block.te[first]).by_time()]

    def _fits(self, values: Sequence[pa.Array]) -> bool:
        """Whether all sums fit, however rows are put together."""
        sums = (v for one, v in zip(self._partials, values, strict=True) if one.function == "sum")
        return all(np.abs(one.fill_null(0).to_numpy().astype(float)).sum() < _MOST for one in sums)


def _compared(keys: Sequence[pa.Array], block: Block) -> list[Ints]:
    """Numbers that are all equal in rows that may be put together."""
    compared = [block.ts, block.te]
    if keys:
        compared += list(fingerprints(tuple(keys), len(block)).view(np.int64).T)
    return compared


def _starts(compared: Sequence[Ints], order: Ints) -> Ints:
    """Where rows begin that differ from the one before."""
    is_new = np.zeros(len(order), np.bool_)
    is_new[0] = True
    for one in compared:
        ordered = one[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    return np.flatnonzero(is_new)
