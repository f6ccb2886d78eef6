"""Doubles as multiples of a unit 2^-u, and variances of such multiples; compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.aggregate.accumulators.limbs import ONE, ZERO, magnitude, multiply, rounded
from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Bytes, Doubles, Int64s, UInt64s

FRACTION = 2**52 - 1
HIDDEN = 2**52
BIAS = 1075
ORDINARY, EXTREME, SPECIAL = 0, 1, 2


@compiled
def split(
    bits: Int64s, unit: int, limit: int, mantissas: Int64s, shifts: Int64s, kinds: Bytes
) -> None:
    """Every double (given as its bits) as mantissa * 2^(shift - unit).

    Finite ones with a shift outside of 0..limit are EXTREME, infinities and NaN SPECIAL; both get
    the mantissa 0.
    """
    for i in range(bits.size):
        exponent = (bits[i] >> 52) & 0x7FF
        mantissa = bits[i] & FRACTION
        if exponent > 0:
            mantissa |= HIDDEN
        shift = max(exponent, 1) - BIAS + unit
        kind = ORDINARY
        if exponent == 0x7FF:
            kind = SPECIAL
        elif mantissa != 0 and (shift < 0 or shift > limit):
            kind = EXTREME
        plain = kind == ORDINARY and mantissa != 0
        mantissas[i] = (-mantissa if bits[i] < 0 else mantissa) if plain else 0
        shifts[i] = shift if plain else 0
        kinds[i] = kind


@compiled
def squares(numbers: Int64s, lows: Int64s, highs: Int64s) -> None:
    """The square of each number as a low and a high word."""
    for i in range(numbers.size):
        size = np.uint64(abs(numbers[i]))
        low, high = multiply(size, size, ZERO)
        lows[i] = np.int64(low)
        highs[i] = np.int64(high)


@compiled
def spread(count: int, total: UInt64s, squared: UInt64s, row: int, out: UInt64s) -> None:
    """Count * (a row of) sums of squares - (sum)^2, given |sum|: exact, hence never negative."""
    carry = ZERO
    factor = np.uint64(count)
    for i in range(out.size):
        word = squared[row, i] if i < squared.shape[1] else ZERO
        out[i], carry = multiply(word, factor, carry)
    for i in range(total.size):
        if total[i] != ZERO:
            subtract_product(out, i, total[i], total)


@compiled
def subtract_product(out: UInt64s, place: int, factor: np.uint64, number: UInt64s) -> None:
    """Subtract factor * number * 2^(64 * place)."""
    carry, borrow = ZERO, ZERO
    for i in range(place, out.size):
        j = i - place
        if j >= number.size and carry == ZERO and borrow == ZERO:
            return
        word = number[j] if j < number.size else ZERO
        low, carry = multiply(factor, word, carry)
        before = out[i]
        after = before - low
        under = ONE if before < low else ZERO
        out[i] = after - borrow
        borrow = under | (ONE if after < borrow else ZERO)


@compiled
def variances(
    counts: Int64s, totals: UInt64s, squared: UInt64s, freedom: int, unit: int, out: Doubles
) -> None:
    """The variance over count - freedom at each point, of sums in units 2^-u and 2^-2u."""
    size = np.empty(totals.shape[1], np.uint64)
    work = np.empty(squared.shape[1] + 1, np.uint64)
    for p in range(counts.size):
        count = counts[p]
        if count <= freedom:
            out[p] = 0.0
            continue
        magnitude(totals, p, size)
        spread(count, size, squared, p, work)
        out[p] = rounded(work, -2 * unit) / (float(count) * float(count - freedom))
