"""A section of the benchmark of multi-joins: ways to join, compared over a series of windows."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from penstock_bench.kernels import SectionOutcome
from penstock_bench.multijoin_planned import planned
from penstock_bench.multijoin_run import measure, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock_bench.multijoin_run import MeasuredWay, WayEffort
    from penstock_bench.multijoin_traffic import StreamTraffic
    from penstock_bench.multijoin_ways import Way
    from penstock_bench.report import Figures


@dataclass(frozen=True)
class AnswerSample:
    """A short run in which answers are compared."""

    traffic: StreamTraffic
    steps: int


@dataclass(frozen=True)
class MeasuringPoint:
    """Measurements taken together: all ways get the same rows.

    Args:
        group: What it has in common with other points, for people.
        x: What it is about, in this section.
        ways: By what they are called; the others are compared with the first.
        sample: For the comparison of answers.
    """

    group: str
    x: float
    traffic: StreamTraffic
    ways: Mapping[str, Way]
    sample: AnswerSample

    @property
    def name(self) -> str:
        """The name of the section."""
        return f"{self.group}, {self.x:,}" if self.group else f"{self.x:,}"


@dataclass(frozen=True)
class Series:
    """A section: several points, and the rates that each way can keep up with.

    Args:
        plans: Whether it is looked at what the planner would run, a tree or one operator.
    """

    name: str
    title: str
    across: str
    points: Sequence[MeasuringPoint]
    effort: WayEffort
    plans: bool = False

    @property
    def items(self) -> Sequence[MeasuringPoint]:
        """The items that are measured."""
        return self.points

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one point after the other; `done` is called after each."""
        found = []
        for point in self.points:
            agreed, measured = look_at(point, self.effort)
            found.append((point, agreed, measured))
            done()
            tell(f"{self.name}: {point.name}")
        made = {point.name: point_figures(point, agreed, one) for point, agreed, one in found}
        if self.plans:
            for point in self.points:
                made[point.name]["planner_runs"] = planned(point.traffic)
        return SectionOutcome(
            self.name, self._table([(point, one) for point, _, one in found]), made
        )

    def _table(self, found: Sequence[tuple[MeasuringPoint, Mapping[str, MeasuredWay]]]) -> Table:
        """A row for each point, a column for each way."""
        table = Table(title=self.title, title_justify="left", title_style="bold")
        grouped = any(point.group for point, _ in found)
        labels = dict.fromkeys(label for _, measured in found for label in measured)
        last = ["results per tuple", *(["planner runs"] if self.plans else [])]
        for column in (*([""] if grouped else []), self.across, *labels, *last):
            table.add_column(column, justify="right" if column else "left")
        for point, measured in found:
            base = next(iter(measured.values()))
            cells = [_cell(measured.get(label), base) for label in labels]
            first = [point.group] if grouped else []
            plan = [planned(point.traffic)] if self.plans else []
            table.add_row(*first, f"{point.x:,}", *cells, f"{base.results:.2f}", *plan)
        return table


def look_at(point: MeasuringPoint, effort: WayEffort) -> tuple[int, dict[str, MeasuredWay]]:
    """Compare answers, then measure; how many results all ways agreed on."""
    gc.collect()
    agreed = verify(point.sample.traffic, point.ways, point.sample.steps)
    return agreed, measure(point.traffic, point.ways, effort)


def tell(line: str) -> None:
    """Say how far it is where there is no bar to look at; a run takes minutes."""
    if not sys.stdout.isatty():
        sys.stderr.write(f"{line}\n")


def _cell(one: MeasuredWay | None, base: MeasuredWay) -> str:
    """K tuples in a second, and how many times those of the first way that is."""
    if one is None:
        return ""
    times = "" if one is base else f" ({one.rate / base.rate:.2f}x)"
    return f"{one.rate / 1e3:,.1f}{times}"


def point_figures(
    point: MeasuringPoint, agreed: int, measured: Mapping[str, MeasuredWay]
) -> Figures:
    """A point, with all that was measured."""
    traffic = point.traffic
    base = next(iter(measured.values()))
    return {
        "group": point.group,
        "x": point.x,
        "rates": traffic.rates,
        "windows": traffic.windows,
        "values": traffic.values,
        "step_rows": traffic.step_rows,
        "results_agreed_on": agreed,
        "ways": {label: way_figures(one, base) for label, one in measured.items()},
    }


def way_figures(one: MeasuredWay, base: MeasuredWay) -> Figures:
    """A way: tuples in a second, and how they compare with those of another."""
    return {
        "tuples_per_second": round(one.rate),
        "times_first": round(one.rate / base.rate, 3),
        "ns_per_tuple": round(one.least, 1),
        "highest_ns": round(max(one.nanoseconds), 1),
        "results_per_tuple": round(one.results, 4),
        "visits_per_tuple": None if one.visits is None else round(one.visits, 1),
        "state_bytes": one.state_bytes,
    }
