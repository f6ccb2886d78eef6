"""Judging an engine: the trial on the engine and on the reference evaluator, compared."""

from __future__ import annotations

import math
import traceback
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.operators import Split
from penstock.algebra.plan import Binary, different_nodes
from penstock.algebra.streams import Relation, Stream, is_ordered
from penstock.algebra.time import TimeUnit
from penstock.errors import InternalError, PenstockError, Refused
from penstock.reference.compare import Tolerance, compare_emissions, compare_timelines
from penstock.reference.inputs import RelationHistory
from penstock.reference.timeline import Timeline
from penstock.testing.engines import OracleEngine
from penstock_fuzz.trial import is_feedable, late_rows

if TYPE_CHECKING:
    from penstock.algebra.expressions import Value
    from penstock.algebra.plan import Plan
    from penstock.reference.inputs import Inputs
    from penstock.reference.timeline import Row
    from penstock.testing.engines import CaseAnswer
    from penstock_fuzz.trial import Contender, Late, Trial, TrialResult


@dataclass(frozen=True)
class TrialFailure:
    """A failure: its kind, which shrinking keeps, and a text for people."""

    kind: str
    text: str


def check(trial: Trial, engine: Contender, plan: Plan | None = None) -> TrialFailure | None:
    """The failure of the engine at a trial; None if it answers as the reference evaluator does.

    Raises:
        PenstockError: The trial itself has a fault: no query, or no input for it.
    """
    plan = plan or trial.plan()
    if not is_feedable(trial):
        msg = "a change of a relation comes after the clock has passed its instant"
        raise PenstockError(msg)
    late = late_rows(trial)
    inputs = trial.inputs(late)
    try:
        expected = OracleEngine().evaluated(plan, inputs)
    except Exception as error:
        if isinstance(error, PenstockError) and not isinstance(error, InternalError):
            raise
        return TrialFailure(f"oracle {type(error).__name__}", _crash("the reference evaluator"))
    try:
        ran = engine.run_trial(trial, plan)
    except Exception as error:
        if isinstance(error, Refused) and any(isinstance(n, Split) for n in different_nodes(plan)):
            # An interval that never ends cannot be split; the evaluator does not look at intervals.
            return None
        return TrialFailure(f"crash {type(error).__name__}", _crash("the engine"))
    if ran.shed:
        inputs = trial.inputs(late | ran.shed)
        expected = OracleEngine().evaluated(plan, inputs)
    return _miscounted(ran) or _compare(plan, expected, ran, late, inputs)


def _miscounted(ran: TrialResult) -> TrialFailure | None:
    """Rows that were shed, and are not counted as they are."""
    expected = dict(Counter(name for name, _ in ran.shed))
    counted = {name: rows for name, rows in ran.shed_counts.items() if rows}
    if counted == expected:
        return None
    return TrialFailure("shed", f"shed rows: {counted} were counted, expected {expected}")


def _crash(who: str) -> str:
    return f"{who} crashed\n{traceback.format_exc().rstrip()}"


def _compare(
    plan: Plan, expected: CaseAnswer, ran: TrialResult, late: Late, inputs: Inputs
) -> TrialFailure | None:
    if ran.late != late:
        missing, unexpected = sorted(late - ran.late), sorted(ran.late - late)
        return TrialFailure("late", f"late rows: missing {missing}, unexpected {unexpected}")
    difference = compare_answers(plan, expected, ran.answer, tolerance_for(plan, inputs))
    if difference is not None:
        return TrialFailure("wrong", difference)
    if _counts_failures(plan) and bool(expected.failures) != bool(ran.answer.failures):
        text = f"{ran.answer.failures} expressions failed, expected {expected.failures}"
        return TrialFailure("failures", text)
    return None


def _counts_failures(plan: Plan) -> bool:
    """All engines compute the same expressions for the same rows.

    A join need not look at the rest of its condition where keys differ, and may compute keys of
    rows that nothing meets.
    """
    return not any(isinstance(node, Binary) for node in different_nodes(plan))


def compare_answers(
    plan: Plan, expected: CaseAnswer, actual: CaseAnswer, tolerance: Tolerance
) -> str | None:
    """The point where two answers to a plan first part, as text; None if nowhere."""
    unit = plan.unit or TimeUnit.TICK
    first, second = expected.result, actual.result
    if isinstance(first, Timeline) and isinstance(second, Timeline):
        return compare_timelines(first, second, plan.schema, unit, tolerance)
    if isinstance(first, Timeline) or isinstance(second, Timeline):
        return "one answer is a relation, the other a stream"
    ordered = is_ordered(plan.children[0])
    return compare_emissions(first, second, plan.schema, unit, tolerance, ordered=ordered)


def tolerance_for(plan: Plan, inputs: Inputs) -> Tolerance:
    """Sums may be off by a billionth of the largest number that comes in; times are no numbers."""
    sizes = [1.0]
    for node in different_nodes(plan):
        if not isinstance(node, Stream | Relation):
            continue
        time = node.time_column if isinstance(node, Stream) else None
        places = [
            i for i, one in enumerate(node.schema) if one.type.is_numeric and one.name != time
        ]
        sizes += [_size(row[i]) for row in _rows(node, inputs) for i in places]
    return Tolerance(absolute=1e-9 * max(sizes))


def _rows(source: Stream | Relation, inputs: Inputs) -> list[Row]:
    if isinstance(source, Stream):
        return list(inputs.streams.get(source.name, ()))
    history = inputs.relations.get(source.name, RelationHistory())
    return [*history.initial, *(change.row for change in history.changes)]


def _size(value: Value) -> float:
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return 0.0
    return abs(float(value))
