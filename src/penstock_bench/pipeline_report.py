"""The figures of the pipeline's benchmark, as tables for people and as figures for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock_bench.pipeline_steady import Steady
    from penstock_bench.report import Figures

    Shown = tuple[Table, dict[str, Figures]]

NATIVE_AIM, CEILING_AIM, AIM_SIZE = 6.0, 0.8, 200_000
"""What issue 4 asks for: times Spark's join, and of the ceiling, at so many rows per batch."""
PACE_SECONDS = 0.1
"""From file to file, where latency is measured."""
OURS, CEILING, AGAIN = "Penstock", "ceiling", ", again"
TITLES = {
    "join": "Equi-join of two streams over 10 s",
    "aggregate": "COUNT, SUM, MAX per key over 10 s, at every event",
    "distinct": "DISTINCT keys over 10 s",
    "global": "COUNT, SUM, MAX of all rows over 10 s, at every event, in two phases",
    "regrouped": "The join, grouped by another column: two fragments and an exchange",
    "ten": "Ten queries at once",
}


def item(size: int, way: str) -> str:
    """The name of a way at a size."""
    return f"{size}: {way}"


def contest(workload: str, found: Mapping[str, Steady]) -> Shown:
    """A row for each way at each size; how Penstock compares to each other one."""
    table = _table(TITLES[workload], "rows per batch", "way", *SPEED, "Penstock / this", left=2)
    figures: dict[str, Figures] = {}
    before = ""
    for name, one in found.items():
        size, _, way = name.partition(": ")
        if before not in ("", size):
            table.add_section()
        ours = [found.get(item(int(size), OURS + again)) for again in ("", AGAIN)]
        best = max(one.rows_per_second for one in ours if one)
        ratio = best / one.rows_per_second
        shown = "" if way.startswith(OURS) else _judged(workload, int(size), way, ratio)
        first = f"{int(size):,}" if size != before else ""
        table.add_row(first, way, *speed_cells(one), shown)
        figures[name] = {**steady_figures(one), "penstock_ratio": round(ratio, 3)}
        before = size
    return table, figures


def fixed(found: Mapping[str, Steady]) -> Shown:
    """The cost of a micro-batch of one row per stream, and on what Spark spends the time."""
    parts = list(dict.fromkeys(part for one in found.values() for part in one.parts_ms))
    columns = ("median, ms", "p99, ms", *(f"{part}, ms" for part in parts))
    table = _table("The join with one row per stream and micro-batch", "way", *columns)
    for way, one in found.items():
        cells = [_milliseconds(one.parts_ms.get(part)) for part in parts]
        table.add_row(way, f"{one.median_ms:.0f}", f"{one.p99_ms:.0f}", *cells)
    return table, {way: steady_figures(one) for way, one in found.items()}


def many(found: Mapping[str, Steady]) -> Shown:
    """The time of a micro-batch by the number of queries."""
    title = f"Queries on one stream, {AIM_SIZE:,} rows per batch"
    table = _table(title, "", *SPEED, "times the first")
    least = next(iter(found.values())).median_ms
    for name, one in found.items():
        table.add_row(name, *speed_cells(one), f"{one.median_ms / least:.2f}")
    return table, {
        name: {**steady_figures(one), "times_one": round(one.median_ms / least, 2)}
        for name, one in found.items()
    }


def latency(found: Mapping[str, Sequence[float]]) -> Shown:
    """From a file's landing to its commit; the first half, while all gets warm, does not count."""
    title = f"Latency of the join at half its greatest speed, a file every {PACE_SECONDS} s"
    table = _table(title, "", "p50, ms", "p99, ms", "greatest, ms", "files")
    figures: dict[str, Figures] = {}
    for name, seconds in found.items():
        steady = np.array(seconds[len(seconds) // 2 :]) * 1000
        p50, p99 = np.percentile(steady, [50, 99]).tolist()
        top = float(steady.max())
        table.add_row(name, f"{p50:.0f}", f"{p99:.0f}", f"{top:.0f}", str(len(steady)))
        figures[name] = {"p50_ms": round(p50), "p99_ms": round(p99), "max_ms": round(top)}
    return table, figures


def registering(found: Mapping[str, float]) -> Shown:
    """One more query beside others: the CPU of the driver."""
    table = _table("Registering one more query", "running", "CPU, ms", "of the first row")
    base = next(iter(found.values()))
    for name, seconds in found.items():
        table.add_row(name, f"{seconds * 1000:.0f}", f"{seconds / base:.1f}")
    return table, {name: {"cpu_ms": round(one * 1000, 1)} for name, one in found.items()}


def scaling(found: Mapping[str, Steady]) -> Shown:
    """The join with fewer lanes and longer windows."""
    title = f"Scaling of the join, {AIM_SIZE:,} rows per batch"
    table = _table(title, "", *SPEED, "M rows before", "of the second row")
    base = list(found.values())[min(1, len(found) - 1)].rows_per_second
    for name, one in found.items():
        before = f"{one.rows_before / 1e6:.1f}"
        table.add_row(name, *speed_cells(one), before, f"{one.rows_per_second / base:.2f}")
    return table, {name: steady_figures(one) for name, one in found.items()}


def steady_figures(one: Steady) -> Figures:
    """A steady state, with where the time goes."""
    cpu = one.cpu_per_million
    return {
        "rows_per_second": round(one.rows_per_second),
        "median_ms": round(one.median_ms, 1),
        "p99_ms": round(one.p99_ms, 1),
        "batches": one.batches,
        "rows_before": one.rows_before,
        "cpu_seconds_per_million_rows": None if cpu is None else round(cpu, 3),
        "results_per_row": round(one.results_per_row, 3),
        "spark_ms": {name: round(value, 1) for name, value in one.parts_ms.items()},
        "penstock_ms": {name: round(value, 1) for name, value in one.lanes_ms.items()},
    }


SPEED = (
    "k rows/s", "median, ms", "p99, ms", "CPU s per M rows", "results per row", "in the job, ms",
    "in operators, ms",
)  # fmt: skip
"""The columns that `speed_cells` fills."""


def speed_cells(one: Steady) -> list[str]:
    """A steady state in a row of a table."""
    return [
        f"{one.rows_per_second / 1000:.0f}",
        f"{one.median_ms:.0f}",
        f"{one.p99_ms:.0f}",
        "" if one.cpu_per_million is None else f"{one.cpu_per_million:.1f}",
        f"{one.results_per_row:.2f}",
        _milliseconds(one.parts_ms.get("addBatch", one.lanes_ms.get("job"))),
        _milliseconds(one.lanes_ms.get("operators")),
    ]


def _milliseconds(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _judged(workload: str, size: int, way: str, ratio: float) -> str:
    """A ratio, coloured where there is an aim for it."""
    is_ceiling = way.startswith(CEILING)
    if size != AIM_SIZE or (not is_ceiling and workload != "join"):
        return f"{ratio:.2f}"
    good = ratio >= (CEILING_AIM if is_ceiling else NATIVE_AIM)
    return f"[{'green' if good else 'yellow'}]{ratio:.2f}[/]"


def _table(title: str, *columns: str, left: int = 1) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right")
    return table
