"""Drawings of schedulers on lanes: memory and latency tick by tick, and peaks by latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock_bench.chain.colours import COLOURS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from penstock_bench.chain.lane_run import LaneFigures

LANE_DRAWINGS = 3
"""Of each kind of traffic."""
FLUSH = "chain_flush"


def draw_queues(
    axes: Axes, lane: str, ran: Mapping[str, LaneFigures], least: Sequence[float]
) -> None:
    """The bytes that wait at the end of each tick, and the bound for when its rows have come."""
    axes.set_title(f"{lane}: megabytes that wait, by tick")
    for label, one in _drawn(ran).items():
        axes.plot(np.array(one.queued) / 1e6, color=COLOURS[label], linewidth=0.8, label=label)
    if least:
        axes.plot(np.array(least) / 1e6, ":", color="black", linewidth=0.8, label="least")


def draw_latencies(axes: Axes, lane: str, ran: Mapping[str, LaneFigures]) -> None:
    """The mean latency of what was done in each tick."""
    axes.set_title(f"{lane}: mean latency of results, ms, by tick")
    for label, one in _drawn(ran).items():
        latencies = np.array(one.latencies) * 1e3
        axes.plot(latencies, color=COLOURS[label], linewidth=0.8, label=label)


def draw_thresholds(axes: Axes, lane: str, ran: Mapping[str, LaneFigures]) -> None:
    """Peaks of Chain-Flush by the latency that is allowed; the others by their 99th percentile."""
    axes.set_title(f"{lane}: peak, megabytes, by latency, ms")
    flushed = [(one.latency, one.peak) for one in ran.values() if one.latency is not None]
    latencies, peaks = zip(*sorted(flushed), strict=True)
    axes.plot(
        np.array(latencies) * 1e3, np.array(peaks) / 1e6,
        "o-", color=COLOURS[FLUSH], markersize=3, label=f"{FLUSH}, by what is allowed",
    )  # fmt: skip
    for label, one in ran.items():
        if one.latency is None:
            axes.plot(one.p99 * 1e3, one.peak / 1e6, "s", color=COLOURS[label], label=label)


def _drawn(ran: Mapping[str, LaneFigures]) -> dict[str, LaneFigures]:
    """One run of each scheduler: of Chain-Flush that with the shortest latency of a promise."""
    found: dict[str, LaneFigures] = {}
    for label, one in ran.items():
        name, _, times = label.partition(" ")
        if not times or float(times) == 2:
            found[name] = one
    return found
