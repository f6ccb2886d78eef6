"""Sums as wide integers: a row of 64-bit limbs, least first, in two's complement; compiled.

Integers, decimals and doubles (as multiples of a tiny unit) all add up exactly this way, so that
what left a group leaves no trace.
"""

from __future__ import annotations

from math import ldexp
from typing import TYPE_CHECKING

import numpy as np

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import (
        Bools,
        Doubles,
        Int8s,
        Int64s,
        UInt64s,
    )

ZERO = np.uint64(0)
ONE = np.uint64(1)
ALL = np.uint64(2**64 - 1)
HALF = np.uint64(32)
LOW_HALF = np.uint64(2**32 - 1)
TOP = np.uint64(63)


@compiled
def add(sums: UInt64s, group: int, low: int, high: int, shift: int) -> None:
    """Add (high * 2^64 + low) * 2^shift, both words signed bits of one 128-bit number.

    The row is given as array and index, here and below: a view of its own would cost more than
    the addition.
    """
    bits = np.uint64(shift & 63)
    first, second = np.uint64(low), np.uint64(high)
    rest = ALL if high < 0 else ZERO
    if bits == ZERO:
        third = rest
    else:
        back = np.uint64(64) - bits
        third = (rest << bits) | (second >> back)
        second = (second << bits) | (first >> back)
        first = first << bits
    carry = ZERO
    start = shift >> 6
    for i in range(start, sums.shape[1]):
        place = i - start
        word = first if place == 0 else second if place == 1 else third if place == 2 else rest
        if place > 2 and word + carry == ZERO:
            return
        total = sums[group, i] + word
        over = ONE if total < word else ZERO
        carried = total + carry
        carry = over | (ONE if carried < total else ZERO)
        sums[group, i] = carried


@compiled
def sweep(
    groups: Int64s,
    weights: Int8s,
    lows: Int64s,
    highs: Int64s,
    shifts: Int64s,
    points: Int64s,
    sums: UInt64s,
    out: UInt64s,
) -> None:
    """Add or subtract (by the weights) one number per event; `out` gets the sums at the points."""
    at = 0
    for i in range(groups.size):
        group = groups[i]
        if weights[i] > 0:
            add(sums, group, lows[i], highs[i], shifts[i])
        elif weights[i] < 0:
            # -x = ~x + 1 in 128 bits; the most negative number is never an operand.
            borrow = 1 if lows[i] == 0 else 0
            add(sums, group, -lows[i], ~highs[i] + borrow, shifts[i])
        if at < points.size and points[at] == i:
            for j in range(sums.shape[1]):
                out[at, j] = sums[group, j]
            at += 1


@compiled
def sweep_words(
    groups: Int64s,
    weights: Int8s,
    words: Int64s,
    points: Int64s,
    sums: UInt64s,
    out: UInt64s,
) -> None:
    """As `sweep`, of numbers of one word, into sums of three limbs."""
    at = 0
    for i in range(groups.size):
        group = groups[i]
        word, is_negative = words[i], words[i] < 0
        if weights[i] < 0:
            is_negative = word > 0
            word = -word
        if weights[i] != 0:
            low = np.uint64(word)
            rest = ALL if is_negative else ZERO
            total = sums[group, 0] + low
            carry = ONE if total < low else ZERO
            sums[group, 0] = total
            # A sum and its carry rarely go beyond the first limb.
            if rest + carry != ZERO:
                total = sums[group, 1] + rest + carry
                is_over = total < rest or (carry == ONE and total == rest)
                sums[group, 1] = total
                sums[group, 2] += rest + (ONE if is_over else ZERO)
        if at < points.size and points[at] == i:
            for j in range(3):
                out[at, j] = sums[group, j]
            at += 1


@compiled
def to_words(sums: UInt64s, out: Int64s, over: Bools) -> None:
    """The low limb of each row as a number, and whether the row is beyond one."""
    for p in range(sums.shape[0]):
        low = np.int64(sums[p, 0])
        rest = np.uint64(low >> 63)
        out[p] = low
        over[p] = sums[p, 1] != rest or sums[p, 2] != rest


