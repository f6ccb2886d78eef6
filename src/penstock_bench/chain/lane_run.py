"""Schedulers on a real lane: bursts of rows, a time for each tick, and the processor's clock.

The time is that of the processor for this thread, so that what else runs on the machine changes
little: a tick begins when it is due, or when the work for the last one is done.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.operators.block import Block, arriving
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.allotment import Allotment
from penstock.runtime.lane import Lane
from penstock.scheduling.work_rules import WorkRules
from penstock.session import Session
from penstock_bench.chain.traffic import flow_rates

if TYPE_CHECKING:
    from penstock.planner.physical.graph import Graph

LOAD = 0.8
"""The share of time that there is work for, on average."""
KEYS, KNOWN = 1000, 100
"""The keys of rows, and those of them that the relation knows."""
SCRIPT = """
CREATE STREAM s (ts BIGINT, k INT, g INT, v DOUBLE, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, w INT)
"""
QUERIES = {
    "middle": "SELECT s.g, MEDIAN(s.v) AS m, MAX(r.w) AS w FROM s [RANGE 20], r WHERE s.k = r.k"
    " GROUP BY s.g",
    "lowest": "SELECT g, MEDIAN(v) AS m, COUNT(DISTINCT k) AS n FROM s [RANGE 20]"
    " WHERE v * v < 0.01 GROUP BY g",
}
"""Each is quick to drop nine of ten rows, and slow with the rest."""


@dataclass(frozen=True)
class LaneTraffic:
    """Rows in bursts.

    Args:
        rows: How many come in all,
        ticks: in how many ticks.
        seed: Decides when.
    """

    rows: int
    ticks: int
    seed: int = 1

    @cached_property
    def blocks(self) -> list[Block]:
        """The rows of each tick."""
        rates = flow_rates(self.seed, self.ticks)
        counts = (rates * self.rows / rates.sum()).astype(np.int64)
        random = np.random.default_rng(self.seed)
        return [_rows(random, number, int(count)) for number, count in enumerate(counts)]


def _rows(random: np.random.Generator, tick: int, count: int) -> Block:
    # A hundred instants a tick, so that a burst can be cut into blocks.
    ts = 100 * tick + np.sort(random.integers(0, 100, count))
    columns = (
        pa.array(ts),
        pa.array(random.integers(0, KEYS, count).astype(np.int32)),
        pa.array(random.integers(0, 50, count).astype(np.int32)),
        pa.array(random.random(count)),
    )
    return arriving(columns, ts)


class ProcessorClock:
    """The time of ticks, that goes on while the processor works for them."""

    def __init__(self) -> None:
        self._base = 0.0
        self._mark: float | None = None

    def begin(self, instant: float) -> None:
        """Work for a tick begins: when it is due, or later."""
        self._base = max(self._base, instant)
        self._mark = time.thread_time()

    def end(self) -> None:
        """Nothing is done until the next tick."""
        self._base, self._mark = self.now(), None

    def now(self) -> float:
        """The instant, in seconds from the first tick."""
        return self._base + (0.0 if self._mark is None else time.thread_time() - self._mark)

    def charge(self, rows: int) -> None:
        """The time has passed by itself."""


@dataclass
class LaneFigures:
    """The figures of a scheduler on the lane.

    Args:
        peak: The most bytes that waited between operators.
        queued: Bytes that waited at the end of each tick.
        median: Of the seconds from the arrival of blocks to their results,
        p99: and what 99 of a hundred took at most.
        cpu: Seconds of the processor in all.
    """

    peak: int
    median: float
    p99: float
    cpu: float
    queued: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class LaneBench:
    """A lane under bursts: first to completion, to see how long it takes; then with budgets."""

    traffic: LaneTraffic
    block_rows: int = 8192

    @cached_property
    def graph(self) -> Graph:
        """The operators of the queries."""
        session = Session()
        session.execute(SCRIPT)
        plans = {name: session.bind(text).plan for name, text in QUERIES.items()}
        return operator_graph(plans_to_run(plans))

    @cached_property
    def seconds(self) -> float:
        """The processor's time for all rows, block by block."""
        rules = WorkRules(1e9, "fifo", self.block_rows)
        return min(self._whole(rules) for _ in range(3))

    def _whole(self, rules: WorkRules | None) -> float:
        """The processor's time for all rows, nothing left undone; with rules, by a scheduler."""
        allotment = None if rules is None else Allotment(rules.budget or 0.0)
        lane = self._lane(rules or WorkRules())
        lane.step_rows = self.block_rows
        began = time.thread_time()
        for number, block in enumerate(self.traffic.blocks):
            lane.feed({"s": block}, {"s": 100 * (number + 1)}, allotment)
        return time.thread_time() - began

    def overhead(self, scheduler: str, rounds: int = 3) -> float:
        """The time that choosing steps and keeping queues adds to that of a lane, as a share of it.

        The same blocks are done by the same steps, and nothing is left: once in the order of the
        operators, once as the scheduler says. The least of some rounds, one after the other.
        """
        rules = WorkRules(1e9, scheduler, self.block_rows)
        plain, chosen = [], []
        for _ in range(rounds):
            plain.append(self._whole(None))
            chosen.append(self._whole(rules))
        return min(chosen) / min(plain) - 1

    def _lane(self, rules: WorkRules, clock: ProcessorClock | None = None) -> Lane:
        lane = Lane(self.graph, rules=rules, clock=clock)
        keys = np.arange(KNOWN)
        known = arriving(
            (pa.array(keys.astype(np.int32)), pa.array(keys.astype(np.int32))),
            np.full(KNOWN, BEGINNING + 1),
        )
        lane.feed({"r": known}, {})
        return lane

    def run(self, scheduler: str, latency: float | None = None) -> LaneFigures:
        """Let all rows pass under a scheduler, and the queries allow some latency."""
        tick = self.seconds / LOAD / self.traffic.ticks
        allowed = {} if latency is None else dict.fromkeys(QUERIES, latency)
        rules = WorkRules(
            tick, scheduler, self.block_rows, options={"quantum": 10 * tick}, latency=allowed
        )
        clock = ProcessorClock()
        lane, queued = self._lane(rules, clock), []
        began = time.thread_time()
        ticks = iter(self.traffic.blocks)
        number = 0
        while (block := next(ticks, None)) is not None or lane.is_behind:
            clock.begin(number * tick)
            left = max((number + 1) * tick - clock.now(), 0.0)
            marks = {"s": 100 * (number + 1)} if block is not None else {}
            rows = {} if block is None else {"s": block}
            lane.feed(rows, marks, Allotment(left, arrival=number * tick))
            clock.end()
            queued.append(lane.queued_bytes)
            number += 1
        return _figures(lane, queued, time.thread_time() - began)


def _figures(lane: Lane, queued: list[int], cpu: float) -> LaneFigures:
    working = lane.dispatcher
    assert working is not None
    found = [working.latencies[query] for query in QUERIES]
    for other in found[1:]:
        found[0].counts.update(other.counts)
    median, p99 = found[0].percentile(50), found[0].percentile(99)
    assert median is not None
    assert p99 is not None
    return LaneFigures(working.peak, median, p99, cpu, queued)
