"""The engines that can be put on trial, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import require_known
from penstock.testing.engines import OracleEngine
from penstock_fuzz.trial import Contender, TrialResult, late_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan
    from penstock_fuzz.trial import Trial


class OracleContender:
    """The reference evaluator itself: for trying out the fuzzing, it never fails."""

    replans = False
    takes_edits = True

    def run_trial(self, trial: Trial, plan: Plan) -> TrialResult:
        """The result by definition."""
        late = late_rows(trial)
        return TrialResult(OracleEngine().evaluated(plan, trial.inputs(late)), late)


def _inline() -> Contender:
    # Here, so that a wrong name is reported without loading the engine.
    from penstock_fuzz.inline import InlineContender

    return InlineContender()


def _pipeline() -> Contender:
    from penstock_fuzz.lane_hosts import LaneHostContender

    return LaneHostContender()


def _spark() -> Contender:
    from penstock_fuzz.spark import SparkContender

    return SparkContender()


def _questions() -> Contender:
    from penstock_fuzz.questioned import QuestionedConnection

    return QuestionedConnection()


def _pipeline_questions() -> Contender:
    from penstock_fuzz.questioned import QuestionedPipeline

    return QuestionedPipeline()


CONTENDERS: dict[str, Callable[[], Contender]] = {
    "oracle": OracleContender,
    "inline": _inline,
    "pipeline": _pipeline,
    "spark": _spark,
    "questions": _questions,
    "pipeline-questions": _pipeline_questions,
}
"""The maker of each engine."""


def contender_called(name: str) -> Contender:
    """The engine of a name.

    Raises:
        UnknownName: There is no engine of that name.
    """
    require_known(name, CONTENDERS, "engine", "Engines")
    return CONTENDERS[name]()
