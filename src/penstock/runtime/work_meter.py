"""The work of stations as it is measured: times and sizes, and the charts that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.scheduling.chart import MeasuredWork
from penstock.scheduling.paths import Path, UnchartedPath, routes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

INTERVAL = 1.0
"""The seconds of work after which charts are made anew; while nothing is done, none pass."""
FIRST_INTERVAL = 0.005
"""The seconds of work after which they are made for the first time: nothing was known before.

From there intervals double up to the usual one: what a lane does first is not what it usually does.
"""
UNKNOWN = MeasuredWork(1e-8, 1.0)
"""The work for a byte, of an operator that has done none."""


@dataclass
class Sample:
    """The work of a station in an interval.

    A join of two windows counts all its inputs together: the bytes that it makes and the time that
    it takes for a byte that comes are then means over its inputs, by how much each brings.
    """

    calls: int = 0
    seconds: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0

    @property
    def cost(self) -> MeasuredWork | None:
        """The work for a byte; None: nothing came."""
        if not self.bytes_in:
            return None
        return MeasuredWork(self.seconds / self.bytes_in, self.bytes_out / self.bytes_in)


class WorkMeter:
    """Measures stations, and makes charts of what it saw in the last interval.

    Of a station without work in it the cost is what it was before. Times in charts are for a
    block as blocks are when they come.

    Args:
        inputs: By station, the stations that it reads.
        sources: By stream or relation, the station where its rows enter.
        results: By query, the station that makes its results.
        latency: By query, the seconds it allows.

    Attributes:
        costs: Of each station, what a byte that comes costs, and makes.
        least_step: The seconds of the shortest step.
        block_bytes: Those of a block that comes in, on average.
    """

    def __init__(
        self,
        inputs: Sequence[Sequence[int]],
        sources: Mapping[str, int],
        results: Mapping[str, int],
        latency: Mapping[str, float],
    ) -> None:
        self._routes = _behind_entries(routes(inputs, sources, results), {*sources.values()})
        self._latency = latency
        self._samples = [Sample() for _ in inputs]
        self.costs = [UNKNOWN for _ in inputs]
        self._begun: set[int] = set()
        self._came = Sample()
        self.block_bytes = 1.0
        self._interval = FIRST_INTERVAL
        self._worked = 0.0
        self.least_step: float | None = None

    def enter(self, nbytes: int) -> None:
        """A block has come in."""
        self._came.calls += 1
        self._came.bytes_in += nbytes

    def add(self, number: int, seconds: float, bytes_in: int, bytes_out: int) -> None:
        """A station has done a step."""
        self._worked += seconds
        if number not in self._begun:
            # The first call of a station loads its compiled loops: that is not its cost.
            self._begun.add(number)
            return
        if self.least_step is None or seconds < self.least_step:
            self.least_step = seconds
        sample = self._samples[number]
        sample.calls += 1
        sample.seconds += seconds
        sample.bytes_in += bytes_in
        sample.bytes_out += bytes_out

    @property
    def is_due(self) -> bool:
        """An interval is over."""
        return self._worked >= self._interval

    def close_interval(self) -> None:
        """Take what was measured; the next interval begins."""
        self._interval = min(2 * self._interval, INTERVAL)
        self._worked = 0.0
        for number, sample in enumerate(self._samples):
            self.costs[number] = sample.cost or self.costs[number]
        self._samples = [Sample() for _ in self._samples]
        if self._came.bytes_in:
            self.block_bytes = self._came.bytes_in / self._came.calls
        self._came = Sample()

    def paths(self) -> list[Path]:
        """The ways of blocks, with their charts."""
        costs = [MeasuredWork(one.time * self.block_bytes, one.selectivity) for one in self.costs]
        return [one.charted(costs, self._latency.get(one.query)) for one in self._routes]


def _behind_entries(
    found: Sequence[UnchartedPath], entries: Collection[int]
) -> list[UnchartedPath]:
    """Routes without the stations where rows enter: what these do is no part of the schedule."""
    shortened = [
        UnchartedPath(one.source, one.query, tuple(n for n in one.operators if n not in entries))
        for one in found
    ]
    return [one for one in shortened if one.operators]
