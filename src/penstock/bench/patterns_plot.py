"""The picture of `./penstock bench patterns`: time and state of each case, by length of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.bench.patterns_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from penstock.bench.kernels import Outcome

COLOURS = ("tab:blue", "tab:orange", "tab:red", "tab:green", "tab:purple")
"""Of the strategies, in their order."""
LINES = ("solid", "dashed")
"""Of the forms of a case, in their order."""
FORMS = {case.name: tuple(case.forms) for case in CASES}
ACROSS = 2
"""How many cases stand beside each other."""


def write_picture(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write a PNG with two drawings for each case."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = [one for one in outcomes if one.name in FORMS]
    down = max(-(-len(drawn) // ACROSS), 1)
    columns = 2 * min(ACROSS, max(len(drawn), 1))
    figure = Figure(figsize=(3.4 * columns, 2.7 * down), layout="constrained")
    FigureCanvasAgg(figure)
    for place, outcome in enumerate(drawn):
        first = place // ACROSS * columns + place % ACROSS * 2 + 1
        time, state = (figure.add_subplot(down, columns, first + one) for one in range(2))
        found = [one for one in outcome.figures.values() if "form" in one]
        _draw(time, found, FORMS[outcome.name], "ms_per_1000", 1.0)
        _draw(state, found, FORMS[outcome.name], "state_bytes", 1e3)
        time.set_title(f"{outcome.name}: ms for 1000 tuples", fontsize=9)
        state.set_title(f"{outcome.name}: state, kB", fontsize=9)
        time.legend(fontsize=6)
    figure.savefig(path, format="png", dpi=70)


def _draw(
    axes: Axes, found: Sequence[Mapping[str, Any]], forms: Sequence[str], key: str, unit: float
) -> None:
    """A line for each strategy and form."""
    for form, line in zip(forms, LINES, strict=True):
        here = [one for one in found if one["form"] == form]
        for name, colour in zip(here[0]["strategies"], COLOURS, strict=False):
            axes.loglog(
                [one["window"] for one in here],
                [one["strategies"][name][key] / unit for one in here],
                color=colour,
                linestyle=line,
                marker="o",
                markersize=3,
                linewidth=1.2,
                label=f"{name}, {form}",
            )
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.tick_params(labelsize=7)
