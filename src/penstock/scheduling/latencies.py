"""Latencies: how long blocks took from their arrival to their results, by counts."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

GROWTH = 1.05
"""The bounds between classes grow by this: a percentile is true to 5 percent."""
LEAST = 1e-6
"""Seconds of the first class."""


class Latencies:
    """Counts of latencies, in classes that grow with them.

    >>> seen = Latencies()
    >>> for milliseconds in range(1, 101):
    ...     seen.add(milliseconds / 1000)
    >>> round(seen.percentile(50), 2), round(seen.percentile(99), 1)
    (0.05, 0.1)
    """

    def __init__(self, counts: Mapping[int, int] | None = None) -> None:
        self.counts = Counter(counts or {})

    def add(self, seconds: float, blocks: int = 1) -> None:
        """Blocks that took so long."""
        above = max(seconds, LEAST) / LEAST
        self.counts[math.floor(math.log(above) / math.log(GROWTH))] += blocks

    def percentile(self, percent: float) -> float | None:
        """The latency that so many of a hundred blocks did not exceed; None: there were none."""
        left = self.counts.total() * percent / 100
        for number in sorted(self.counts):
            left -= self.counts[number]
            if left <= 0:
                return _middle(number)
        return None

    @property
    def mean(self) -> float | None:
        """Of all blocks; None: there were none."""
        total = sum(_middle(number) * count for number, count in self.counts.items())
        return total / self.counts.total() if self.counts else None

    def to_json(self) -> dict[str, int]:
        """As it is sent."""
        return {str(number): count for number, count in self.counts.items()}


def _middle(number: int) -> float:
    """The seconds in the middle of a class."""
    return float(LEAST * GROWTH ** (number + 0.5))


def all_latencies(parts: Iterable[Mapping[str, int]]) -> Latencies:
    """Those of several lanes, as they were sent."""
    total = Latencies()
    for part in parts:
        total.counts.update({int(number): count for number, count in part.items()})
    return total
