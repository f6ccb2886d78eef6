"""The picture of `./penstock bench chain`: memory and latency over time, and by thresholds."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock_bench.chain.colours import COLOURS
from penstock_bench.chain.lane_plot import (
    LANE_DRAWINGS,
    draw_latencies,
    draw_queues,
    draw_thresholds,
)
from penstock_bench.chain.sections import AllSchedulers
from penstock_bench.chain.spark_section import OnLanes, SparkSchedulers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from penstock_bench.chain.sections import ChainSection
    from penstock_bench.chain.trace import Trace
    from penstock_bench.kernels import SectionOutcome

ACROSS = 4
"""How many drawings stand beside each other."""
DRAWN = ("flush", "mixed")
"""The sections whose figures are drawn by what is varied."""
INSTANTS, GROUPS = 500, 60
"""Of a curve of memory, and of one of latencies."""
SHADES = 48
"""Colours of the picture, in all."""


def write_picture(
    sections: Sequence[ChainSection], outcomes: Sequence[SectionOutcome], path: Path
) -> None:
    """Write a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    traces = {
        label: found
        for one in sections
        if isinstance(one, AllSchedulers)
        for label, found in one.shown.items()
    }
    varied = [
        (outcome.name, name, found)
        for outcome in outcomes
        if outcome.name in DRAWN
        for name, found in outcome.figures.items()
    ]
    lanes = [
        (
            f"{one.name}, {traffic}",
            one.shown[traffic],
            [] if isinstance(one, SparkSchedulers) else one.least[traffic],
        )
        for one in sections
        if isinstance(one, OnLanes)
        for traffic in one.shown
    ]
    count = 2 * len(traces) + len(varied) + LANE_DRAWINGS * len(lanes)
    down = max(-(-count // ACROSS), 1)
    figure = Figure(figsize=(4.2 * ACROSS, 2.6 * down), layout="constrained")
    FigureCanvasAgg(figure)
    places = iter(figure.add_subplot(down, ACROSS, place + 1) for place in range(count))
    for label, found in traces.items():
        _draw_memory(next(places), label, found)
        _draw_latencies(next(places), label, found)
    for lane, ran, least in lanes:
        draw_queues(next(places), lane, ran, least)
        draw_latencies(next(places), lane, ran)
        draw_thresholds(next(places), lane, ran)
    for kind, name, figures in varied:
        (_draw_flush if kind == "flush" else _draw_mixed)(next(places), name, figures)
    _write(figure, path)


def _write(figure: Figure, path: Path) -> None:
    from PIL import Image

    for axes in figure.axes:
        axes.grid(visible=True, linewidth=0.3)
        axes.tick_params(labelsize=7)
        axes.title.set_fontsize(9)
        axes.legend(fontsize=6)
    # As few colours as there are: the picture is in the repository.
    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=60)
    Image.open(drawn).convert("RGB").quantize(SHADES).save(path, format="PNG", optimize=True)


def _draw_memory(axes: Axes, label: str, traces: Mapping[str, Trace]) -> None:
    axes.set_title(f"{label}: memory over time, blocks")
    end = max(max(one.done) for one in traces.values())
    instants = np.linspace(0, end, INSTANTS)
    for name, one in traces.items():
        axes.plot(instants, one.memory(instants), color=COLOURS[name], linewidth=0.8, label=name)


def _draw_latencies(axes: Axes, label: str, traces: Mapping[str, Trace]) -> None:
    axes.set_title(f"{label}: latency of results over time")
    for name, one in traces.items():
        times, latencies = one.latencies_over_time(GROUPS)
        axes.plot(times, latencies, color=COLOURS[name], linewidth=0.8, label=name)


def _draw_flush(axes: Axes, name: str, figures: Mapping[str, Any]) -> None:
    axes.set_title(f"{name}: peak of Chain-Flush by latency")
    latencies = [one["latency"] for one in figures["latencies"]]
    for way in ("chain_flush", "exact"):
        if way in figures["latencies"][0]:
            peaks = [one[way]["peak_memory"] for one in figures["latencies"]]
            axes.plot(latencies, peaks, "o-", color=COLOURS[way], markersize=3, label=way)
    _draw_ends(axes, figures)


def _draw_mixed(axes: Axes, name: str, figures: Mapping[str, Any]) -> None:
    axes.set_title(f"{name}: peak of Mixed by mean latency")
    points = figures["thresholds"]
    latencies = [one["mean_latency"] for one in points]
    peaks = [one["peak_memory"] for one in points]
    axes.plot(latencies, peaks, "o-", color=COLOURS["mixed"], markersize=3, label="mixed")
    for end in ("fifo", "chain"):
        at = figures[end]
        axes.plot(at["mean_latency"], at["peak_memory"], "s", color=COLOURS[end], label=end)


def _draw_ends(axes: Axes, figures: Mapping[str, Any]) -> None:
    """FIFO and Chain, by their longest latencies."""
    for end in ("fifo", "chain"):
        at = figures[end]
        axes.plot(at["longest_latency"], at["peak_memory"], "s", color=COLOURS[end], label=end)
