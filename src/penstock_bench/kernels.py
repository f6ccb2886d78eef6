"""`./penstock bench kernels`: the block operators of one lane, on one core."""

from __future__ import annotations

import gc
import os
import platform
import sys
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.errors import UnknownName, did_you_mean
from penstock_bench import contests, lengths, memory, operators, report
from penstock_bench.driving import speed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.table import Table

    from penstock_bench.driving import Speed
    from penstock_bench.report import Figures

Measured = TypeVar("Measured")

WINDOW_ROWS = 20_000
"""Rows in a window of the long runs, if there are 50 times as many rows."""
LIBRARIES = ("pyarrow", "numpy", "numba", "duckdb", "polars")


@dataclass(frozen=True)
class KernelSection(Generic[Measured]):
    """One section of the benchmark: things to measure by name, and how to show them."""

    name: str
    items: Mapping[str, Callable[[], Measured]]
    table: Callable[[Mapping[str, Measured]], Table]
    figures: Callable[[Measured], Figures]

    def only(self, names: Sequence[str]) -> KernelSection[Measured]:
        """The part with the wanted things: all, if no names are given or the part's own is."""
        if not names or self.name in names:
            return self
        items = {name: measure for name, measure in self.items.items() if name in names}
        return KernelSection(self.name, items, self.table, self.figures)

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one thing after the other; `done` is called after each."""
        measured = {}
        for name, measure in self.items.items():
            # What an earlier measurement left behind is not collected during this one.
            gc.collect()
            measured[name] = measure()
            done()
        figures = {name: self.figures(one) for name, one in measured.items()}
        return SectionOutcome(self.name, self.table(measured), figures)


@dataclass(frozen=True)
class SectionOutcome:
    """A part that has been measured."""

    name: str
    table: Table
    figures: dict[str, Figures]


def parts(rows: int, seconds: float, names: Sequence[str] = ()) -> list[KernelSection[Any]]:
    """The sections, with what is wanted of each.

    Args:
        rows: Rows of the input of each measurement.
        seconds: CPU seconds to measure each operator and each way for, about.
        names: Sections, operators or queries; all, if there are none.

    Raises:
        UnknownName: There is nothing of such a name.
    """
    every = _parts(rows, seconds)
    known = dict.fromkeys([*(part.name for part in every), *(n for p in every for n in p.items)])
    for name in names:
        if name not in known:
            msg = f'bench kernels measures nothing called "{name}"'
            otherwise = f"Sections: {', '.join(part.name for part in every)}."
            raise UnknownName(msg, hint=did_you_mean(name, known, otherwise=otherwise))
    chosen = [part.only(names) for part in every]
    return [part for part in chosen if part.items]


def _parts(rows: int, seconds: float) -> list[KernelSection[Any]]:
    window_rows = max(min(WINDOW_ROWS, rows // memory.WINDOWS), 10)
    return [
        KernelSection(
            "operators",
            {name: partial(_speed, one, rows, seconds) for name, one in operators.CASES.items()},
            report.operators_table,
            report.speed_figures,
        ),
        KernelSection(
            "ratios",
            {one.name: partial(contests.hold, one, rows, seconds) for one in contests.CONTESTS},
            report.ratios_table,
            report.score_figures,
        ),
        KernelSection(
            "lengths",
            {one.name: partial(lengths.costs, one, rows) for one in lengths.STRETCHES},
            report.lengths_table,
            report.costs_figures,
        ),
        KernelSection(
            "memory",
            {one.name: partial(memory.footprint, one, window_rows) for one in memory.SUBJECTS},
            report.memory_table,
            report.footprint_figures,
        ),
    ]


def _speed(case: operators.OperatorCase, rows: int, seconds: float) -> Speed:
    return speed(case.workload(rows), seconds)


def machine() -> Figures:
    """The machine it ran on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "load": [round(one, 2) for one in os.getloadavg()],
    }


def versions() -> Figures:
    """Python and the libraries that compute."""
    return {"python": sys.version.split()[0], **{name: version(name) for name in LIBRARIES}}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
