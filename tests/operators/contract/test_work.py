"""Bounds of work: what operators send and remember, against what changes and what is there.

The inputs are fixed, and so are the counts: a bound holds or does not, on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from operators.contract.cases import CASES, drawn, kinds
from operators.contract.inputs import Size
from operators.contract.run import Run
from operators.contract.trial import changes_of
from penstock.algebra.time import INFINITY
from penstock.operators.aggregate.aggregate import AggregateOperator
from penstock.operators.aggregate.combine_partials import CombineOperator
from penstock.operators.join.anti import AntiJoinOperator
from penstock.operators.join.arrival import ReadOnArrival
from penstock.operators.join.join import JoinOperator
from penstock.operators.join.outer import OuterJoinOperator
from penstock.operators.multi_join.multi_join import MultiJoin
from penstock.operators.multi_join.multi_join_reordering import ReorderingJoin
from penstock.operators.output.cuts import CoalesceOperator, SplitOperator
from penstock.operators.output.emit_final import FinalOperator
from penstock.operators.output.first_rows import FirstRowsOperator
from penstock.operators.output.negative import AnnouncedEnds
from penstock.operators.output.output_instants import Boundaries, RowSlides, TimeSlides
from penstock.operators.output.restored import NextInstant, RestoredResult
from penstock.operators.output.rstream import WholeResult
from penstock.operators.set.distinct import DistinctOperator
from penstock.operators.set.set_counts import InsertedRows, RemovedRows, SetOperation
from penstock.operators.sources import InOrder, Passing, RelationRows
from penstock.operators.stateless import FilterOperator, MapOperator
from penstock.operators.window.arranging import ByValue
from penstock.operators.window.attached import Attached
from penstock.operators.window.element_numbers import Number
from penstock.operators.window.ends import DropEnds, EndsFromColumn, EndsToColumn
from penstock.operators.window.hopping_window import HoppingWindow
from penstock.operators.window.rows_window import RowsWindow
from penstock.operators.window.time_windows import TimeWindow

if TYPE_CHECKING:
    from operators.contract.trial import Case, Trial
    from penstock.operators.operator import Operator

LARGE = Size(counts=(400,), last=100, longest=40, at_once=(1000,))
SEEDS = range(5)
STEP = 10
FEW = 20
"""Fewer live rows are taken for so many: a bound on a handful says nothing."""


class Work(NamedTuple):
    """Elements sent for each net change, and rows remembered for each that is there, at most.

    An element that has an end stands for two changes, so half an element for a change is the
    least; that a row follows an equal one without a gap is no change, whatever is sent for it.
    """

    sent: float
    kept: float


BOUNDS: dict[type[Operator], tuple[Work, str]] = {
    InOrder: (Work(1, 0), "rows as they come"),
    Passing: (Work(1.6, 0), "rows as they come"),
    FilterOperator: (Work(1.6, 0), "rows as they come"),
    MapOperator: (Work(1.6, 0), "rows as they come"),
    RelationRows: (Work(1, 0.1), "of rows alike, one with the number of copies"),
    TimeWindow: (Work(1.3, 0.3), "an element for a row; with a slide, rows wait for it"),
    HoppingWindow: (Work(1, 1), "an element for each window; rows wait for the end of each"),
    RowsWindow: (Work(2.5, 0.5), "a row that pushes out an equal one changes nothing"),
    ByValue: (Work(1, 0), "rows as they come"),
    Number: (Work(1.4, 1), "an element that may be withdrawn, and its number"),
    Attached: (Work(1.3, 1), "the rows of elements that have not ended"),
    DropEnds: (Work(1, 0), "rows as they come"),
    EndsToColumn: (Work(1.2, 0), "rows as they come"),
    EndsFromColumn: (Work(1, 0), "rows as they come"),
    DistinctOperator: (Work(5, 0.4), "the youngest duplicate takes over once in a lifetime"),
    SetOperation: (Work(1, 1.4), "each different row, and the ends of rows"),
    InsertedRows: (Work(1, 1.4), "each different row, and the ends of rows"),
    RemovedRows: (Work(1, 1.4), "each different row, and the ends of rows"),
    JoinOperator: (Work(1.1, 1), "an element for a pair; the rows that can match"),
    OuterJoinOperator: (
        Work(1.2, 1),
        "an element for a pair or a row alone; the rows that can match",
    ),
    AntiJoinOperator: (Work(1, 1.2), "rows that can be covered, and covered keys with their ends"),
    ReadOnArrival: (Work(1, 1), "the rows of the relation"),
    MultiJoin: (Work(1, 1), "the rows that can match; some that have ended, if lazily forgotten"),
    ReorderingJoin: (Work(1, 1), "as the join that does not reorder"),
    AggregateOperator: (
        Work(1, 2.2),
        "a row for two changes; groups, ends of rows, and their values",
    ),
    CombineOperator: (Work(1, 0), "at most a row for each that comes"),
    SplitOperator: (Work(51, 1), "a piece for each length of time that an element lives"),
    CoalesceOperator: (Work(1.3, 0), "at most a row for each that comes"),
    AnnouncedEnds: (Work(2.3, 1), "an element, and a negative row; the elements that will end"),
    FinalOperator: (Work(1.2, 4), "rows as they come; an open one holds back those behind it"),
    Boundaries: (Work(1, 0.7), "each different end"),
    TimeSlides: (Work(1, 0), "a row for each slide"),
    RowSlides: (Work(1, 0.2), "a number for each partition"),
    NextInstant: (Work(1, 0.3), "rows since the last instant"),
    WholeResult: (Work(1, 1.3), "each different row, and the ends of rows"),
    FirstRowsOperator: (Work(1, 1.4), "each different row, and the ends of rows"),
    RestoredResult: (Work(1, 0.7), "each different row, and the ends of rows"),
}
"""For every operator, and why it may be as much."""


def measured(case: Case) -> Work:
    """The worst of some inputs."""
    return Work(*map(max, zip(*(_measured(case, seed) for seed in SEEDS), strict=True)))


def _measured(case: Case, seed: int) -> Work:
    random, trial = drawn(case, seed, LARGE)
    run, kept = Run(random, trial), 0.0
    for clock in range(STEP, LARGE.horizon, STEP):
        run.step(clock)
        kept = max(kept, run.drivers[0].state_rows / max(live(trial, clock), FEW))
    run.step(INFINITY)
    shown = [one for one in map(trial.seen, run.found) if one is not None]
    changes = sum(map(abs, changes_of(shown).values()))
    return Work(len(run.found) / max(changes, 1), kept)


def live(trial: Trial, clock: int) -> int:
    """Rows of all inputs that are valid at the clock."""
    return sum(
        one.sign for edge in trial.edges for one in edge.elements if one.ts < clock <= one.te
    )


def name_of(kind: type[Operator]) -> str:
    return kind.__name__


KINDS: list[type[Operator]] = sorted(kinds(), key=name_of)


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_work_is_within_bounds_that_are_tight(kind: type[Operator]) -> None:
    found = [measured(case) for case in CASES if case.kind is kind]
    most = Work(*map(max, zip(*found, strict=True)))
    bound, _ = BOUNDS[kind]
    assert most.sent <= bound.sent <= 2 * most.sent
    assert most.kept <= bound.kept <= 2 * most.kept + 0.2
