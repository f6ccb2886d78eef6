"""Schedulers on a real lane: bursts of rows, and a time for each tick.

The time is that of the processor, or what operators cost by a table.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.allotment import Allotment
from penstock.runtime.lane import Lane
from penstock.scheduling.latencies import Latencies
from penstock.scheduling.work_rules import BLOCK_ROWS, WorkRules
from penstock.session import Session
from penstock_bench.chain.lane_clocks import CostClock, ProcessorClock
from penstock_bench.chain.lane_traffic import INSTANTS, QUERIES, SCRIPT, known_keys
from penstock_bench.chain.least_memory import least_memory
from penstock_bench.chain.model import BlockArrival

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.operators.block import Block
    from penstock.planner.physical.graph import Graph
    from penstock.runtime.dispatcher import Dispatcher
    from penstock_bench.chain.lane_clocks import TickClock
    from penstock_bench.chain.lane_traffic import LaneTraffic

LOAD = 0.8
"""The share of time that there is work for, on average."""
TURN = 10.0
"""Of round-robin, in ticks."""
WITHOUT_END = 1e9
"""A budget that is never spent."""


@dataclass
class LaneFigures:
    """The figures of a scheduler on the lane.

    Args:
        peak: The most bytes that waited between operators.
        median: Of the seconds from the arrival of blocks to their results,
        p99: and what 99 of a hundred took at most.
        least_p99: Of FIFO: what no order of work has less of, as the 99th percentile.
        cpu: Seconds of the processor in all; None: other processes did the work.
        latency: What the queries allowed; None: any.
        queued: Bytes that waited at the end of each tick.
        latencies: The mean latency of the blocks that were done in each tick; 0, if none was.
    """

    peak: int
    median: float
    p99: float
    least_p99: float
    cpu: float | None
    latency: float | None = None
    queued: list[int] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class LaneBench:
    """A lane under bursts: first to completion, to see how long it takes; then with budgets.

    Args:
        traffic: The rows.
        by_costs: The time is what operators cost by a table, not the processor's.
        block_rows: About how many rows are a block.
    """

    traffic: LaneTraffic
    by_costs: bool = False
    block_rows: int = BLOCK_ROWS

    @cached_property
    def graph(self) -> Graph:
        """The operators of the queries."""
        session = Session()
        session.execute(SCRIPT)
        plans = {name: session.bind(text).plan for name, text in QUERIES.items()}
        return operator_graph(plans_to_run(plans))

    @cached_property
    def seconds(self) -> float:
        """The time for all rows, block by block."""
        if self.by_costs:
            return self._measured("fifo").clock.now()
        return min(self.whole("fifo").cpu for _ in range(2))

    @property
    def tick(self) -> float:
        """The seconds of a tick, and the budget of the lane."""
        return self.seconds / LOAD / len(self.traffic.rates)

    def whole(self, scheduler: str | None, clock: TickClock | None = None) -> WholeRun:
        """All rows, nothing left undone: by a scheduler, or in the order of the operators.

        A clock of the processor takes time itself: without one the lane has its usual one.
        """
        allotment = None if scheduler is None else Allotment(WITHOUT_END)
        budget = None if scheduler is None else WITHOUT_END
        lane = self._lane(WorkRules(budget, scheduler or "fifo", self.block_rows), clock)
        lane.step_rows = self.block_rows
        inside = _Inside(lane)
        began = time.thread_time()
        for number, block in enumerate(self.traffic.blocks):
            lane.feed({"s": block}, {"s": INSTANTS * (number + 1)}, allotment)
        return WholeRun(lane, time.thread_time() - began, inside.seconds, inside.steps)

    def _clock(self) -> TickClock:
        if self.by_costs:
            return CostClock([node.label for node in self.graph.nodes])
        return ProcessorClock()

    def _measured(self, scheduler: str) -> Dispatcher:
        """The dispatcher that has done all rows, and measured their costs by the bench's clock."""
        clock = self._clock()
        clock.begin(0.0)
        return _dispatcher(self.whole(scheduler, clock).lane)

    def least(self) -> list[float]:
        """The bytes below which no order of work stays, when the rows of each tick have come.

        By the charts of a whole run, in which each operator took what it takes on average.
        """
        meter = self._measured("chain").meter
        come = [
            BlockArrival(number * self.tick, "s", block.nbytes / meter.block_bytes)
            for number, block in enumerate(self.traffic.blocks)
        ]
        paths = [one for one in meter.paths() if one.source == "s"]
        least = least_memory(paths, come, [one.time for one in come])
        return [float(one) for one in least * meter.block_bytes]

    def middle_slope(self) -> float:
        """Between the steepest chain and the flattest."""
        slopes = [
            s.slope
            for one in self._measured("chain").meter.paths()
            if one.source == "s"
            for s in one.chart.segments
        ]
        return float(np.sqrt(max(slopes) * min(slopes)))

    def run(
        self, scheduler: str, latency: float | None = None, threshold: float = 0.0
    ) -> LaneFigures:
        """Let all rows pass under a scheduler, and the queries allow some latency."""
        allowed = {} if latency is None else dict.fromkeys(QUERIES, latency)
        options = {"quantum": TURN * self.tick, "threshold": threshold}
        rules = WorkRules(self.tick, scheduler, self.block_rows, options, allowed)
        clock = self._clock()
        lane = self._lane(rules, clock)
        seen = _Seen()
        began = time.thread_time()
        blocks = iter(self.traffic.blocks)
        number = 0
        while (block := next(blocks, None)) is not None or lane.is_behind:
            clock.begin(number * self.tick)
            left = max((number + 1) * self.tick - clock.now(), 0.0)
            rows = {} if block is None else {"s": block}
            marks = dict.fromkeys(rows, INSTANTS * (number + 1))
            lane.feed(rows, marks, Allotment(left, arrival=number * self.tick))
            clock.end()
            seen.note(lane)
            number += 1
        return seen.figures(lane, time.thread_time() - began, latency)

    def _lane(self, rules: WorkRules, clock: TickClock | None = None) -> Lane:
        lane = Lane(self.graph, rules=rules, clock=clock)
        lane.feed({"r": known_keys()}, {})
        return lane


