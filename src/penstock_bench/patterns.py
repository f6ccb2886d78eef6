"""`./penstock bench patterns`: the experiments of the thesis on update patterns."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra.plan import walk
from penstock.planner.optimizing import optimized
from penstock.planner.statistics.statistics import Statistics
from penstock_bench.choosing import chosen
from penstock_bench.driving import QUERY
from penstock_bench.kernels import SectionOutcome
from penstock_bench.patterns_cases import CASES, DOWN, SENT, UP
from penstock_bench.patterns_report import batches_table, case_table, down_to_up, figures, item
from penstock_bench.patterns_run import measure
from penstock_bench.patterns_traffic import (
    DESTINATION_SKEW,
    DESTINATIONS,
    LINKS,
    PROTOCOLS,
    RATE,
    SOURCE_SKEW,
    SOURCES,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.plan import Plan
    from penstock_bench.patterns_cases import PatternCase
    from penstock_bench.patterns_run import MeasuredForm, StrategyEffort
    from penstock_bench.report import Figures


BATCHED = {"q1_telnet": 10_000, "q2_sources": 100_000, "q2_pairs": 100_000}
"""Cases and lengths of windows that are measured with batches of several sizes."""


@dataclass(frozen=True)
class Experiment:
    """A case of the benchmark in all its forms and lengths."""

    case: PatternCase
    effort: StrategyEffort

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self.case.name

    @property
    def items(self) -> list[tuple[tuple[str, ...], int]]:
        """Forms that are measured together, over each length: those that compete."""
        lengths = [one for one in self.effort.windows if one <= self.case.largest]
        # A case whose windows have to be short is measured all the same.
        lengths = lengths or [min(self.effort.windows)]
        forms = tuple(self.case.forms)
        groups = [(form,) for form in forms] if self.case.optimized else [forms]
        return [(group, window) for group in groups for window in lengths]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one thing after the other; `done` is called after each."""
        found: dict[str, MeasuredForm] = {}
        for forms, window in self.items:
            gc.collect()
            for one in measure(self.case, forms, window, self.effort):
                found[item(one.form, window)] = one
            done()
            _tell(f"{self.name}: {', '.join(forms)}; windows of {window:,}")
        made: dict[str, Figures] = {name: figures(one) for name, one in found.items()}
        if not self.case.optimized:
            made["pushed_down_to_pulled_up"] = {**down_to_up(found)}
        runs = {} if self.case.optimized else {name: choice(one) for name, one in found.items()}
        for name, form in runs.items():
            made[name]["optimizer_runs"] = form
        return SectionOutcome(self.name, case_table(self.case, found, runs), made)


@dataclass(frozen=True)
class BatchSizes:
    """The size of batches, which block engines add to the thesis: its effect on the rate."""

    effort: StrategyEffort
    name: str = "batches"

    @property
    def items(self) -> list[tuple[PatternCase, int, int]]:
        """Cases, lengths of windows, and rows of a batch."""
        most = max(self.effort.windows)
        cases = {case.name: case for case in CASES}
        return [
            (cases[name], min(window, most), rows)
            for name, window in BATCHED.items()
            for rows in self.effort.batches
        ]

    def measure(self, done: Callable[[], None]) -> SectionOutcome:
        """Measure one thing after the other; `done` is called after each."""
        found: dict[str, tuple[int, MeasuredForm]] = {}
        for case, window, rows in self.items:
            gc.collect()
            effort = replace(self.effort, batch_rows=rows)
            (measured,) = measure(case, (SENT,), window, effort)
            found[f"{case.name} {rows}"] = rows, measured
            done()
            _tell(f"{self.name}: {case.name}, {rows:,} rows")
        made = {name: {"batch_rows": rows} | figures(one) for name, (rows, one) in found.items()}
        return SectionOutcome(self.name, batches_table(found.values()), made)


def experiments(effort: StrategyEffort, names: Sequence[str] = ()) -> list[Experiment | BatchSizes]:
    """The experiments asked for; all, if no names are given.

    Raises:
        UnknownName: There is nothing of such a name.
    """
    every: list[Experiment | BatchSizes] = [Experiment(case, effort) for case in CASES]
    every.append(BatchSizes(effort))
    return chosen("patterns", every, names, "Cases")


def _tell(line: str) -> None:
    """Say how far it is where there is no bar to look at; a run takes minutes."""
    if not sys.stdout.isatty():
        sys.stderr.write(f"{line}\n")


def choice(one: MeasuredForm) -> dict[str, str]:
    """The form of Q4 that the optimizer runs for a text: as it assumes, as was measured."""
    plan = one.case.plan(one.form, one.window)
    known = {"assuming": Statistics(), "measured": one.statistics}
    return {
        how: form_of(optimized({QUERY: plan}, statistics)[QUERY].plan)
        for how, statistics in known.items()
    }


def form_of(plan: Plan) -> str:
    """The form of a plan: a negation above a join, or below it."""
    (negation,) = [one for one in walk(plan) if isinstance(one, op.AntiJoin)]
    return UP if any(isinstance(one, op.Join) for one in walk(negation)) else DOWN


def traffic_figures() -> Figures:
    """Rates and skew of the packets."""
    return {
        "links": len(LINKS),
        "tuples_per_link_and_step": RATE,
        "sources": SOURCES,
        "source_skew": SOURCE_SKEW,
        "destinations": DESTINATIONS,
        "destination_skew": DESTINATION_SKEW,
        "protocols": dict(PROTOCOLS),
    }
