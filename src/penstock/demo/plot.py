"""The picture at the end: average speeds, the congestions that were found, and the truth."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.demo.highway import ACCIDENT, FREE_SPEED, SECONDS, START, STATIONS
from penstock.demo.scenario import CELL_SECONDS, THRESHOLD

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from penstock.demo.board import Board

FOUND = "black"
TRUTH = "white"


def write_picture(board: Board, path: Path) -> None:
    """Write a PNG with all that was found."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(
        board.grid(),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        cmap="RdYlGn",
        vmin=0,
        vmax=FREE_SPEED,
        extent=(0, SECONDS, 0.5, STATIONS + 0.5),
    )
    figure.colorbar(image, label=f"average speed over {CELL_SECONDS / 60:.0f} minutes, m/s")
    _outline_found(axes, board)
    _outline_truth(axes)
    _label(axes)
    figure.savefig(path, format="png", dpi=110)


def _outline_found(axes: Axes, board: Board) -> None:
    from matplotlib.patches import Rectangle

    for station, begins, ends in board.all_congestions():
        corner = (begins, station - 0.45)
        axes.add_patch(Rectangle(corner, ends - begins, 0.9, fill=False, edgecolor=FOUND, lw=1.8))


def _outline_truth(axes: Axes) -> None:
    """The time in which vehicles crawled, and the accident that made them."""
    for station, (begins, ends) in ACCIDENT.jams().items():
        axes.hlines(station, begins, ends, colors=TRUTH, linestyles="dashed", lw=1.4)
    axes.plot(ACCIDENT.begins, ACCIDENT.station, "X", color=TRUTH, mec="black", ms=12)
    axes.annotate(
        "accident",
        (ACCIDENT.begins, ACCIDENT.station),
        xytext=(-10, 12),
        textcoords="offset points",
        ha="right",
    )


def _label(axes: Axes) -> None:
    from matplotlib.lines import Line2D

    hours = range(0, int(SECONDS) + 1, 1800)
    axes.set_xticks(list(hours), [f"{START + timedelta(seconds=one):%H:%M}" for one in hours])
    axes.set_yticks(range(1, STATIONS + 1))
    axes.set_ylabel("station (traffic goes up)")
    axes.set_title("A highway with a rush hour and an accident")
    lines = {
        f"found: average of 15 minutes below {THRESHOLD:.0f} m/s": Line2D([], [], color=FOUND),
        "truth: vehicles crawl": Line2D([], [], color=TRUTH, ls="dashed"),
    }
    axes.legend(
        list(lines.values()), list(lines), loc="lower left", facecolor="lightgrey", framealpha=1
    )