@dataclass(frozen=True)
class WholeRun:
    """A run to completion.

    Args:
        lane: That ran.
        cpu: The processor's seconds.
        inside: Those of them that operators had.
        steps: The calls of operators.
    """

    lane: Lane
    cpu: float
    inside: float
    steps: int

    @property
    def around(self) -> float:
        """The processor's seconds that were spent around operators, not in them."""
        return self.cpu - self.inside


class _Inside:
    """The processor's time inside of the operators of a lane, from now on."""

    def __init__(self, lane: Lane) -> None:
        self.seconds = 0.0
        self.steps = 0
        for station in lane.stations:
            station.run = self._timed(station.run)  # type: ignore[method-assign]

    def _timed(self, run: Callable[[], Sequence[Block]]) -> Callable[[], Sequence[Block]]:
        def timed() -> Sequence[Block]:
            began = time.thread_time()
            made = run()
            self.seconds += time.thread_time() - began
            self.steps += 1
            return made

        return timed


class _Seen:
    """Queues and latencies, tick by tick."""

    def __init__(self) -> None:
        self._queued: list[int] = []
        self._latencies: list[float] = []
        self._counts: Counter[int] = Counter()

    def note(self, lane: Lane) -> None:
        """A tick is over."""
        counts = _counts(lane)
        self._queued.append(lane.queued_bytes)
        self._latencies.append(Latencies(counts - self._counts).mean or 0.0)
        self._counts = counts

    def figures(self, lane: Lane, cpu: float, latency: float | None) -> LaneFigures:
        """The figures of the run."""
        peak = _dispatcher(lane).peak
        marks = percentiles(Latencies(self._counts))
        return LaneFigures(peak, *marks, cpu, latency, self._queued, self._latencies)


def percentiles(found: Latencies) -> tuple[float, float, float]:
    """The median, the 99th percentile, and the least one of any order if these are FIFO's.

    FIFO has done all that came up to an instant when no other order could have. So of a block whose
    last result is late under FIFO, one result at least is late under any order, as blocks keep
    their order on each path: of two queries half as many, at best.
    """
    median, p99, least = (found.percentile(one) for one in (50, 99, 100 - len(QUERIES)))
    assert median is not None
    assert p99 is not None
    assert least is not None
    return median, p99, least


def _dispatcher(lane: Lane) -> Dispatcher:
    assert lane.dispatcher is not None, "the lane has a budget"
    return lane.dispatcher


def _counts(lane: Lane) -> Counter[int]:
    """The latencies of all queries."""
    total: Counter[int] = Counter()
    for one in _dispatcher(lane).latencies.values():
        total.update(one.counts)
    return total
