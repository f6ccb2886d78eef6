"""SUM, AVG, VAR and STDDEV of doubles: exact sums per group, rounded once per value.

A double is an integer times a power of two, so sums of doubles (and of their squares) are kept as
wide integers in a tiny unit. Doubles out of the range of those are left to `Extremes`, infinities
and NaN are counted; so nothing that left a group leaves an error behind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators import float_loops, limbs
from penstock.operators.aggregate.accumulators.accumulator import (
    BOOL,
    FLOAT64,
    INT64,
    Accumulator,
    GroupState,
    Values,
)
from penstock.operators.aggregate.accumulators.counting import Counts, known_of, rows_of
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.exact_sums import Sums
from penstock.operators.aggregate.accumulators.extremes import FINEST, Extreme, Extremes, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.expressions import AggregateCall
    from penstock.operators.aggregate.accumulators.events import (
        Bytes,
        Doubles,
        GroupEvents,
        Int8s,
        Int64s,
        Payload,
        UInt64s,
    )

COUNT_BITS = 41
"""Bits left free above the largest summand: sums of 2^40 rows, and a sign."""


class FloatParts(NamedTuple):
    """Doubles as mantissa * 2^(shift - unit), or of a kind for which that is not so."""

    mantissas: Int64s
    shifts: Int64s
    kinds: Bytes


class Specials(Counts):
    """Infinities and NaN in each group, counted when there are any."""

    def __init__(self) -> None:
        super().__init__(3)
        self.seen = False

    def sweep_kinds(self, events: GroupEvents, weights: Int8s, values: Doubles) -> list[Int64s]:
        """The numbers of +inf, -inf and NaN at the points."""
        kinds = (values == np.inf, values == -np.inf, np.isnan(values))
        counts = [self.sweep(events, weights * kind, column) for column, kind in enumerate(kinds)]
        self.seen = bool(self.rows.any())
        return counts

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        super().restore(table)
        self.seen = self.in_use > 0


class _Floats(Accumulator):
    """The common part of sums and variances."""

    unit: int
    """Sums count 2^-unit: the last bit of the smallest double that is not extreme."""
    width: int
    """Limbs of a sum."""

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.payload_types = (FLOAT64, BOOL, *[INT64] * (len(call.args) - 1))
        self.counts, self.sums = Counts(), Sums(self.width)
        self.extremes, self.specials = Extremes(), Specials()
        self.kept: dict[str, GroupState] = {
            "counts": self.counts,
            "sums": self.sums,
            "extremes": self.extremes,
            "specials": self.specials,
        }
        self.limit = 64 * self.width - COUNT_BITS - 53

    def prepare(self, args: Sequence[pa.Array], length: int) -> Payload:
        numbers = args[0].fill_null(0.0).to_numpy(zero_copy_only=False)
        return (numbers, known_of(args[:1], length), *rows_of(args))

    def sweep(self, events: GroupEvents, payload: Payload) -> Values:
        values, weights = owned(payload[0]), events.weights(payload[1])
        counts = self.counts.sweep(events, events.weights(payload[-1]))
        parts = self._split(values)
        sums = self._sums(events, weights, parts)
        results = self._rounded(counts, sums)
        extreme = parts.kinds == float_loops.EXTREME
        if self.extremes.groups or extreme.any():
            for start, stop, one in self.extremes.sweep(events, values, weights, extreme):
                for point in range(start, stop if one.rows else start):
                    results[point] = self._exact(int(counts[point]), [s[point] for s in sums], one)
        if self.specials.seen or (parts.kinds == float_loops.SPECIAL).any():
            self._decide(results, self.specials.sweep_kinds(events, weights, values))
        return pa.array(self._finished(results), self.type, mask=counts <= self._fewest), 0

    _fewest = 0
    """The result over so many rows is NULL."""

    def _split(self, values: Doubles) -> FloatParts:
        size = len(values)
        parts = FloatParts(
            np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint8)
        )
        float_loops.split(values.view(np.int64), self.unit, self.limit, *parts)
        return parts

    def _sums(self, events: GroupEvents, weights: Int8s, parts: FloatParts) -> tuple[UInt64s, ...]:
        """Add the ordinary doubles; the sums at the points."""
        numbers = parts.mantissas
        return (self.sums.sweep(events, weights, numbers, numbers >> 63, parts.shifts),)

    def _rounded(self, counts: Int64s, sums: tuple[UInt64s, ...]) -> Doubles:
        """The results at the points as if there were no extreme and no special doubles."""
        raise NotImplementedError

    def _exact(self, count: int, sums: list[UInt64s], extreme: Extreme) -> float:
        """The result at a point, with the group's extreme doubles."""
        raise NotImplementedError

    def _decide(self, results: Doubles, specials: list[Int64s]) -> None:
        """Overwrite the results at which infinities or NaN decide."""
        raise NotImplementedError

    def _finished(self, results: Doubles) -> Doubles:
        return results


