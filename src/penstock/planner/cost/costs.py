"""Costs by which plans are compared: nanoseconds of one core per step of time, bytes of state."""

from __future__ import annotations

import math
from dataclasses import dataclass

LITTLE = 1e6
"""Bytes of state which nobody minds: whether it is twelve rows or one decides nothing."""


@dataclass(frozen=True)
class Cost:
    """Of an operator, or of a plan.

    Args:
        time: Nanoseconds of one core in a step of time.
        rows: Rows of state.
        size: Bytes of state.
        loose: Rows of state that are in no order.
    """

    time: float
    rows: float = 0.0
    size: float = 0.0
    loose: float = 0.0

    @property
    def weighed(self) -> float:
        """By what plans are compared: a plan that is twice as fast may take 16 times the memory."""
        return self.time * math.sqrt(math.sqrt(max(self.size, LITTLE)))

    def __add__(self, other: Cost) -> Cost:
        """Of both."""
        return Cost(
            self.time + other.time,
            self.rows + other.rows,
            self.size + other.size,
            self.loose + other.loose,
        )
