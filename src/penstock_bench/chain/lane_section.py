"""The section of `./penstock bench chain` that runs schedulers on a real lane."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table

from penstock.scheduling.scheduler_list import SCHEDULERS
from penstock_bench.chain.lane_run import LaneBench, LaneFigures, LaneTraffic
from penstock_bench.kernels import SectionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.chain.experiments import ChainEffort
    from penstock_bench.report import Figures

ROWS = 1000
"""The rows for each block of the model: they come in a tenth as many ticks."""
LATENCIES = (2.0, 4.0, 8.0)
"""Those that Chain-Flush is given, by the median of FIFO."""


@dataclass
class LaneSchedulers:
    """All schedulers on a lane; Chain-Flush with several latencies.

    Args:
        effort: How much.
        shown: By what ran, the bytes that waited at the end of each tick, for the picture.
    """

    effort: ChainEffort
    name: str = "lane"
    shown: dict[str, list[int]] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        """The runs, one after the other."""
        names = [one.name for one in SCHEDULERS if one.name != "chain_flush"]
        return ["overhead", *names, *(f"chain_flush {times:g}" for times in LATENCIES)]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        blocks = self.effort.blocks
        bench = LaneBench(LaneTraffic(ROWS * blocks, max(blocks // 10, 20)))
        overhead: Figures = {name: round(bench.overhead(name), 4) for name in ("fifo", "chain")}
        done()
        ran: dict[str, LaneFigures] = {}
        found: dict[str, Figures] = {"overhead": overhead}
        for label in self.items[1:]:
            name, _, times = label.partition(" ")
            latency = float(times) * ran["fifo"].median if times else None
            ran[label] = bench.run(name, latency)
            self.shown[label] = ran[label].queued
            found[label] = _figures(ran[label], latency)
            done()
        return SectionOutcome(self.name, _table(found), found)


def _figures(one: LaneFigures, latency: float | None) -> Figures:
    """The figures without what waited at each tick, which is for the picture."""
    figures: Figures = {name: round(n, 4) for name, n in asdict(one).items() if name != "queued"}
    if latency is not None:
        figures |= {"latency": round(latency, 4), "p99_to_latency": round(one.p99 / latency, 3)}
    return figures


def _table(found: dict[str, Any]) -> Table:
    share = ", ".join(f"{name} {part:.1%}" for name, part in found["overhead"].items())
    made = Table(title=f"A lane under bursts; scheduling takes of its time: {share}", box=None)
    made.add_column("scheduler")
    for name in ("peak, MB", "of FIFO's", "median, ms", "p99, ms", "p99 / allowed", "CPU, s"):
        made.add_column(name, justify="right")
    for label, one in found.items():
        if label != "overhead":
            allowed = f"{one['p99_to_latency']:.2f}" if "latency" in one else ""
            made.add_row(
                label,
                f"{one['peak'] / 1e6:.2f}",
                f"{one['peak'] / found['fifo']['peak']:.2f}",
                f"{one['median'] * 1e3:.1f}",
                f"{one['p99'] * 1e3:.1f}",
                allowed,
                f"{one['cpu']:.2f}",
            )
    return made
