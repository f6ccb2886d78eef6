"""Division of arrays of integers toward zero, and overflow where NumPy goes around silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from penstock.compute.datum import Numbers, Truths


def sum_overflows(a: Numbers, b: Numbers, total: Numbers) -> Truths:
    """Both sides have a sign that the sum has not."""
    found: Truths = ((a ^ total) & (b ^ total)) < 0
    return found


def difference_overflows(a: Numbers, b: Numbers, left: Numbers) -> Truths:
    """The sides differ in sign, and the difference has not that of the first."""
    found: Truths = ((a ^ b) & (a ^ left)) < 0
    return found


def product_overflows(a: Numbers, b: Numbers, product: Numbers) -> Truths:
    """Dividing by one factor does not give back the other."""
    least = np.iinfo(product.dtype).min
    # By -1, the least integer would give itself back.
    usual = (a != 0) & (a != -1)
    wrong = usual & (product // np.where(usual, a, 1).astype(product.dtype) != b)
    found: Truths = wrong | ((a == -1) & (b == least))
    return found


def cut_quotient(a: Numbers, b: Numbers) -> Numbers:
    """Toward zero, of a divisor that is not zero; the least integer by -1 goes around."""
    with np.errstate(over="ignore"):
        down = a // b
    quotient: Numbers = down + ((down < 0) & (down * b != a))
    return quotient


def remainder(a: Numbers, b: Numbers) -> Numbers:
    """With the sign of `a`. By -1 nothing remains, but the processor would overflow."""
    left: Numbers = np.fmod(a, np.where(b == -1, 1, b).astype(b.dtype))
    return left


def positive_remainder(a: Numbers, b: Numbers) -> Numbers:
    """Not negative for a positive divisor."""
    left = remainder(a, b)
    lifted: Numbers = left + np.where((left < 0) & (b > 0), b, 0).astype(left.dtype)
    return lifted
