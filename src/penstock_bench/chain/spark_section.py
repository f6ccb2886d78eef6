"""The section of `./penstock bench chain` that runs schedulers in pipelines on Spark."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.scheduling.scheduler_list import SCHEDULERS
from penstock_bench.chain.lane_section import LaneSchedulers, figures_of
from penstock_bench.chain.lane_tables import lane_table
from penstock_bench.chain.lane_traffic import lane_traffics
from penstock_bench.chain.spark_run import SparkBench
from penstock_bench.kernels import SectionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.chain.experiments import ChainEffort
    from penstock_bench.chain.lane_run import LaneFigures
    from penstock_bench.report import Figures

ROWS, TICKS = 50_000, 40
"""The rows of a tick, on average, and how many of these there are of 3,000 blocks of the model."""
TRAFFIC = ("other flows", "counts")
"""Those with the longest bursts: of flows, and of a trace."""
LATENCIES = (2.0, 4.0)
"""Those that Chain-Flush is given, by the median of FIFO."""
WARM = "warm"


@dataclass
class SparkSchedulers:
    """All schedulers on Spark, under bursts; Chain-Flush with two latencies.

    Args:
        effort: How much.
        shown: What ran, with what waited commit by commit.
    """

    effort: ChainEffort
    name: str = "spark"
    shown: dict[str, dict[str, LaneFigures]] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        """The runs, one after the other."""
        return [f"{traffic}, {label}" for traffic in TRAFFIC for label in self.labels]

    @property
    def labels(self) -> list[str]:
        """The runs under one kind of traffic."""
        names = [one.name for one in SCHEDULERS if one.name != "chain_flush"]
        return [*names, *(f"chain_flush {times:g}" for times in LATENCIES)]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        found = {}
        for traffic in TRAFFIC:
            with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
                found[traffic] = self._runs(traffic, Path(folder), done)
        return SectionOutcome(self.name, lane_table(found), found)

    def _runs(self, traffic: str, folder: Path, done: Callable[[], None]) -> Figures:
        ticks = max(TICKS * self.effort.blocks // 3000, 8)
        bench = SparkBench(lane_traffics(self.effort, ROWS * ticks, ticks)[traffic], folder)
        ran = self.shown[traffic] = {}
        bench.run(WARM, "fifo")
        for label in self.labels:
            name, _, times = label.partition(" ")
            latency = float(times) * ran["fifo"].median if times else None
            ran[label] = bench.run(label.replace(" ", "_"), name, latency)
            done()
        return {
            "rules": bench.rules.to_json(),
            "least_p99": round(ran["fifo"].least_p99, 5),
            "schedulers": {label: figures_of(one) for label, one in ran.items()},
        }


OnLanes = LaneSchedulers | SparkSchedulers
"""The sections whose runs are drawn tick by tick."""