class FloatSum(_Floats):
    """SUM or AVG, as of `ExactSum`; doubles of 2^-118 to 2^173 are ordinary."""

    unit = 170
    width = 6

    def _rounded(self, counts: Int64s, sums: tuple[UInt64s, ...]) -> Doubles:
        results = np.empty(len(counts))
        limbs.to_doubles(sums[0], -self.unit, results)
        return results / np.maximum(counts, 1) if self.call.function == "avg" else results

    def _exact(self, count: int, sums: list[UInt64s], extreme: Extreme) -> float:
        total = (whole(sums[0]) << FINEST - self.unit) + extreme.total
        return ratio(total, (count if self.call.function == "avg" else 1) << FINEST)

    def _decide(self, results: Doubles, specials: list[Int64s]) -> None:
        above, below, undefined = (count > 0 for count in specials)
        results[above] = np.inf
        results[below] = -np.inf
        results[undefined | (above & below)] = np.nan


class Variance(_Floats):
    """VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP; doubles of 2^-100 to 2^147 are ordinary."""

    unit = 152
    width = 6
    square_width = 10

    def __init__(self, call: AggregateCall) -> None:
        super().__init__(call)
        self.squares = Sums(self.square_width)
        self.kept["squares"] = self.squares
        self.limit = (64 * self.square_width - COUNT_BITS - 106) // 2
        self.freedom = self._fewest = int(call.function.endswith("_samp"))

    def _sums(self, events: GroupEvents, weights: Int8s, parts: FloatParts) -> tuple[UInt64s, ...]:
        low, high = np.empty_like(parts.mantissas), np.empty_like(parts.mantissas)
        float_loops.squares(parts.mantissas, low, high)
        squared = self.squares.sweep(events, weights, low, high, 2 * parts.shifts)
        return (*super()._sums(events, weights, parts), squared)

    def _rounded(self, counts: Int64s, sums: tuple[UInt64s, ...]) -> Doubles:
        results = np.empty(len(counts))
        totals, squares = sums
        float_loops.variances(counts, totals, squares, self.freedom, self.unit, results)
        return results

    def _exact(self, count: int, sums: list[UInt64s], extreme: Extreme) -> float:
        if count <= self.freedom:
            return 0.0
        finer = FINEST - self.unit
        total = (whole(sums[0]) << finer) + extreme.total
        square = (whole(sums[1]) << 2 * finer) + extreme.square
        spread = count * square - total * total
        return ratio(spread, count * (count - self.freedom) << 2 * FINEST)

    def _decide(self, results: Doubles, specials: list[Int64s]) -> None:
        results[sum(specials) > 0] = np.nan

    def _finished(self, results: Doubles) -> Doubles:
        return np.sqrt(results) if self.call.function.startswith("stddev") else results


def whole(row: UInt64s) -> int:
    """The integer in a row of limbs.

    >>> whole(np.array([2**64 - 2, 2**64 - 1], np.uint64))
    -2
    """
    return int.from_bytes(row.tobytes(), "little", signed=True)
