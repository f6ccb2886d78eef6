"""Running a plan on a lane, and how fast that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.lane import STEP_ROWS, Lane
from penstock.session import Session
from penstock_bench.data import feeds
from penstock_bench.one_core import Seconds, Stopwatch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock_bench.data import BenchInputs, LaneFeed

QUERY = "query"
"""The name under which the one query of a lane runs."""


@dataclass(frozen=True)
class Workload:
    """A plan and its input, cut into feeds."""

    plan: Plan
    feeds: Sequence[LaneFeed]
    rows: int

    def lane(self) -> Lane:
        """A new lane for the plan."""
        return Lane(operator_graph(plans_to_run({QUERY: self.plan})))

    def run(self) -> DrivenRun:
        """Feed everything to a new lane, to the end; the results are kept."""
        lane = self.lane()
        results: list[Block] = []
        watch = Stopwatch()
        for feed in self.feeds:
            results += lane.feed(feed.blocks, feed.watermarks).blocks.get(QUERY, [])
        results += lane.finish().blocks.get(QUERY, [])
        seconds = watch.read()
        inside = sum(report.seconds for report in lane.reports())
        return DrivenRun(seconds, results, min(inside / seconds.wall, 1.0))


@dataclass(frozen=True)
class DrivenRun:
    """A run: how long, what came of it, and which share of the time the operators took.

    The rest is the lane itself: queues, the clock, cuts.
    """

    seconds: Seconds
    results: list[Block]
    in_operators: float


@dataclass(frozen=True)
class Speed:
    """The fastest of several runs, after one that compiled what was not compiled yet.

    `busy` is CPU time per time on the wall: below 1, other programs used the core.
    """

    rows: int
    results: int
    seconds: float
    first_seconds: float
    in_operators: float
    busy: float
    runs: int

    @property
    def rows_per_second(self) -> float:
        """Input rows per CPU second."""
        return self.rows / self.seconds


def bound(inputs: BenchInputs, query: str) -> Plan:
    """The plan of a query over the streams and relations of an input."""
    session = Session()
    session.execute(inputs.declarations())
    return session.bind(query).plan


def workload(inputs: BenchInputs, query: str, block_rows: int = STEP_ROWS) -> Workload:
    """A query ready to run."""
    return Workload(bound(inputs, query), feeds(inputs, block_rows), inputs.rows)


def speed(work: Workload, seconds: float) -> Speed:
    """Run once to warm up, then for about `seconds` CPU seconds, at least once."""
    first = work.run()
    results = sum(map(len, first.results))
    spent = 0.0
    best: DrivenRun | None = None
    runs = 0
    del first.results[:]
    while best is None or spent < seconds:
        ran = work.run()
        del ran.results[:]
        spent += ran.seconds.cpu
        runs += 1
        if best is None or ran.seconds.cpu < best.seconds.cpu:
            best = ran
    cpu, wall = best.seconds.cpu, best.seconds.wall
    return Speed(
        work.rows, results, cpu, first.seconds.cpu, best.in_operators, min(cpu / wall, 1.0), runs
    )
