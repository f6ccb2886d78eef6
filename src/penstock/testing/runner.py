"""Running a case on an engine: passed, or failed with a text that says why."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.testing.engines import CaseAnswer, Question
from penstock.testing.expectations import CaseOutcome, FailedExpectation, check
from penstock.testing.row_blocks import Computed
from penstock.testing.setup import set_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.testing.blocks import TextBlock
    from penstock.testing.engines import CaseEngine
    from penstock.testing.format import StreamCase
    from penstock.testing.setup import Setup


@dataclass(frozen=True)
class Verdict:
    """The verdict on a case; `text` is empty if it passed, else says what is wrong.

    `replacements` are the blocks that would make it pass, if `--update` can write them all.
    """

    title: str
    place: str
    text: str = ""
    replacements: dict[TextBlock, tuple[str, ...]] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Every expectation holds."""
        return not self.text


Asking = Generator[Question, CaseAnswer, Verdict]
"""The steps of a case: it asks its question, if it comes to that, and judges the answer."""


class CaseRun:
    """A case on its way: it waits for the answer to its question, or has its verdict.

    Whatever happens ends in the verdict: the user's mistake as text, a crash as a traceback.
    """

    def __init__(self, title: str, place: str, steps: Asking) -> None:
        self._title, self._place, self._steps = title, place, steps
        self.question: Question | None = None
        self.verdict: Verdict | None = None
        self._go(lambda: next(steps))

    def take(self, answer: CaseAnswer | Exception) -> Verdict:
        """Judge an answer, or the failure to give one."""
        if isinstance(answer, Exception):
            self._go(lambda: self._steps.throw(answer))
        else:
            self._go(lambda: self._steps.send(answer))
        assert self.verdict is not None, "a case asks one question"
        return self.verdict

    def _go(self, step: Callable[[], Question]) -> None:
        try:
            self.question = step()
        except StopIteration as end:
            self.verdict = end.value
        except PenstockError as error:
            self.verdict = Verdict(self._title, self._place, str(error))
        except Exception:
            # Whatever an engine or the binder does wrong must not hide the other cases.
            text = f"crashed\n{traceback.format_exc().rstrip()}"
            self.verdict = Verdict(self._title, self._place, text)


def run_case(case: StreamCase, engine: CaseEngine) -> Verdict:
    """Run a case in a session of its own."""
    return answered(CaseRun(case.title, case.place, asking(case)), engine)


def answered(running: CaseRun, engine: CaseEngine) -> Verdict:
    """The verdict of a case that an engine answers."""
    if running.question is None:
        assert running.verdict is not None
        return running.verdict
    answer: CaseAnswer | Exception
    try:
        answer = engine.answer(running.question)
    except Exception as error:
        answer = error
    return running.take(answer)


def asking(case: StreamCase) -> Asking:
    """Run a case up to its question, and on from the answer."""
    setup = set_up(case)
    try:
        outcome = yield from _outcome(case, setup)
    except PenstockError as error:
        outcome = CaseOutcome(error=str(error))
    return _verdict(case, check(case, outcome))


def _outcome(case: StreamCase, setup: Setup) -> Generator[Question, CaseAnswer, CaseOutcome]:
    if case.subject.kind == "statement":
        setup.session.execute(case.subject.text)
        return CaseOutcome()
    bound = setup.session.bind(case.subject.text)
    answer = yield Question(
        bound.plan,
        setup.inputs,
        tuple(setup.statements),
        case.subject.text,
        setup.session.settings.tactics,
    )
    return CaseOutcome(
        computed=Computed(bound.plan, bound.warnings, answer.result, answer.failures, setup.day)
    )


def _verdict(case: StreamCase, findings: Sequence[FailedExpectation]) -> Verdict:
    text = "\n".join(
        f"line {finding.block.first}, {finding.block.kind}: {finding.text}" for finding in findings
    )
    replacements = {
        finding.block: finding.replacement
        for finding in findings
        if finding.replacement is not None
    }
    # Half an update would only hide what is still wrong.
    complete = len(replacements) == len(findings)
    return Verdict(case.title, case.place, text, replacements if complete else {})
