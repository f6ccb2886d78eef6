"""Runs of the model under bursts, for each scheduler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from penstock.scheduling.scheduler_list import SCHEDULERS, made_scheduler
from penstock_bench.chain.least_memory import least_memory
from penstock_bench.chain.model import BlockArrival, Model
from penstock_bench.chain.traffic import arrivals, flow_rates, made_up_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from penstock.scheduling.scheduler import Scheduler
    from penstock_bench.chain.trace import Trace
    from penstock_bench.chain.workloads import ModelWorkload
    from penstock_bench.report import Figures

LOAD = 0.8
"""The share of time that there is work for, on average."""
QUANTUM = 3.0
"""Of round-robin: how often a block could be worked on from its beginning to its end."""
SPARE = 1.25
"""The latency that Chain-Flush is given, by the longest of FIFO."""
FOR_A_COUNT = 4
"""Blocks for each count of a trace, at least: as many counts are used as there are blocks for."""
STEPS = 20_000
"""Of the rates of flows."""


@dataclass(frozen=True)
class ChainEffort:
    """The size of the experiments.

    Args:
        blocks: Those that come, of all inputs together.
        thresholds: How many latencies are tried for Chain-Flush, and slopes for Mixed.
        trace: Counts over time by which traffic is modulated; None: those of a made-up town.
    """

    blocks: int = 3000
    thresholds: int = 9
    trace: tuple[float, ...] | None = None


QUICK = ChainEffort(600, 5)
"""A first look."""


def traffics(effort: ChainEffort) -> dict[str, str]:
    """The kinds of traffic, and what they are."""
    made = "a town's" if effort.trace is None else "a given trace's"
    return {"flows": "flows that start at random for Pareto times", "counts": f"{made} counts"}


def come(workload: ModelWorkload, traffic: str, effort: ChainEffort) -> list[BlockArrival]:
    """The blocks of all inputs, each with bursts of its own."""
    each = effort.blocks // len(workload.sources)
    duration = each * len(workload.sources) * workload.time / LOAD
    return [
        BlockArrival(float(time), source)
        for number, source in enumerate(workload.sources)
        for time in arrivals(_rates(traffic, number, each, effort), each, duration)
    ]


def _rates(traffic: str, seed: int, blocks: int, effort: ChainEffort) -> NDArray[np.float64]:
    if traffic == "flows":
        return flow_rates(seed, STEPS)
    if effort.trace is None:
        return made_up_trace(seed)
    # Inputs do not have their peaks together; and a longer trace would have none in so few blocks.
    rolled = np.roll(np.array(effort.trace), -seed * len(effort.trace) // 5)
    return rolled[: max(blocks // FOR_A_COUNT, 2)]


def run(
    workload: ModelWorkload,
    times: Sequence[BlockArrival],
    scheduler: Scheduler,
    latency: float | None = None,
) -> Trace:
    """A run with calls that cannot be interrupted, as in a lane."""
    paths = [replace(one, latency=latency) for one in workload.paths]
    return Model(paths, unit=None).run(scheduler, times)


def middle_slope(workload: ModelWorkload) -> float:
    """Between the steepest chain and the flattest."""
    slopes = [one.slope for path in workload.paths for one in path.chart.segments]
    return float(np.sqrt(max(slopes) * min(slopes)))


def compared(workload: ModelWorkload, times: Sequence[BlockArrival]) -> dict[str, Trace]:
    """A run of each scheduler of the list."""
    fifo = run(workload, times, made_scheduler("fifo"))
    longest = SPARE * fifo.longest_latency
    quantum = QUANTUM * workload.time
    options = {
        "round_robin": {"quantum": quantum},
        "mixed": {"threshold": middle_slope(workload)},
    }
    latencies = {"chain_flush": longest}
    return {"fifo": fifo} | {
        one.name: run(
            workload,
            times,
            made_scheduler(one.name, **options.get(one.name, {})),
            latencies.get(one.name),
        )
        for one in SCHEDULERS
        if one.name != "fifo"
    }


def least_peak(workload: ModelWorkload, times: Sequence[BlockArrival]) -> float:
    """The peak below which no order of work stays; memory of paths without joins."""
    # Just when something has come, memory is highest.
    instants = sorted({one.time for one in times})
    return float(least_memory(workload.paths, times, instants).max())


def summary(trace: Trace) -> Figures:
    """Memory in blocks, latencies in units of the model's time."""
    return {
        "peak_memory": round(trace.peak, 3),
        "mean_memory": round(trace.mean_memory, 3),
        "mean_latency": round(trace.mean_latency, 2),
        "p99_latency": round(float(np.quantile(trace.latencies, 0.99)), 2),
        "longest_latency": round(trace.longest_latency, 2),
    }


def summaries(traces: Mapping[str, Trace]) -> dict[str, Figures]:
    """Those of all schedulers."""
    return {name: summary(one) for name, one in traces.items()}
