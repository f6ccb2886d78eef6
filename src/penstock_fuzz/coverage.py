"""A count of what was tried: operators, windows, aggregates and functions in plans."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import orders
from penstock.algebra import streams as st
from penstock.algebra.expressions import Call, Case, Cast, walk
from penstock.algebra.plan import different_nodes, expressions_of
from penstock.algebra.windows import Range, Rows
from penstock.catalog.functions import AGGREGATES, FUNCTIONS
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.building import Choices
from penstock.planner.physical.multiway_choice import MultiwayChoices
from penstock_fuzz.trial import late_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.algebra.expressions import Expression
    from penstock.algebra.plan import Plan
    from penstock_fuzz.trial import Trial


_JOINS = (op.Product, op.Join)
REWRITTEN = frozenset({"ifnull", "nvl2", "to_date", "to_timestamp"})
"""Functions that the binder turns into others, so that no plan has them."""


@dataclass
class TrialCoverage:
    """Counts over all trials so far."""

    plans: int = 0
    rows: int = 0
    late: int = 0
    feeds: int = 0
    restores: int = 0
    changes: int = 0
    refused: int = 0
    operators: Counter[str] = field(default_factory=Counter)
    windows: Counter[str] = field(default_factory=Counter)
    aggregates: Counter[str] = field(default_factory=Counter)
    functions: Counter[str] = field(default_factory=Counter)
    joins: Counter[str] = field(default_factory=Counter)
    runs: Counter[str] = field(default_factory=Counter)

    def add(self, trial: Trial, plan: Plan, refused: int) -> None:
        """Count a trial."""
        self.plans += 1
        self.rows += trial.row_count
        self.late += len(late_rows(trial))
        self.feeds += trial.feed_count
        self.restores += len(trial.restore_after)
        self.changes += len(trial.lanes_after)
        self.refused += refused
        lanes = "1 lane" if trial.lanes == 1 else f"{trial.lanes} lanes"
        self.runs.update([trial.strategy, lanes, f"joins {trial.joins}"])
        if trial.budget is not None:
            self.runs[f"budget {trial.budget:g} {trial.scheduler}"] += 1
        if trial.shedding is not None:
            self.runs[f"shedding {trial.shedding}"] += 1
        self.joins.update(_joins_in_one(trial, plan))
        for node in different_nodes(plan):
            self._add_node(node)

    def _add_node(self, node: Plan) -> None:
        self.operators[_operator(node)] += 1
        if isinstance(node, st.Window):
            self.windows[_window(node)] += 1
        if isinstance(node, op.Aggregate | op.GroupJoin):
            self.aggregates.update(call.function for _, call in node.aggregates)
        for expression in expressions_of(node):
            self.functions.update(_functions(expression))

    def summary(self) -> str:
        """One line: plans, operators, rows."""
        count = self.operators.total()
        return (
            f"{self.plans} plans, {count} operators, {self.rows} rows ({self.late} late),"
            f" {self.feeds} feeds, {self.restores} restores ({self.changes} with other lanes)"
        )

    def table(self) -> str:
        """A line for each kind of thing: how often each was tried, and what was not."""
        known = {*AGGREGATES, *FUNCTIONS} - REWRITTEN
        never = sorted(known - {*self.aggregates, *self.functions})
        lines = [
            _line("operators", self.operators),
            _line("windows", self.windows),
            _line("aggregates", self.aggregates),
            _line("functions", self.functions),
            _line("joins", self.joins),
            _line("runs", self.runs),
        ]
        if never:
            lines.append(f"{'never':<12} {', '.join(never)}")
        return "\n".join(lines)


def _line(title: str, counts: Counter[str]) -> str:
    members = ", ".join(f"{name} {count}" for name, count in counts.most_common())
    return f"{title:<12} {members or '-'}"


def _joins_in_one(trial: Trial, plan: Plan) -> Iterator[str]:
    """Joins of three inputs or more that run as one operator, by the number of inputs and how.

    Of a plan that is not cut into fragments.
    """
    if trial.joins == "tree" or sum(isinstance(one, _JOINS) for one in different_nodes(plan)) < 2:
        return
    choices = Choices.of(trial.tactics, trial.partitions)
    for running in plans_to_run({"": plan}, choices=choices).values():
        for way in MultiwayChoices([running], choices).all_of(running):
            if way.is_chosen:
                how = f"{choices.join_evaluation}/{choices.join_expiration}"
                yield f"{len(way.many.inputs)} inputs {how}"


def _operator(node: Plan) -> str:
    if isinstance(node, st.IStream | st.RStream) and node.restore:
        return f"{type(node).__name__} RESTORE"
    if isinstance(node, st.Internal):
        return f"Internal {node.appends}"
    if isinstance(node, st.Relation) and not node.retroactive:
        return "Relation NRR"
    if isinstance(node, orders.Sort) and node.limit is not None:
        return "Sort LIMIT"
    return type(node).__name__


def _window(node: st.Window) -> str:
    spec = node.spec
    name = type(spec).__name__.upper()
    if isinstance(spec, Rows) and spec.partition_by:
        name = f"PARTITION BY {name}"
    slides = isinstance(spec, Range | Rows) and spec.slide
    derived = "" if isinstance(node.child, st.Stream) else " on derived"
    return f"{name}{' SLIDE' if slides else ''}{derived}"


def _functions(expression: Expression) -> Iterator[str]:
    for part in walk(expression):
        if isinstance(part, Call):
            yield part.function
        elif isinstance(part, Cast | Case):
            yield type(part).__name__.lower()
