"""The picture of `./penstock bench transactions`: each measure by the number of sub-windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.transactions.transaction_schedulers import TRANSACTION_SCHEDULERS
from penstock_bench.transactions.sections import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from penstock_bench.kernels import SectionOutcome

COLOURS = {"serial": "tab:blue", "ws": "tab:orange", "lws": "tab:green", "ttu": "tab:red"}
OF_MIXED = ("response", "asked_staleness")
"""The measures of one-time queries; the others are drawn of periodic ones alone."""
NOT_DRAWN = ("throughput", "cpu", "per_scan")
"""Measures that depend on what else the machine does."""
STYLES = ("-", "--", ":")
"""Of lengths of sub-windows, from the shortest on."""


def write_reads_picture(outcomes: Sequence[SectionOutcome], path: Path) -> None:
    """Write a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    by_name = {one.name: one.figures for one in outcomes}
    figure = Figure(figsize=(11, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    drawn = {measure: words for measure, words in MEASURES.items() if measure not in NOT_DRAWN}
    for place, (measure, words) in enumerate(drawn.items()):
        axes = figure.add_subplot(2, 3, place + 1)
        _draw(axes, measure, by_name.get("mixed" if measure in OF_MIXED else "periodic", {}))
        axes.set_title(words, fontsize=9)
        axes.set_xlabel("sub-windows", fontsize=7)
        axes.grid(visible=True, linewidth=0.3)
        axes.tick_params(labelsize=7)
        axes.set_ylim(bottom=0)
        if axes.lines:
            axes.legend(fontsize=6)
    figure.savefig(path, dpi=90)


def _draw(axes: Axes, measure: str, found: Mapping[str, Mapping[str, Any]]) -> None:
    """A line for each scheduler and length of sub-windows."""
    every = sorted({one["every"] for one in found.values()})
    for length, style in zip(every, STYLES, strict=False):
        runs = [one for one in found.values() if one["every"] == length]
        for scheduler in TRANSACTION_SCHEDULERS:
            points = [(one["length"], one[scheduler].get(measure)) for one in runs]
            known = [(x, y) for x, y in points if y is not None]
            if known:
                axes.plot(
                    *zip(*known, strict=True),
                    style,
                    color=COLOURS[scheduler],
                    marker=".",
                    linewidth=1,
                    label=f"{scheduler}, {length:g} s",
                )
