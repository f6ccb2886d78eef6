"""SUM and AVG of integers and decimals: exact sums of 192 bits per group."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators import limbs
from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    INT64,
    Accumulator,
    Values,
)
from penstock.operators.aggregate.accumulators.counting import Counts, known_of, rows_of
from penstock.operators.aggregate.accumulators.decimal_words import from_words, words_of
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.group_slots import GroupSlots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.algebra.types import Type
    from penstock.operators.aggregate.accumulators.events import (
        Bools,
        GroupEvents,
        Int8s,
        Int64s,
        Payload,
        UInt64s,
    )

WIDTH = 3
"""Limbs: 2^64 decimals of 38 digits cannot leave them."""
ONE_WORD = 18
"""Decimals of so many digits fit into one 64-bit word."""


class Sums(GroupSlots):
    """Exact sums of wide integers per group."""

    def __init__(self, width: int) -> None:
        super().__init__(width, np.uint64)

    def sweep(
        self, events: GroupEvents, weights: Int8s, lows: Int64s, highs: Int64s, shifts: Int64s
    ) -> UInt64s:
        """Add one number (see `limbs.add`) per event; the sums at the points."""
        self.reach(events.slots)
        out = np.empty((len(events.points), self.rows.shape[1]), np.uint64)
        limbs.sweep(events.groups, weights, lows, highs, shifts, events.points, self.rows, out)
        return out

    def sweep_words(self, events: GroupEvents, weights: Int8s, words: Int64s) -> UInt64s:
        """The same for numbers of one word, into sums of `WIDTH` limbs."""
        self.reach(events.slots)
        out = np.empty((len(events.points), WIDTH), np.uint64)
        limbs.sweep_words(events.groups, weights, words, events.points, self.rows, out)
        return out


class ExactSum(Accumulator):
    """SUM or AVG over INT, BIGINT or DECIMAL; a sum beyond the result's type is NULL.

    AVG may have a second argument: of how many rows the first one is the sum.
    """

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.of: Type = call.args[0].type
        self.wide = self.of.is_decimal and self.of.precision > ONE_WORD
        self.words = 1 + self.wide
        rows = len(call.args) - 1
        self.payload_types = (*[INT64] * self.words, BOOL, *[INT64] * rows)
        self.counts, self.sums = Counts(), Sums(WIDTH)
        self.kept = {"counts": self.counts, "sums": self.sums}

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The unscaled numbers in one or two words, whether each is known, and of how many."""
        known = (known_of(args[:1], length), *rows_of(args))
        if self.of.is_decimal:
            words = words_of(args[0])
            return (*(owned(words[:, i]) for i in range(self.words)), *known)
        numbers = args[0].fill_null(0).to_numpy(zero_copy_only=False)
        return (numbers.astype(np.int64), *known)

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """The sums or means; those that overflow are NULL and counted."""
        words, known = payload[: self.words], payload[self.words :]
        weights = events.weights(known[0])
        counts = self.counts.sweep(events, events.weights(known[-1]))
        sums = self._sums(events, weights, words)
        unknown = counts == 0
        if self.call.of.is_decimal:
            return self._decimals(sums, counts, unknown)
        if self.call.function == "avg":
            return pa.array(_means(sums, counts), self.type, mask=unknown), 0
        low, over = np.empty(len(sums), np.int64), np.empty(len(sums), np.bool_)
        limbs.to_words(sums, low, over)
        return pa.array(low, self.type, mask=unknown | over), int(over.sum())

    def _sums(self, events: GroupEvents, weights: Int8s, words: Payload) -> UInt64s:
        low = owned(words[0])
        if not self.wide:
            return self.sums.sweep_words(events, weights, low)
        shifts = np.zeros(len(events), np.int64)
        return self.sums.sweep(events, weights, low, owned(words[1]), shifts)

    def _decimals(self, sums: UInt64s, counts: Int64s, unknown: Bools) -> Values:
        mean = self.call.function == "avg"
        divisors = counts if mean else np.ones_like(counts)
        factor = 10 ** (self.call.of.scale - self.of.scale)
        limit = 10**self.call.of.precision
        limit_words = np.array([limit % 2**64, limit >> 64], np.uint64)
        words, fits = np.empty((len(sums), 2), np.uint64), np.empty(len(sums), np.int64)
        limbs.to_decimals(sums, divisors, factor, limit_words, words, fits)
        over = fits == 0
        return from_words(words.view(np.int64), self.type, unknown | over), int(over.sum())


def _means(sums: UInt64s, counts: Int64s) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    totals = np.empty(len(sums))
    limbs.to_doubles(sums, 0, totals)
    return totals / np.maximum(counts, 1)
