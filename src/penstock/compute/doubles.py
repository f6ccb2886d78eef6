"""Doubles as the shortest decimals that stand for them: rounded, and as DECIMALs.

A product with a power of ten is off by some units in the last place. Far from a half that does
not matter, and the few values near one are left to Python's exact integers.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from penstock.compute.decimals import rounded_quotient

if TYPE_CHECKING:
    from penstock.compute.datum import Numbers, Truths

EXACT_POWERS = 22
"""The highest power of ten that a double holds exactly."""

TENS = [10.0**power for power in range(EXACT_POWERS + 1)]

_SURE_SIZE = 2.0**40
_NEAR = 1e-3
"""More than the error of a product below `_SURE_SIZE`."""


def rounded_units(values: Numbers, places: int) -> tuple[Numbers, Truths]:
    """Values in units of 10**-places, rounded, and where this is sure to be right."""
    with np.errstate(all="ignore"):
        moved = np.abs(values * TENS[places] if places >= 0 else values / TENS[-places])
        whole = np.floor(moved)
        part = moved - whole
        sure: Truths = (moved < _SURE_SIZE) & (np.abs(part - 0.5) > _NEAR)
        return np.copysign(whole + (part > 0.5), values), sure


def shortest_digits(value: float) -> tuple[int, int]:
    """A finite double as `unscaled, scale` of the shortest decimal that reads back as it."""
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    size = int("".join(map(str, digits)))
    return (-size if sign else size), -int(exponent)


def in_units(unscaled: int, scale: int, places: int) -> int:
    """`unscaled / 10**scale` in units of 10**-places, rounded, halves away from zero."""
    up, down = 10 ** max(places - scale, 0), 10 ** max(scale - places, 0)
    return rounded_quotient(unscaled * up, down)


def double_of(units: int, places: int) -> float:
    """The double nearest to `units / 10**places`, infinite beyond the largest."""
    try:
        return float(Fraction(units) / Fraction(10) ** places)
    except OverflowError:
        return float("inf") if units > 0 else float("-inf")
