"""Schedulers that prefer operators by the slope of their part of the chart."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.scheduling.by_rank import ByRank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.scheduling.by_rank import Rank
    from penstock.scheduling.chart import Chart, Segment
    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Head

HYSTERESIS = 1.1
"""The factor by which a slope has to change before priorities do: measurements waver."""


class BySlope(ByRank):
    """The frame of them: a subclass says how charts are cut into segments.

    The steepest operator runs. Among equals the oldest block goes first, and of parts of one block
    the one that got furthest: so of all blocks on segments of one slope, one at most has begun.
    """

    def __init__(self) -> None:
        super().__init__()
        self.slopes: dict[int, float] = {}
        self._ways: list[tuple[int, ...]] = []

    def segments(self, chart: Chart) -> Iterable[Segment]:
        """The parts of a chart that have a priority each."""
        raise NotImplementedError

    def plan(self, paths: Sequence[Path]) -> None:
        """Take all new slopes, or none if all are nearly what they were: they belong together."""
        slopes = self._steepest(paths)
        ways = [one.operators for one in paths]
        if ways != self._ways or not _nearly(slopes, self.slopes):
            self.slopes, self._ways = slopes, ways

    def rank(self, operator: int, head: Head) -> Rank:
        """The slope, then the age of the block."""
        return (-self.slopes.get(operator, inf), head.arrival, head.sequence, -operator)

    def _steepest(self, paths: Sequence[Path]) -> dict[int, float]:
        """The slope of each operator, on the best of its paths."""
        found: dict[int, float] = {}
        for path in paths:
            for segment in self.segments(path.chart):
                for operator in path.operators[segment.first : segment.end]:
                    found[operator] = max(segment.slope, found.get(operator, segment.slope))
        return found


def _nearly(slopes: dict[int, float], others: dict[int, float]) -> bool:
    """Slopes of the same operators that differ by less than what hysteresis asks for."""
    return slopes.keys() == others.keys() and all(
        low == high or low * HYSTERESIS >= high > 0
        for low, high in (sorted((slope, others[one])) for one, slope in slopes.items())
    )
