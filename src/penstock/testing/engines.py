"""The engines that stream tests can run on, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from penstock.algebra.streams import RelationToStream
from penstock.algebra.tactics import Tactics
from penstock.errors import PenstockError, require_known

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.algebra.plan import Plan
    from penstock.reference.inputs import Inputs
    from penstock.reference.timeline import Emission, Timeline


@dataclass(frozen=True)
class Question:
    """A query over finite inputs: its plan, and the texts that it was bound from.

    `statements` declare what the query reads, and set what it is bound under; `tactics` are what
    they set of how it runs.
    """

    plan: Plan
    inputs: Inputs
    statements: tuple[str, ...]
    text: str
    tactics: Tactics = field(default_factory=Tactics)


@dataclass(frozen=True)
class CaseAnswer:
    """The answer of an engine: emissions for a `RelationToStream`, else the result over time."""

    result: Timeline | Sequence[Emission]
    failures: int = 0


class CaseEngine(Protocol):
    """Anything that answers a query over finite inputs.

    It raises a `PenstockError` where the user is at fault; any other exception is a crash, and
    is reported as one.
    """

    def answer(self, question: Question) -> CaseAnswer:
        """The complete result, the inputs having come to their end."""
        ...


@runtime_checkable
class SharingEngine(CaseEngine, Protocol):
    """An engine on which a question costs little more than nothing if it comes with others."""

    def answers(self, questions: Sequence[Question]) -> list[CaseAnswer | PenstockError]:
        """The complete result of each question, or why it was refused.

        Any other exception is a crash, and all questions are without an answer.
        """
        ...


class OracleEngine:
    """The reference evaluator."""

    def answer(self, question: Question) -> CaseAnswer:
        """The result by definition."""
        return self.evaluated(question.plan, question.inputs)

    def evaluated(self, plan: Plan, inputs: Inputs) -> CaseAnswer:
        """The result of a plan by definition."""
        # Here, so that a wrong path or file is reported without loading the evaluator.
        from penstock.reference.oracle import Oracle

        oracle = Oracle(inputs)
        result: Timeline | Sequence[Emission]
        if isinstance(plan, RelationToStream):
            result = oracle.emissions(plan)
        else:
            result = oracle.timeline(plan)
        return CaseAnswer(result, oracle.failures.count)


def _inline() -> CaseEngine:
    # Here, because it loads the operators and their compiled loops.
    from penstock.testing.inline import InlineEngine

    return InlineEngine()


def _spark() -> CaseEngine:
    # Here, because it starts Spark.
    from penstock.testing.spark import SparkCaseEngine

    return SparkCaseEngine()


ENGINES: dict[str, Callable[[], CaseEngine]] = {
    "oracle": OracleEngine,
    "inline": _inline,
    "spark": _spark,
}
"""The maker of each engine."""


def engine_called(name: str) -> CaseEngine:
    """Start the engine of a name.

    Raises:
        UnknownName: There is no engine of that name.
    """
    require_known(name, ENGINES, "engine", "Engines")
    return ENGINES[name]()
