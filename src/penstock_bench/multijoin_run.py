"""Measuring ways to join many windows: the same rows for all, in turns, once windows are full."""

from __future__ import annotations

import gc
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock_bench.multijoin_loops import Loops
from penstock_bench.one_core import Stopwatch
from penstock_bench.snapshots import equal, of_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.operators.block import Block
    from penstock_bench.multijoin_traffic import StreamTraffic
    from penstock_bench.multijoin_ways import Running, Way

MOST_STEPS = 200
"""Of a turn."""


@dataclass(frozen=True)
class WayEffort:
    """The amount of measuring.

    Args:
        rounds: How often each way takes its turn; the fastest counts.
        seconds: CPU seconds of a turn, about.
        scale: How much longer than in the paper windows are where it says so.
        windows: How many windows are joined, at most.
        steps: Rows that come at once, where it is looked at what they matter.
        lengths: Tuples of each window, where it is looked at what they matter.
    """

    rounds: int = 5
    seconds: float = 0.15
    scale: int = 10
    windows: int = 8
    steps: tuple[int, ...] = (40, 200, 1_000, 4_000, 20_000)
    lengths: tuple[int, ...] = (1_000, 10_000, 100_000, 1_000_000)


QUICK = WayEffort(3, 0.05, 10, 6, (40, 400, 4_000), (1_000, 10_000, 100_000))
"""A first look."""


@dataclass(frozen=True)
class MeasuredWay:
    """A way when windows are full.

    Args:
        nanoseconds: CPU time for a tuple, of each turn.
        results: Results for a tuple.
        state_bytes: What it remembers in the end.
        visits: Rows that it visits for a tuple, if it counts them.
    """

    nanoseconds: tuple[float, ...]
    results: float
    state_bytes: int
    visits: float | None = None

    @property
    def least(self) -> float:
        """That of the fastest turn: other programs make turns slower, and never faster."""
        return min(self.nanoseconds)

    @property
    def rate(self) -> float:
        """Tuples of all streams in a CPU second: the highest rate that it can keep up with."""
        return 1e9 / self.least


def verify(traffic: StreamTraffic, ways: Mapping[str, Way], steps: int) -> int:
    """Compare what all ways find in some steps, from empty windows on; how many results.

    Raises:
        InternalError: One finds something else, or there is nothing to be found.
    """
    first = None
    count = 0
    for label, way in ways.items():
        running = way.running(traffic)
        blocks: list[Block] = []
        for number in range(steps):
            blocks += running.step(traffic.step(number))
        count = sum(map(len, blocks))
        if not count:
            msg = f'"{label}" finds nothing in a sample of {steps} steps: nothing is compared'
            raise InternalError(msg)
        found = of_blocks(blocks)
        if first is None:
            first = found
        elif not equal(first, found):
            msg = f'"{label}" finds something else than "{next(iter(ways))}"'
            raise InternalError(msg)
    return count


def measure(
    traffic: StreamTraffic, ways: Mapping[str, Way], effort: WayEffort
) -> dict[str, MeasuredWay]:
    """Fill the windows of each way, then let all take turns."""
    runs = {label: WayRun(traffic, way.running(traffic)) for label, way in ways.items()}
    for run in runs.values():
        run.begin(effort.seconds)
    for _ in range(effort.rounds):
        for run in runs.values():
            run.take()
    return {label: run.measured() for label, run in runs.items()}


@dataclass
class WayRun:
    """A join, and what it has done since its windows were full."""

    traffic: StreamTraffic
    running: Running
    nanoseconds: list[float] = field(default_factory=list)
    results: int = 0
    _next: int = 0
    _steps: int = 1
    _visited: int = 0

    def begin(self, seconds: float) -> None:
        """Fill windows; how long some steps take says how many steps a turn has."""
        self.running.fill(self.traffic)
        self._next = self.traffic.steps_to_fill
        # The first step may find more than is usual, and things that are not compiled yet.
        self._step()
        taken = self._step()
        self._steps = max(min(int(seconds / max(taken, 1e-9)), MOST_STEPS), 1)
        self.results = 0
        self._visited = self._visits()

    def take(self) -> None:
        """A turn."""
        # What another turn left behind is not collected during this one.
        gc.collect()
        cpu = sum(self._step() for _ in range(self._steps))
        self.nanoseconds.append(cpu / (self._steps * self.traffic.step_rows) * 1e9)

    def measured(self) -> MeasuredWay:
        """The measured figures."""
        rows = len(self.nanoseconds) * self._steps * self.traffic.step_rows
        visits = None
        if isinstance(self.running, Loops):
            visits = (self._visits() - self._visited) / rows
        return MeasuredWay(
            tuple(self.nanoseconds), self.results / rows, self.running.state_bytes, visits
        )

    def _step(self) -> float:
        """The next step; the CPU seconds it took."""
        step = self.traffic.step(self._next)
        self._next += 1
        watch = Stopwatch()
        blocks = self.running.step(step)
        seconds = watch.read().cpu
        self.results += sum(map(len, blocks))
        return seconds

    def _visits(self) -> int:
        return self.running.visits if isinstance(self.running, Loops) else 0