@compiled
def magnitude(sums: UInt64s, row: int, out: UInt64s) -> bool:
    """Put the absolute value of a row into `out`; whether the number is negative."""
    negative = bool(sums[row, sums.shape[1] - 1] >> TOP == ONE)
    carry = ONE if negative else ZERO
    for i in range(sums.shape[1]):
        word = (sums[row, i] ^ ALL if negative else sums[row, i]) + carry
        carry = carry if word == ZERO else ZERO
        out[i] = word
    return negative


@compiled
def rounded(size: UInt64s, exponent: int) -> float:
    """An absolute value times 2^exponent as a double, to about the last bit."""
    top = size.size - 1
    while top > 0 and size[top] == ZERO:
        top -= 1
    value = 0.0
    # Two limbs would do if the upper one were full.
    for i in range(max(top - 2, 0), top + 1):
        value += ldexp(float(size[i]), 64 * (i - top))
    return ldexp(value, 64 * top + exponent)


@compiled
def to_doubles(sums: UInt64s, exponent: int, out: Doubles) -> None:
    """Every row times 2^exponent."""
    size = np.empty(sums.shape[1], np.uint64)
    for p in range(sums.shape[0]):
        negative = magnitude(sums, p, size)
        value = rounded(size, exponent)
        out[p] = -value if negative else value


@compiled
def multiply(left: np.uint64, right: np.uint64, more: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The low and the high word of left * right + more."""
    left_low, left_high = left & LOW_HALF, left >> HALF
    right_low, right_high = right & LOW_HALF, right >> HALF
    low = left_low * right_low
    middle = left_high * right_low + (low >> HALF)
    other = left_low * right_high + (middle & LOW_HALF)
    high = left_high * right_high + (middle >> HALF) + (other >> HALF)
    word = (other << HALF) | (low & LOW_HALF)
    total = word + more
    return total, high + (ONE if total < word else ZERO)


@compiled
def scale(size: UInt64s, factor: np.uint64) -> None:
    """Multiply an absolute value in place."""
    carry = ZERO
    for i in range(size.size):
        size[i], carry = multiply(size[i], factor, carry)


@compiled
def divide_half_up(size: UInt64s, divisor: np.uint64) -> None:
    """Divide an absolute value in place by less than 2^32, halves rounded up."""
    remainder = ZERO
    for i in range(size.size - 1, -1, -1):
        upper = (remainder << HALF) | (size[i] >> HALF)
        quotient = (upper // divisor) << HALF
        lower = ((upper % divisor) << HALF) | (size[i] & LOW_HALF)
        size[i] = quotient | (lower // divisor)
        remainder = lower % divisor
    if remainder + remainder >= divisor:
        i = 0
        size[i] += ONE
        while size[i] == ZERO:
            i += 1
            size[i] += ONE


@compiled
def to_decimals(
    sums: UInt64s, counts: Int64s, factor: int, limit: UInt64s, out: UInt64s, fits: Int64s
) -> None:
    """Every sum * factor / count, rounded half up, as the two words of a decimal.

    `fits` becomes 0 where the absolute value is not below `limit`, 1 elsewhere.
    """
    size = np.empty(sums.shape[1], np.uint64)
    for p in range(sums.shape[0]):
        negative = magnitude(sums, p, size)
        scale(size, np.uint64(factor))
        if counts[p] > 1:
            divide_half_up(size, np.uint64(counts[p]))
        fits[p] = 1 if below(size, limit) else 0
        low, high = size[0], size[1]
        out[p, 0] = (low ^ ALL) + ONE if negative else low
        out[p, 1] = (high ^ ALL) + (ONE if low == ZERO else ZERO) if negative else high


@compiled
def below(size: UInt64s, limit: UInt64s) -> bool:
    """An absolute value less than a limit of two words."""
    for i in range(2, size.size):
        if size[i] != ZERO:
            return False
    return bool(size[1] < limit[1] or (size[1] == limit[1] and size[0] < limit[0]))
