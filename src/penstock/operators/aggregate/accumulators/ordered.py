"""MEDIAN, QUANTILE, and MIN and MAX where elements may be withdrawn: ranks among all values."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.expressions import Literal
from penstock.algebra.types import DOUBLE
from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    INT64,
    Accumulator,
    Values,
)
from penstock.operators.aggregate.accumulators.codes import (
    Codes,
    PooledCodes,
    codes_for,
    doubles_of,
)
from penstock.operators.aggregate.accumulators.counting import known_of
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.tree import CountedTree

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import (
        Bools,
        Doubles,
        GroupEvents,
        Int64s,
        Payload,
    )
    from penstock.operators.aggregate.accumulators.tree_sweeps import Rank

EXACT = 2**31
"""Denominators below this are multiplied exactly with any number of rows."""


class OrderedAccumulator(Accumulator):
    """An aggregate that is the value at a rank, or lies between two.

    The rank is exact for fractions of up to nine digits; beyond them it is a double.
    """

    payload_types = (INT64, BOOL)

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.codes: Codes = codes_for(call.args[0].type)
        self.rank = _rank(call)
        self.tree = CountedTree(self.codes, distinct=call.distinct)
        self.kept = {"counters": self.tree}
        self.coded = self.codes.used("pool", "counters", "code", "count")

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        """The code of each value, and whether it is known."""
        known = known_of(args[:1], length)
        return self.codes.encode(args[0], known), known

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        """The values at the rank."""
        codes, weights = owned(payload[0]), events.weights(payload[1])
        low, high, beyond = self.tree.sweep(events, weights, codes, self.rank)
        known = beyond >= 0
        if self.call.function in ("min", "max"):
            values = self.codes.decode(low, known)
        else:
            values = pa.array(self._between(low, high, beyond), self.type, mask=~known)
        self.codes.release(codes[weights < 0])
        return values, 0

    def drop(self, payload: Payload) -> None:
        """Let go of the values."""
        self.codes.release(payload[0][payload[1]])

    def _between(self, low: Int64s, high: Int64s, beyond: Doubles) -> Doubles:
        if self.codes.type == DOUBLE:
            lowest, highest = doubles_of(low), doubles_of(high)
            with np.errstate(invalid="ignore", over="ignore"):
                results = interpolate((lowest, lowest * 0), (highest, highest * 0), beyond)
                finite = np.isfinite(lowest) & np.isfinite(highest)
                results = np.where(finite, results, lowest + highest)
            return np.where(beyond > 0, results, lowest)
        below = self._numbers(low, beyond >= 0)
        above = self._numbers(high, beyond > 0)
        return interpolate(below, above, np.maximum(beyond, 0)) / 10.0**self.codes.type.scale

    def _numbers(self, codes: Int64s, known: Bools) -> tuple[Doubles, Doubles]:
        """Exact numbers, unscaled, each as the sum of a double and a small one."""
        if not isinstance(self.codes, PooledCodes):
            return _halves(codes, codes >> 63)
        words = self.codes.words(codes, known)
        return _halves(words[:, 0], words[:, 1])

    def shrink(self) -> Mapping[int, Int64s]:
        """Give back the room of values."""
        new_codes = self.codes.compact()
        if new_codes is None:
            return {}
        self.tree.recode(new_codes)
        return {0: new_codes}


def _rank(call: AggregateCall) -> Rank:
    if call.function in ("min", "max"):
        return int(call.function == "max"), 1, 0.0
    fraction = 0.5
    if call.function == "quantile":
        assert isinstance(call.args[1], Literal)
        fraction = float(call.args[1].value)  # type: ignore[arg-type]
    # Read as the decimal that was written, 0.1 as one tenth.
    exact = Fraction(repr(fraction))
    if exact.denominator < EXACT:
        return exact.numerator, exact.denominator, fraction
    return 0, 0, fraction


def _halves(low: Int64s, high: Int64s) -> tuple[Doubles, Doubles]:
    """The number high * 2^64 + low (unsigned) as the sum of a double and a small one."""
    total, error = _two_sum(np.ldexp((high >> 32).astype(np.float64), 96), _lower(high, 64))
    for part in (_lower(low >> 32, 32), _lower(low, 0)):
        total, rest = _two_sum(total, part)
        error += rest
    return _two_sum(total, error)


def _lower(words: Int64s, exponent: int) -> Doubles:
    """The lower 32 bits times 2^exponent."""
    return np.ldexp((words & (2**32 - 1)).astype(np.float64), exponent)


def _two_sum(left: Doubles, right: Doubles) -> tuple[Doubles, Doubles]:
    """The rounded sum and what it lacks (Knuth)."""
    total = left + right
    part = total - left
    return total, (left - (total - part)) + (right - part)


def interpolate(
    low: tuple[Doubles, Doubles], high: tuple[Doubles, Doubles], beyond: Doubles
) -> Doubles:
    """The value low + (high - low) * beyond of numbers that are each a sum of two doubles."""
    apart, error = _two_sum(high[0], -low[0])
    error += high[1] - low[1]
    total, rest = _two_sum(low[0], apart * beyond)
    result = total + (rest + low[1] + error * beyond)
    # Numbers so far apart that their difference overflows are weighed one by one.
    return np.where(np.isfinite(apart), result, low[0] * (1 - beyond) + high[0] * beyond)
