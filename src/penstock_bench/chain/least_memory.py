"""The least memory that any order of work needs: Chain on the envelopes, which are optimal."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from penstock.scheduling.chart import Chart
    from penstock_bench.chain.model import BlockArrival


def least_memory(
    charts: Mapping[str, Sequence[Chart]],
    arrivals: Iterable[BlockArrival],
    instants: Sequence[float],
) -> NDArray[np.float64]:
    """A bound from below for each of some instants, which come in order.

    On an envelope the size falls along the line, and always more slowly: so the segments of all
    blocks are work that can be done in any order, the steepest first.

    Args:
        charts: Of the paths of each input; it is copied for each.
        arrivals: All blocks.
        instants: When it is asked for.
    """
    waiting = sorted(arrivals, key=lambda one: one.time, reverse=True)
    pool = _Pool()
    found = np.zeros(len(instants))
    for place, instant in enumerate(instants):
        while waiting and waiting[-1].time <= instant:
            time, source = waiting.pop()
            pool.work(until=time)
            for chart in charts[source]:
                pool.add(chart)
        pool.work(until=instant)
        found[place] = pool.size
    return found


class _Pool:
    """Work that could be done, by slope."""

    def __init__(self) -> None:
        self.size = 0.0
        self._now = 0.0
        self._todo: dict[float, float] = {}
        self._slopes: list[float] = []

    def add(self, chart: Chart) -> None:
        self.size += 1.0
        for one in chart.segments:
            time = chart.points[one.end].time - chart.points[one.first].time
            if one.slope not in self._todo:
                self._todo[one.slope] = 0.0
                heappush(self._slopes, -one.slope)
            self._todo[one.slope] += time

    def work(self, until: float) -> None:
        while self._slopes and self._now < until:
            slope = -self._slopes[0]
            time = min(self._todo[slope], until - self._now)
            self.size -= slope * time
            self._now += time
            self._todo[slope] -= time
            if self._todo[slope] <= 0:
                del self._todo[slope]
                heappop(self._slopes)
        self._now = until
