"""Tables and figures of `bench cluster`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rich.table import Table

from penstock_bench.pipeline_report import SPEED, speed_cells, steady_figures

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock_bench.cluster_driver import DriverCost
    from penstock_bench.cluster_recovery import Recovered
    from penstock_bench.pipeline_steady import Steady
    from penstock_bench.report import Figures

    Shown = tuple[Table, dict[str, Figures]]

T = TypeVar("T")


def driver(found: Mapping[str, DriverCost]) -> Shown:
    """The cost of a batch in a simulated driver."""
    table = _table(
        "A driver, simulated: CPU ms of a batch", "", "answers, ms", "commit, ms",
        "a task reads the record, ms", "answers, kB", "record, kB",
    )  # fmt: skip
    figures: dict[str, Figures] = {}
    for name, one in found.items():
        times = (one.decode, one.commit, one.read)
        sizes = (one.answers / 1000, one.record / 1000)
        table.add_row(
            name, *(f"{value:.1f}" for value in times), *(f"{value:.0f}" for value in sizes)
        )
        figures[name] = {key: round(value, 2) for key, value in vars(one).items()}
    return table, figures


def tasks(found: Mapping[str, Steady]) -> Shown:
    """The join by more tasks than there are cores."""
    return _speeds("The join, by tasks on the cores of this machine", found)


def workers(found: Mapping[str, Mapping[str, Steady]]) -> Shown:
    """The join on standalone clusters, and Spark's own on each of them."""
    title = "The join on a standalone cluster, workers of one core each"
    return _speeds(title, _each_way(found))


def killed(found: Mapping[str, Mapping[str, Recovered]]) -> Shown:
    """The cost of a killed executor, to Penstock and to Spark's own join."""
    table = _table(
        "An executor is killed in mid-run: seconds", "", "a batch, usually", "the longest since",
        "later in all", "slow batches",
    )  # fmt: skip
    figures: dict[str, Figures] = {}
    for name, one in _each_way(found).items():
        times = (one.usual, one.longest, one.lost)
        table.add_row(name, *(f"{value:.2f}" for value in times), str(one.slow))
        figures[name] = {key: round(value, 3) for key, value in vars(one).items()}
    return table, figures


def _each_way(found: Mapping[str, Mapping[str, T]]) -> dict[str, T]:
    """The ways that were measured on one cluster, each with the cluster's name."""
    return {f"{name}, {way}": one for name, ways in found.items() for way, one in ways.items()}


def _speeds(title: str, found: Mapping[str, Steady]) -> Shown:
    table = _table(title, "", *SPEED)
    for name, one in found.items():
        table.add_row(name, *speed_cells(one))
    return table, {name: steady_figures(one) for name, one in found.items()}


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title)
    for number, one in enumerate(columns):
        table.add_column(one, justify="right" if number else "left")
    return table
