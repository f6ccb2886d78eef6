"""Running a case on an engine: passed, or failed with a text that says why."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.testing.engines import Question
from penstock.testing.expectations import Finding, Outcome, check
from penstock.testing.rows import Computed
from penstock.testing.setup import set_up

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.testing.blocks import Block
    from penstock.testing.engines import Engine
    from penstock.testing.format import Case
    from penstock.testing.setup import Setup


@dataclass(frozen=True)
class Verdict:
    """What became of a case; `text` is empty if it passed, else says what is wrong.

    `replacements` are the blocks that would make it pass, if `--update` can write them all.
    """

    title: str
    place: str
    text: str = ""
    replacements: dict[Block, tuple[str, ...]] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every expectation holds."""
        return not self.text


def run_case(case: Case, engine: Engine) -> Verdict:
    """Run a case in a session of its own; whatever happens ends in the verdict."""
    return guarded(case.title, case.place, lambda: _run(case, engine))


def guarded(title: str, place: str, run: Callable[[], Verdict]) -> Verdict:
    """A verdict also where there is none: the user's mistake as text, a crash as a traceback."""
    try:
        return run()
    except PenstockError as error:
        return Verdict(title, place, str(error))
    except Exception:
        # Whatever an engine or the binder does wrong must not hide the other cases.
        return Verdict(title, place, f"crashed\n{traceback.format_exc().rstrip()}")


def _run(case: Case, engine: Engine) -> Verdict:
    setup = set_up(case)
    try:
        outcome = _outcome(case, setup, engine)
    except PenstockError as error:
        outcome = Outcome(error=str(error))
    return _verdict(case, check(case, outcome))


def _outcome(case: Case, setup: Setup, engine: Engine) -> Outcome:
    if case.subject.kind == "statement":
        setup.session.execute(case.subject.text)
        return Outcome()
    bound = setup.session.bind(case.subject.text)
    question = Question(
        bound.plan,
        setup.inputs,
        tuple(setup.statements),
        case.subject.text,
        setup.session.settings.tactics,
    )
    answer = engine.answer(question)
    return Outcome(
        computed=Computed(bound.plan, bound.warnings, answer.result, answer.failures, setup.day)
    )


def _verdict(case: Case, findings: Sequence[Finding]) -> Verdict:
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
