"""The time that schedulers take themselves: for a step, by the number of operators."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.scheduling.chart import MeasuredWork
from penstock.scheduling.paths import UnchartedPath
from penstock.scheduling.scheduler import Head
from penstock.scheduling.scheduler_list import SCHEDULERS, made_scheduler
from penstock_bench.chain.tables import overhead_table
from penstock_bench.kernels import SectionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.scheduling.paths import Path
    from penstock.scheduling.scheduler import Scheduler
    from penstock_bench.report import Figures

OPERATORS = (10, 100, 1000)
LENGTH = 5
"""Operators of a path."""
LATENCY = 1000.0
"""That of all queries, in steps: Chain-Flush has something to do."""
STEPS, ROUNDS = 5000, 3


@dataclass
class Overhead:
    """A step is a choice, and what the scheduler is told of it; nothing is worked on."""

    name: str = "overhead"

    @property
    def items(self) -> tuple[int, ...]:
        """Numbers of operators."""
        return OPERATORS

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one after the other; `done` is called after each."""
        found: dict[str, Figures] = {}
        for operators in self.items:
            paths = _paths(operators)
            found[str(operators)] = {
                one.name: round(_microseconds(made_scheduler(one.name), paths, operators), 2)
                for one in SCHEDULERS
            }
            done()
        return SectionOutcome(self.name, overhead_table(found), found)


def _paths(operators: int) -> list[Path]:
    """Paths of their own for as many queries as there are operators for."""
    random = np.random.default_rng(operators)
    work = [MeasuredWork(*random.uniform((0.1, 0.1), (3.0, 1.0))) for _ in range(operators)]
    starts = range(0, operators, LENGTH)
    ways = [UnchartedPath(f"s{at}", f"q{at}", tuple(range(at, at + LENGTH))) for at in starts]
    return [one.charted(work, LATENCY) for one in ways]


def _microseconds(scheduler: Scheduler, paths: list[Path], operators: int) -> float:
    """CPU time of a step, in the fastest round."""
    scheduler.replan(paths, operators)
    ring = _Ring(scheduler, operators)
    return min(ring.run(STEPS) for _ in range(ROUNDS)) * 1e6 / STEPS


class _Ring:
    """Queues with a block before each operator; for one that leaves a path, a new one comes."""

    def __init__(self, scheduler: Scheduler, operators: int) -> None:
        self._scheduler = scheduler
        self._queues = [deque([one]) for one in range(operators)]
        self._came = operators
        for one in range(operators):
            self._tell(one)

    def run(self, steps: int) -> float:
        """Seconds of CPU time for some steps."""
        before = time.process_time()
        for _ in range(steps):
            operator = self._scheduler.choose(float(self._came))
            assert operator is not None, "a block waits before some operator, always"
            block = self._queues[operator].popleft()
            self._scheduler.ran(operator, 1.0)
            self._tell(operator)
            self._hand_on(operator, block)
        return time.process_time() - before

    def _hand_on(self, operator: int, block: int) -> None:
        target = operator + 1
        if target % LENGTH == 0:
            target, block = target - LENGTH, self._came
            self._came += 1
        self._queues[target].append(block)
        if len(self._queues[target]) == 1:
            self._tell(target)

    def _tell(self, operator: int) -> None:
        queue = self._queues[operator]
        self._scheduler.waits(operator, Head(float(queue[0]), queue[0]) if queue else None)
