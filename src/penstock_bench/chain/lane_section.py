"""The section of `./penstock bench chain` that runs schedulers on a real lane."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from penstock.scheduling.scheduler_list import SCHEDULERS
from penstock_bench.chain.lane_run import LaneBench
from penstock_bench.chain.lane_tables import lane_table
from penstock_bench.chain.lane_traffic import lane_traffics
from penstock_bench.kernels import SectionOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock_bench.chain.experiments import ChainEffort
    from penstock_bench.chain.lane_run import LaneFigures
    from penstock_bench.report import Figures

ROWS = 1000
"""The rows for each block of the model: they come in a tenth as many ticks."""
LATENCIES = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Those that Chain-Flush is given, by the median of FIFO."""
ROUNDS = 3
"""Of the measurement of overhead."""


@dataclass
class LaneSchedulers:
    """All schedulers on a lane, under several kinds of traffic; Chain-Flush by latency.

    Args:
        effort: How much.
        name: In results.
        by_costs: The time is what operators cost by a table, not the processor's.
        shown: By traffic and by what ran, the figures with what waited tick by tick.
        least: By traffic, the bound tick by tick.
    """

    effort: ChainEffort
    name: str = "lane"
    by_costs: bool = False
    shown: dict[str, dict[str, LaneFigures]] = field(default_factory=dict)
    least: dict[str, list[float]] = field(default_factory=dict)

    @property
    def items(self) -> list[str]:
        """The kinds of traffic."""
        return [*self._benches]

    @property
    def _benches(self) -> dict[str, LaneBench]:
        blocks = self.effort.blocks
        made = lane_traffics(self.effort, ROWS * blocks, max(blocks // 10, 20))
        return {name: LaneBench(traffic, self.by_costs) for name, traffic in made.items()}

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Run one after the other; `done` is called after each."""
        found: dict[str, Figures] = {}
        for name, bench in self._benches.items():
            # What a process does first is not what it usually does.
            bench.whole("chain")
            self.least[name] = bench.least()
            self.shown[name] = runs(bench)
            found[name] = {
                "tick": round(bench.tick, 5),
                "least_peak": round(max(self.least[name])),
                "least_p99": round(self.shown[name]["fifo"].least_p99, 5),
                **({} if self.by_costs else {"overhead": overhead(bench)}),
                "schedulers": {one: figures_of(made) for one, made in self.shown[name].items()},
            }
            done()
        return SectionOutcome(self.name, lane_table(found), found)


def runs(bench: LaneBench) -> dict[str, LaneFigures]:
    """A run of each scheduler; several of Chain-Flush."""
    names = [one.name for one in SCHEDULERS if one.name != "chain_flush"]
    slope = bench.middle_slope()
    found = {name: bench.run(name, threshold=slope) for name in names}
    for times in LATENCIES:
        found[f"chain_flush {times:g}"] = bench.run("chain_flush", times * found["fifo"].median)
    return found


def overhead(bench: LaneBench) -> Figures:
    """By scheduler, the share of a lane's time that choosing steps and keeping queues adds.

    All is worked off by the same steps: in the order of the operators, and as the scheduler says.
    What is around the operators without a scheduler is taken away. Runs take turns, and the time is
    the processor's, so that what else runs changes little. Beside it the microseconds of a step.
    """
    around: dict[str | None, list[float]] = {None: [], **{one.name: [] for one in SCHEDULERS}}
    taken, steps = [], 1
    for _ in range(ROUNDS):
        for name, seconds in around.items():
            ran = bench.whole(name)
            seconds.append(ran.around)
            if name is None:
                taken.append(ran.cpu)
                steps = ran.steps
    plain, whole = median(around.pop(None)), median(taken)
    added = {str(name): median(seconds) - plain for name, seconds in around.items()}
    return {
        "share": {name: round(seconds / whole, 4) for name, seconds in added.items()},
        "step_us": {name: round(seconds / steps * 1e6, 1) for name, seconds in added.items()},
        "operator_us": round((whole - plain) / steps * 1e6, 1),
    }


def figures_of(one: LaneFigures) -> Figures:
    """The figures without what was seen at each tick, which is for the picture."""
    figures: Figures = {
        name: round(value, 5) if isinstance(value, float) else value
        for name, value in asdict(one).items()
        if not isinstance(value, list) and value is not None and name != "least_p99"
    }
    if one.latency is not None:
        figures["p99_to_latency"] = round(one.p99 / one.latency, 3)
    return figures
