"""A join of four streams on Spark: Penstock's, in one operator and as a tree, and Spark's own."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from penstock.errors import InternalError
from penstock_bench.kernels import SectionOutcome
from penstock_bench.multijoin_sections import tell
from penstock_bench.pipeline import CEILING, NATIVE, Bench, PipelineEffort, Way
from penstock_bench.pipeline_data import Input, written
from penstock_bench.pipeline_penstock import streams_of
from penstock_bench.pipeline_report import SPEED, speed_cells, steady_figures
from penstock_bench.pipeline_run import PipelineSetting, in_own_process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock_bench.pipeline_steady import Steady
    from penstock_bench.report import Figures

AT_ONCE, IN_A_TREE = "four at once", "four in a tree"
STREAMS = streams_of(AT_ONCE)
KEYS = 50_000
"""With as many rows of each stream in a window: a row finds about one in each of the others."""
SAMPLE, SAMPLE_WINDOW = Input(2000, 4, STREAMS, keys=100), 40_000
"""What results are counted in before anything is timed."""
ROWS = 200_000
"""Of a micro-batch."""
AIM = 10.0
"""Times Spark's joins."""

OURS = Way("Penstock, one operator", AT_ONCE)
WAYS = (
    CEILING,
    OURS,
    Way("Penstock, a tree", IN_A_TREE),
    *(Way(one.label, "native joins of four", one.settings) for one in NATIVE.values()),
)
MEASURED = PipelineEffort((ROWS,), seconds=25.0, warm_seconds=15.0)
QUICK = PipelineEffort((ROWS,), batches=6, warm_seconds=2.0)


@dataclass(frozen=True)
class OnSpark:
    """The section: each way in a process of its own, over the same files."""

    effort: PipelineEffort
    ways: Sequence[Way] = field(default=WAYS)
    name: str = "spark"

    @property
    def items(self) -> Sequence[Way]:
        """The items that are measured."""
        return self.ways

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Count the results of each way in a sample, then measure one after the other."""
        with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
            agreed = verify(Path(folder), self.ways)
            bench = Bench(Path(folder), self.effort)
            found = {}
            for way in self.ways:
                found[way.label] = bench.speed(way, STREAMS, self.effort.sizes[0], keys=KEYS)
                done()
                tell(f"{self.name}: {way.label}")
        figures = {label: _figures(one, found, agreed) for label, one in found.items()}
        return SectionOutcome(self.name, _table(found, self.effort.sizes[0]), figures)


def verify(folder: Path, ways: Sequence[Way]) -> int:
    """Count what each way finds in a sample, but for the ceiling, which finds nothing.

    Raises:
        InternalError: They do not agree.
    """
    data = written(folder, SAMPLE)
    found = {}
    for way in ways:
        if way is not CEILING:
            run = PipelineSetting(
                way.runs,
                str(data),
                window=SAMPLE_WINDOW,
                flush=True,
                settings=dict(way.settings),
            )
            found[way.label] = in_own_process(run).results
    if len({*found.values()}) > 1:
        msg = f"the joins of four streams do not agree: {found}"
        raise InternalError(msg)
    return next(iter(found.values()), 0)


def _ratio(one: Steady, found: Mapping[str, Steady]) -> float:
    return found[OURS.label].rows_per_second / one.rows_per_second if OURS.label in found else 0.0


def _figures(one: Steady, found: Mapping[str, Steady], agreed: int) -> Figures:
    return {
        **steady_figures(one),
        "penstock_ratio": round(_ratio(one, found), 3),
        "results_agreed_on": agreed,
    }


def _table(found: Mapping[str, Steady], rows: int) -> Table:
    """A row for each way."""
    title = f"Join of four streams over 10 s on Spark, {rows:,} rows per batch (aim: {AIM:.0f}x)"
    table = Table(title=title, title_justify="left", title_style="bold")
    for column in ("", *SPEED, f"{OURS.label} / this"):
        table.add_column(column, justify="right" if column else "left")
    for label, one in found.items():
        table.add_row(label, *speed_cells(one), f"{_ratio(one, found):.2f}")
    return table
