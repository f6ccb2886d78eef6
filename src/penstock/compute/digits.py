"""Dropping fraction digits of decimals, rounded in one of several ways.

Arrow's long division is wrong now and then (seen in 26.0: 1099511627775.5 with 15 fraction digits
is cut to a far smaller integer), and with it its ROUND, FLOOR and casts to a lesser scale. Sums and
products are right and tell where it happened; those few rows are computed anew in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.catalog.functions.widening import scaled_decimal
from penstock.compute.datum import made, reinterpreted, truths, valid_in_all, words
from penstock.compute.integers import cut_quotient

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from penstock.compute.datum import Datum, Numbers, Truths

    Rounding = Callable[[int], tuple[int, int]]

WIDE = 76
"""Digits that 256 bits hold."""
SMALL = 18
"""Digits that 64 bits hold."""


# A way of rounding: how far to go from zero, with a number above zero and with one below, before
# the digits that make up one unit are cut off.


def half_up(unit: int) -> tuple[int, int]:
    """To the nearest, halves away from zero."""
    return unit // 2, unit // 2


def toward_zero(_: int) -> tuple[int, int]:
    """Cut off."""
    return 0, 0


def down(unit: int) -> tuple[int, int]:
    """FLOOR."""
    return 0, unit - 1


def up(unit: int) -> tuple[int, int]:
    """CEIL."""
    return unit - 1, 0


def rescaled(exact: pa.Array, scale: int, rounding: Rounding) -> pa.Array:
    """Decimals with another scale, of a width that holds them; for at most 76 digits in all."""
    unit = 10 ** max(exact.type.scale - scale, 0)
    if unit == 1:
        return pc.cast(exact, pa.decimal256(WIDE, scale))
    if exact.type.precision <= SMALL:
        return _of_64_bits(exact, scale, unit, rounding(unit))
    return _of_256_bits(exact, scale, unit, rounding(unit))


def _of_64_bits(exact: pa.Array, scale: int, unit: int, shift: tuple[int, int]) -> pa.Array:
    low, _ = words(exact)
    shifted = low + np.where(low < 0, -shift[1], shift[0])
    type_ = pa.decimal128(SMALL + 1, scale)
    return of_unscaled(type_, cut_quotient(shifted, np.asarray(unit)), valid_in_all((exact,)))


def of_unscaled(type_: pa.DataType, values: Numbers, valid: pa.Array | None) -> pa.Array:
    """Decimals of a 128-bit type from 64-bit unscaled values."""
    halves = np.empty((len(values), 2), np.int64)
    halves[:, 0] = values
    halves[:, 1] = values >> 63
    return made(type_, halves, valid)


def _of_256_bits(exact: pa.Array, scale: int, unit: int, shift: tuple[int, int]) -> pa.Array:
    before = pa.decimal256(WIDE, exact.type.scale)
    wide = pc.cast(exact, before)
    above, below = (
        pa.scalar(scaled_decimal(by, before.scale), before) for by in (shift[0], -shift[1])
    )
    negative = pc.less(wide, pa.scalar(0, before))
    shifted = _with_76_digits(pc.add, wide, pc.if_else(negative, below, above))
    cut = pc.cast(shifted, pa.decimal256(WIDE, scale), safe=False)
    return _mended(cut, shifted, unit)


def _mended(cut: pa.Array, shifted: pa.Array, unit: int) -> pa.Array:
    """The rows where what was cut off is not part of a unit, computed anew."""
    scale = shifted.type.scale
    back = pc.cast(cut, shifted.type, safe=False)
    left = _with_76_digits(pc.subtract, pc.abs(shifted), pc.abs(back))
    one = pa.scalar(scaled_decimal(unit, scale), left.type)
    wrong = pc.or_(pc.less(left, pa.scalar(0, left.type)), pc.greater_equal(left, one))
    if not truths(wrong).any():
        return cut
    anew = [
        scaled_decimal(whole_quotient(unscaled_of(value, scale), unit), cut.type.scale)
        for value in shifted.filter(wrong).to_pylist()
    ]
    return pc.replace_with_mask(cut, pc.fill_null(wrong, False), pa.array(anew, cut.type))


def _with_76_digits(function: Callable[..., pa.Array], a: Datum, b: Datum) -> pa.Array:
    """A sum or difference of 256 bits, for which Arrow would ask for a digit more."""
    one_less = pa.decimal256(WIDE - 1, a.type.scale)
    return function(reinterpreted(a, one_less), reinterpreted(b, one_less))


def divided_wrong(dividend: pa.Array, divisor: pa.Array, quotient: pa.Array) -> Truths:
    """Places where the rest is not less than the divisor; of whole 256-bit decimals."""
    # At these precisions Arrow takes the product of 256 bits for one of 76 digits.
    times = reinterpreted(pc.abs(quotient), pa.decimal256(37, 0))
    by = reinterpreted(pc.abs(divisor), pa.decimal256(38, 0))
    left = _with_76_digits(pc.subtract, pc.abs(dividend), pc.multiply(times, by))
    return truths(pc.or_(pc.less(left, pa.scalar(0, left.type)), pc.greater_equal(left, by)))


def whole_quotient(a: int, b: int) -> int:
    """Toward zero."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def unscaled_of(value: Decimal, scale: int) -> int:
    """The integer that a decimal with this scale, or a lesser one, is made of."""
    sign, digits, exponent = value.as_tuple()
    size: int = int("".join(map(str, digits))) * 10 ** (scale + int(exponent))
    return -size if sign else size
