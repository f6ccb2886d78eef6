"""The least memory that any order of work needs: Chain on the envelopes, which are optimal."""

from __future__ import annotations

from heapq import heappop, heappush, merge
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock_bench.chain.stages import entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from penstock.scheduling.paths import Path
    from penstock_bench.chain.model import BlockArrival
    from penstock_bench.chain.stages import Stage


def least_memory(
    paths: Sequence[Path], arrivals: Iterable[BlockArrival], instants: Sequence[float]
) -> NDArray[np.float64]:
    """A bound from below for each of some instants, which come in order.

    On an envelope the size falls along the line, and always more slowly: so the segments of all
    blocks are work that can be done in any order, the steepest first.

    Args:
        paths: Those of each input, without joins of inputs; what comes is copied for those that
            share nothing, and what they share is done once.
        arrivals: All blocks.
        instants: When it is asked for.
    """
    segments = {
        source: [line for stage in first for line in _envelope(stage)]
        for source, first in entries(paths).items()
    }
    sizes = {source: float(len(first)) for source, first in entries(paths).items()}
    waiting = sorted(arrivals, key=lambda one: one.time, reverse=True)
    pool = _Pool()
    found = np.zeros(len(instants))
    for place, instant in enumerate(instants):
        while waiting and waiting[-1].time <= instant:
            block = waiting.pop()
            pool.work(until=block.time)
            pool.size += sizes[block.source] * block.size
            for line in segments[block.source]:
                pool.add(line.slope, line.time * block.size)
        pool.work(until=instant)
        found[place] = pool.size
    return found


class _Line(NamedTuple):
    """A segment of an envelope; `fall` is the size that it frees."""

    time: float
    fall: float

    @property
    def slope(self) -> float:
        return self.fall / self.time


def _envelope(stage: Stage) -> list[_Line]:
    """The lines of a stage and of all above it, the steepest first.

    Where paths part, what is above may be done in any order, but not before the stage itself: a
    line that is steeper than what it waits for becomes one with it.
    """
    above = [*merge(*map(_envelope, stage.onward), key=lambda line: -line.slope)]
    own = _Line(stage.time, stage.size - sum(one.size for one in stage.onward))
    while above and above[0].slope >= own.slope:
        first = above.pop(0)
        own = _Line(own.time + first.time, own.fall + first.fall)
    return [own, *above]


class _Pool:
    """Work that could be done, by slope."""

    def __init__(self) -> None:
        self.size = 0.0
        self._now = 0.0
        self._todo: dict[float, float] = {}
        self._slopes: list[float] = []

    def add(self, slope: float, time: float) -> None:
        if slope not in self._todo:
            self._todo[slope] = 0.0
            heappush(self._slopes, -slope)
        self._todo[slope] += time

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
