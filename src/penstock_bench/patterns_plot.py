"""The picture of `./penstock bench patterns`: time and state of each case, by length of windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock_bench.patterns_cases import CASES
from penstock_bench.patterns_run import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from penstock_bench.kernels import SectionOutcome

COLOURS = ("tab:blue", "tab:orange", "tab:red", "tab:green", "tab:purple")
"""Of the strategies, in their order."""
LINES = ("solid", "dashed")
"""Of the forms of a case, in their order."""
FORMS = {case.name: tuple(case.forms) for case in CASES}
ACROSS = 2
"""How many cases stand beside each other."""


def write_picture(outcomes: Sequence[SectionOutcome], path: Path) -> None:
    """Write a PNG with two drawings for each case."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    drawn = [one for one in outcomes if one.name in FORMS]
    down = max(-(-len(drawn) // ACROSS), 1)
    columns = 2 * ACROSS
    figure = Figure(figsize=(3.0 * columns, 2.5 * down + 0.3), layout="constrained")
    FigureCanvasAgg(figure)
    for place, outcome in enumerate(drawn):
        time, state = (figure.add_subplot(down, columns, 2 * place + one) for one in (1, 2))
        found = [one for one in outcome.figures.values() if "form" in one]
        first, second = forms = FORMS[outcome.name]
        for form, line in zip(forms, LINES, strict=True):
            here = [one for one in found if one["form"] == form]
            _draw(time, here, line, _milliseconds)
            _draw(state, here, line, _kilobytes)
        time.set_title(f"{outcome.name}: ms for 1000 tuples", fontsize=9)
        time.set_xlabel(f"solid: {first}, dashed: {second}", fontsize=7)
        state.set_title(f"{outcome.name}: state, kB", fontsize=9)
    lines = [Line2D([], [], color=colour) for _, colour in zip(STRATEGIES, COLOURS, strict=False)]
    figure.legend(lines, STRATEGIES, loc="outside upper center", ncols=len(lines))
    figure.savefig(path, format="png", dpi=70)


def _milliseconds(cost: Mapping[str, float]) -> float:
    return cost["ms_per_1000"]


def _kilobytes(cost: Mapping[str, float]) -> float:
    """Of all state, a kept answer included."""
    return (cost["state_bytes"] + cost["answer_bytes"]) / 1e3


def _draw(
    axes: Axes,
    found: Sequence[Mapping[str, Any]],
    line: str,
    value: Callable[[Mapping[str, float]], float],
) -> None:
    """A line for each strategy, over the lengths of windows."""
    from matplotlib.ticker import LogLocator

    for name, colour in zip(STRATEGIES, COLOURS, strict=False):
        axes.loglog(
            [one["window"] for one in found],
            [value(one["strategies"][name]) for one in found],
            color=colour,
            linestyle=line,
            marker="o",
            markersize=3,
            linewidth=1.2,
        )
    axes.grid(visible=True, which="major", linewidth=0.3)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.tick_params(labelsize=7)
