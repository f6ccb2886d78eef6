"""The first of two phases of an aggregate: what becomes of its rows.

Where a value needs more than its column holds, a second row has the rest: an aggregate over all
rows that are sent gives the same either way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators.decimal_words import from_words, words_of
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.partials_loops import summed
from penstock.operators.output.order_limit import order_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.failures import Failures
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.block import Block
    from penstock.state.arrays import Flags, Ints, Places

_MOST = 2.0**62
"""Sums of numbers that are together below this in absolute value stay within 64 bits."""
_LEAST, _GREATEST = ("min", "bool_and"), ("max", "bool_or")
"""What is chosen from values: FALSE is less than TRUE."""


class Whole(NamedTuple):
    """The totals of stretches of rows; of some, a rest is to be added in a row of its own."""

    values: pa.Array
    rests: pa.Array
    has_rest: Flags


@dataclass(frozen=True)
class Partial(ABC):
    """An aggregate over the rows of one validity."""

    arguments: Sequence[Evaluator]
    type: pa.DataType

    def values(self, block: Block, failures: Failures) -> pa.Array:
        """The total of one row alone."""
        (argument,) = self.arguments
        return argument(block.columns, len(block), failures).cast(self.type)

    @abstractmethod
    def together(self, values: pa.Array, order: Ints | Places, starts: Ints) -> Whole | None:
        """The totals of stretches of rows, in an order, that begin at starts; None if too much."""

    def _alone(self, values: pa.Array) -> Whole:
        return Whole(values, pa.nulls(len(values), self.type), np.zeros(len(values), np.bool_))


class PartialCount(Partial):
    """COUNT."""

    def values(self, block: Block, failures: Failures) -> pa.Array:
        """A number for each row that counts."""
        known = np.ones(len(block), np.int64)
        for argument in self.arguments:
            column = argument(block.columns, len(block), failures)
            known &= column.is_valid().to_numpy(zero_copy_only=False)
        return pa.array(known, self.type)

    def together(self, values: pa.Array, order: Ints | Places, starts: Ints) -> Whole:
        """The number of those that count."""
        if self.arguments:
            numbers = np.add.reduceat(values.to_numpy()[order], starts)
        else:
            numbers = np.diff(starts, append=len(order))
        counts = pa.array(numbers, self.type)
        # The rest of another value counts no row.
        none = np.zeros(len(starts), np.int64)
        return Whole(counts, pa.array(none, self.type), none.astype(np.bool_))


class PartialSum(Partial):
    """SUM of integers, and of decimals that fit into one word."""

    def together(self, values: pa.Array, order: Ints | Places, starts: Ints) -> Whole | None:
        """The sums, unless some may leave 64 bits."""
        values = values.take(pa.array(order))
        decimal = pa.types.is_decimal(self.type)
        numbers = words_of(values)[:, 0] if decimal else values.fill_null(0).to_numpy()
        if np.abs(numbers.astype(float)).sum() >= _MOST:
            return None
        sums, unknown = np.add.reduceat(numbers, starts), _unknown(values, starts)
        if not decimal:
            return self._alone(pa.array(sums, self.type, mask=unknown))
        return self._alone(from_words(np.stack([sums, sums >> 63], axis=1), self.type, unknown))


class PartialFloatSum(Partial):
    """SUM of doubles: as they are exact in the end, what rounding takes away is sent as well."""

    def together(self, values: pa.Array, order: Ints | Places, starts: Ints) -> Whole | None:
        """The sums, unless one of them needs more than two doubles."""
        sums, rests = np.empty(len(starts)), np.empty(len(starts))
        known = values.fill_null(0.0) if values.null_count else values
        numbers = owned(known.to_numpy(zero_copy_only=False))
        if not summed(numbers, order, starts, sums, rests):
            return None
        whole = pa.array(sums, self.type, mask=_unknown(values, starts, order))
        return Whole(whole, pa.array(rests, self.type), rests != 0.0)


@dataclass(frozen=True)
class PartialChoice(Partial):
    """MIN, MAX, BOOL_AND, BOOL_OR."""

    function: str

    def together(self, values: pa.Array, order: Ints | Places, starts: Ints) -> Whole:
        """The least or the greatest value of each stretch; NULL if all are."""
        codes = order_codes(values)[order]
        if self.function in _LEAST:
            # A NULL, which has code 0, is to lose here as well.
            codes = np.where(codes == 0, 0, codes.max() + 1 - codes)
        most = np.repeat(np.maximum.reduceat(codes, starts), np.diff(starts, append=len(codes)))
        found = np.flatnonzero(codes == most)
        chosen = order[found[np.searchsorted(found, starts)]]
        return self._alone(values.take(pa.array(chosen)))


def partial_for(function: str, arguments: Sequence[Evaluator], of: pa.DataType) -> Partial:
    """The partial of an aggregate that has phases."""
    if function in _LEAST or function in _GREATEST:
        return PartialChoice(arguments, of, function)
    if function == "count":
        return PartialCount(arguments, of)
    return (PartialFloatSum if of == pa.float64() else PartialSum)(arguments, of)


def _unknown(values: pa.Array, starts: Ints, order: Ints | Places | None = None) -> Flags:
    """The stretches of which all values are NULL."""
    if not values.null_count:
        return np.zeros(len(starts), np.bool_)
    known = values.is_valid().to_numpy(zero_copy_only=False)
    known = known if order is None else known[order]
    return ~np.logical_or.reduceat(known, starts)
