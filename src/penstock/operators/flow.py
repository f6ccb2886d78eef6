"""Flows: the rows on an edge between operators, as they are expected."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

DIFFERENT_VALUES = 1000.0
"""The number of values a column is thought to have."""
MOST_VALUES = 1e15


@dataclass(frozen=True)
class Flow:
    """The rows on an edge.

    Args:
        rate: Rows that begin in a step of time.
        withdrawn: How many of them are withdrawn before the end they were sent with.
        live: Rows that are valid at an instant.
        different: How many values each column has among them, at most.
        even: Of columns in which some values prevail, how many equally frequent ones would meet
            as often, by position.
    """

    rate: float
    withdrawn: float
    live: float
    different: tuple[float, ...] = ()
    even: Mapping[int, float] = field(default_factory=dict)

    @property
    def sent(self) -> float:
        """Rows on the edge in a step of time, those that withdraw included."""
        return self.rate + self.withdrawn

    def share(self, of: float) -> Flow:
        """A share of the rows."""
        return replace(
            self, rate=self.rate * of, withdrawn=self.withdrawn * of, live=self.live * of
        )

    def values(self, columns: Iterable[int]) -> float:
        """The number of different rows that these columns may have."""
        return product(self.different[place] for place in columns)

    def met(self, place: int) -> float:
        """The number of values a column would have, were all as frequent as that of a row."""
        return self.even.get(place, self.different[place])


def product(counts: Iterable[float]) -> float:
    """The number of combinations, within bounds."""
    found = 1.0
    for count in counts:
        found = min(found * count, MOST_VALUES)
    return found


def present(values: float, rows: float) -> float:
    """The number of values that so many rows have, of so many."""
    return values * -math.expm1(-rows / values) if values > 0 else 0.0


def united(inputs: Sequence[Flow]) -> Flow:
    """The rows of all."""
    return Flow(
        sum(one.rate for one in inputs),
        sum(one.withdrawn for one in inputs),
        sum(one.live for one in inputs),
        inputs[0].different if inputs else (),
    )
