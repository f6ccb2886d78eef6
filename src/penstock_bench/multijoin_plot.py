"""The picture of `./penstock bench multijoin`: a drawing for each section."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from penstock_bench.kernels import SectionOutcome

ACROSS = 3
"""How many drawings stand beside each other."""
LINES = ("solid", "dashed", "dotted", "dashdot")
"""Of groups of points."""
TITLES = {
    "orders": "orders: measured ns per tuple by the model's cost",
    "hash": "hash: tuples/s by rows at once",
    "interval": "interval: tuples/s by rows at once",
    "windows": "windows: tuples/s by their number",
    "buckets": "buckets: tuples/s by their average number",
    "lengths": "lengths: ns per tuple by rows of a window",
    "spark": "spark: rows/s",
}


def write_picture(outcomes: Sequence[SectionOutcome], path: Path) -> None:
    """Write a PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    down = max(-(-len(outcomes) // ACROSS), 1)
    figure = Figure(figsize=(5.0 * ACROSS, 3.6 * down), layout="constrained")
    FigureCanvasAgg(figure)
    for place, outcome in enumerate(outcomes):
        axes = figure.add_subplot(down, ACROSS, place + 1)
        axes.set_title(TITLES[outcome.name], fontsize=9)
        axes.tick_params(labelsize=7)
        if outcome.name == "spark":
            _draw_bars(axes, outcome.figures)
            continue
        if outcome.name == "orders":
            _draw_orders(axes, outcome.figures)
        else:
            _draw_series(axes, outcome.figures, outcome.name)
        axes.grid(visible=True, which="major", linewidth=0.3)
        axes.legend(fontsize=6)
    figure.savefig(path, format="png", dpi=70)


def _draw_orders(axes: Axes, figures: Mapping[str, Any]) -> None:
    """A point for each order of each variant."""
    for name, one in figures.items():
        orders = one["orders"].values()
        costs = [each["model_cost"] for each in orders]
        axes.loglog(costs, [each["ns_per_tuple"] for each in orders], "o", markersize=3, label=name)


def _draw_series(axes: Axes, figures: Mapping[str, Any], name: str) -> None:
    """A line for each way and group of points."""
    what = "ns_per_tuple" if name == "lengths" else "tuples_per_second"
    points = list(figures.values())
    groups = list(dict.fromkeys(one["group"] for one in points))
    ways = list(dict.fromkeys(label for one in points for label in one["ways"]))
    named: set[str] = set()
    for colour, way in enumerate(ways):
        for group, line in zip(groups, LINES, strict=False):
            here = [one for one in points if one["group"] == group and way in one["ways"]]
            axes.plot(
                [one["x"] for one in here],
                [one["ways"][way][what] for one in here],
                color=f"C{colour}",
                linestyle=line,
                marker="o",
                markersize=3,
                linewidth=1.2,
                label=way if here and way not in named else None,
            )
            named |= {way} if here else set()
    if len(groups) > 1:
        kinds = (f"{line}: {group}" for group, line in zip(groups, LINES, strict=False))
        axes.set_xlabel(", ".join(kinds), fontsize=7)
    axes.set_yscale("log")
    if name not in ("windows", "buckets"):
        axes.set_xscale("log")


def _draw_bars(axes: Axes, figures: Mapping[str, Any]) -> None:
    """A bar for each way."""
    labels = list(figures)
    bars = axes.barh(labels, [one["rows_per_second"] for one in figures.values()])
    axes.bar_label(bars, fmt="{:,.0f}", fontsize=7, padding=2)
    axes.invert_yaxis()
    # Room for the numbers.
    axes.margins(x=0.25)
