"""The sections of `./penstock bench chain`: on a virtual clock, on a lane, and on Spark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from penstock.scheduling.scheduler_list import made_scheduler
from penstock_bench.chain.exact_flush import ExactChainFlush
from penstock_bench.chain.experiments import (
    come,
    compared,
    least_peak,
    run,
    summaries,
    summary,
    traffics,
)
from penstock_bench.chain.lane_section import LaneSchedulers
from penstock_bench.chain.overhead import Overhead
from penstock_bench.chain.spark_section import SparkSchedulers
from penstock_bench.chain.tables import compared_table, flush_table, mixed_table
from penstock_bench.chain.workloads import WORKLOADS
from penstock_bench.choosing import chosen
from penstock_bench.kernels import SectionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.table import Table

    from penstock.scheduling.scheduler import Scheduler
    from penstock_bench.chain.experiments import ChainEffort
    from penstock_bench.chain.model import BlockArrival
    from penstock_bench.chain.trace import Trace
    from penstock_bench.chain.workloads import ModelWorkload
    from penstock_bench.report import Figures

VARIED = ("falling", "queries")
"""The workloads for which thresholds are varied."""


def sections(effort: ChainEffort, names: Sequence[str] = ()) -> list[ChainSection]:
    """The sections that are wanted; all, if no names are given.

    Raises:
        UnknownName: There is no such section.
    """
    every: list[ChainSection] = [
        AllSchedulers(effort),
        FlushLatencies(effort),
        MixedSlopes(effort),
        Overhead(),
        LaneSchedulers(effort, "costs", by_costs=True),
        LaneSchedulers(effort),
        SparkSchedulers(effort),
    ]
    return chosen("chain", every, names)


@dataclass
class AllSchedulers:
    """All schedulers on all workloads, under both kinds of traffic.

    Args:
        effort: How much.
        shown: What ran, for the picture.
    """

    effort: ChainEffort
    name: str = "schedulers"
    shown: dict[str, dict[str, Trace]] = field(default_factory=dict)

    @property
    def items(self) -> list[tuple[ModelWorkload, str]]:
        """Workloads and kinds of traffic."""
        return [(one, traffic) for one in WORKLOADS for traffic in traffics(self.effort)]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        found: dict[str, Figures] = {}
        for workload, traffic in self.items:
            times = come(workload, traffic, self.effort)
            traces = compared(workload, times)
            label = f"{workload.name}, {traffic}"
            self.shown[label] = traces
            found[label] = {"blocks": len(times), "schedulers": summaries(traces)}
            if not workload.has_joins:
                found[label]["least_peak"] = round(least_peak(workload, times), 3)
            done()
        return SectionOutcome(self.name, compared_table(found), found)


@dataclass
class VariedWorkloads(ABC):
    """Workloads for which something is varied."""

    effort: ChainEffort
    name: ClassVar[str]

    @property
    def items(self) -> list[ModelWorkload]:
        """Those for which it is."""
        return [one for one in WORKLOADS if one.name in VARIED]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        found: dict[str, Figures] = {}
        for workload in self.items:
            found[workload.name] = self.figures(workload)
            done()
        return SectionOutcome(self.name, self.table(found), found)

    @abstractmethod
    def figures(self, workload: ModelWorkload) -> Figures:
        """The figures of a workload."""

    @abstractmethod
    def table(self, found: Mapping[str, Figures]) -> Table:
        """The figures of all as a table."""


class FlushLatencies(VariedWorkloads):
    """Chain-Flush, by the latency that it is given; where there is one path, the exact one, too."""

    name = "flush"

    def figures(self, workload: ModelWorkload) -> Figures:
        """Those of latencies from half of FIFO's to beyond Chain's."""
        times = come(workload, "flows", self.effort)
        fifo = run(workload, times, made_scheduler("fifo"))
        chain = run(workload, times, made_scheduler("chain"))
        low, high = fifo.longest_latency, chain.longest_latency
        ways: dict[str, Callable[[], Scheduler]] = {
            "chain_flush": lambda: made_scheduler("chain_flush")
        }
        if len(workload.paths) == 1:
            ways["exact"] = ExactChainFlush
        latencies = np.linspace(0.5 * low, 1.1 * high, self.effort.thresholds)
        return {
            "fifo": summary(fifo),
            "chain": summary(chain),
            "latencies": [_flushed(workload, times, ways, one) for one in latencies],
        }

    def table(self, found: Mapping[str, Figures]) -> Table:
        """The figures of all as a table."""
        return flush_table(found)


def _flushed(
    workload: ModelWorkload,
    times: Sequence[BlockArrival],
    ways: dict[str, Callable[[], Scheduler]],
    latency: float,
) -> Figures:
    """The figures of each way to flush by a latency."""
    made: Figures = {"latency": round(latency, 2)}
    for name, way in ways.items():
        trace = run(workload, times, way(), latency)
        late = np.array(trace.latencies) / latency
        made[name] = {
            **summary(trace),
            "p99_to_latency": round(float(np.quantile(late, 0.99)), 4),
            "late": round(float((late > 1).mean()), 4),
        }
    return made


class MixedSlopes(VariedWorkloads):
    """Mixed, by the slope below which chains are merged: from Chain to FIFO."""

    name = "mixed"

    def figures(self, workload: ModelWorkload) -> Figures:
        """Those of thresholds between all slopes, below the least and above the steepest."""
        times = come(workload, "flows", self.effort)
        slopes = sorted({one.slope for path in workload.paths for one in path.chart.segments})
        thresholds = [0.0, *(float(one) * 1.01 for one in slopes)]
        return {
            "fifo": summary(run(workload, times, made_scheduler("fifo"))),
            "chain": summary(run(workload, times, made_scheduler("chain"))),
            "thresholds": [
                {
                    "threshold": round(one, 5),
                    **summary(run(workload, times, made_scheduler("mixed", threshold=one))),
                }
                for one in thresholds
            ],
        }

    def table(self, found: Mapping[str, Figures]) -> Table:
        """The figures of all as a table."""
        return mixed_table(found)


ChainSection = (
    AllSchedulers | FlushLatencies | MixedSlopes | Overhead | LaneSchedulers | SparkSchedulers
)
