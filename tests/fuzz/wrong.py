"""Engines that are wrong on purpose: what the fuzzing must find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra.streams import Window
from penstock.algebra.windows import Range
from penstock.reference.inputs import Inputs
from penstock.testing.engines import CaseAnswer, OracleEngine
from penstock_fuzz.trial import Trial, TrialResult, late_rows

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.testing.engines import Question
    from penstock_fuzz.trial import Late


@dataclass(frozen=True)
class Wrong:
    """The reference evaluator, which subclasses spoil; also an engine of stream tests."""

    replans = False
    takes_edits = True

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        late = late_rows(trial)
        return TrialResult(self.evaluated(plan, trial.inputs(late)), late)

    def answer(self, question: Question) -> CaseAnswer:
        return self.evaluated(question.plan, question.inputs)

    def evaluated(self, plan: Plan, inputs: Inputs) -> CaseAnswer:
        return OracleEngine().evaluated(self.spoilt_plan(plan), self.spoilt_inputs(inputs))

    def spoilt_plan(self, plan: Plan) -> Plan:
        return plan

    def spoilt_inputs(self, inputs: Inputs) -> Inputs:
        return inputs


class DropsThrees(Wrong):
    """Loses the rows of streams that have a 3 behind their event time."""

    def spoilt_inputs(self, inputs: Inputs) -> Inputs:
        streams = {
            name: [row for row in rows if 3 not in row[1:]] for name, rows in inputs.streams.items()
        }
        return replace(inputs, streams=streams)


class LongRanges(Wrong):
    """Keeps the rows of a RANGE one step too long."""

    def spoilt_plan(self, plan: Plan) -> Plan:
        children = tuple(map(self.spoilt_plan, plan.children))
        if isinstance(plan, Window) and isinstance(plan.spec, Range):
            return Window(children[0], Range(plan.spec.length + 1, plan.spec.slide))
        return plan.rebuild(children)


class Crashes(Wrong):
    """Stumbles over joins."""

    def spoilt_plan(self, plan: Plan) -> Plan:
        if "Join" in type(plan).__name__:
            raise ZeroDivisionError
        return plan.rebuild(tuple(map(self.spoilt_plan, plan.children)))


class ForgetsLateRows(Wrong):
    """Does not report late rows."""

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        none: Late = frozenset()
        return replace(super().run_trial(trial, plan), late=none)


class NeedsTwoLanes(Wrong):
    """Answers nothing on more than one lane after a restore."""

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        ran = super().run_trial(trial, plan)
        if trial.lanes < 2 or not trial.restore_after:
            return ran
        return replace(ran, answer=self.evaluated(plan, Inputs()))
