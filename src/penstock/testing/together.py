"""Running many cases: one by one, or together where the engine can share what it starts."""

from __future__ import annotations

import traceback
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.testing import jsonl, runner
from penstock.testing.engines import SharingEngine
from penstock.testing.runner import CaseRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.testing.engines import CaseEngine
    from penstock.testing.format import StreamCase
    from penstock.testing.runner import Verdict

AT_ONCE = 40
"""Cases that share a pipeline."""


def run_all(cases: Sequence[StreamCase | jsonl.JsonCase], engine: CaseEngine) -> Iterator[Verdict]:
    """The verdicts of cases, in their order."""
    if isinstance(engine, SharingEngine):
        for first in range(0, len(cases), AT_ONCE):
            yield from run_together(cases[first : first + AT_ONCE], engine)
    else:
        for case in cases:
            yield run(case, engine)


def run(case: StreamCase | jsonl.JsonCase, engine: CaseEngine) -> Verdict:
    """Run a case of either form."""
    return runner.answered(_begun(case), engine)


def _begun(case: StreamCase | jsonl.JsonCase) -> CaseRun:
    steps = jsonl.asking(case) if isinstance(case, jsonl.JsonCase) else runner.asking(case)
    return CaseRun(case.title, case.place, steps)


def run_together(
    cases: Sequence[StreamCase | jsonl.JsonCase], engine: SharingEngine
) -> Sequence[Verdict]:
    """Run cases together; those that do not pass run once more, alone, to be told as clearly.

    A case that passes only alone has not passed: company must not matter.
    """
    try:
        verdicts = _judged_together(cases, engine)
    except Exception:
        verdicts = [run(case, engine) for case in cases]
        if all(verdict.passed for verdict in verdicts):
            text = f"the cases from here on crashed together\n{traceback.format_exc().rstrip()}"
            verdicts[0] = replace(verdicts[0], text=text)
        return verdicts
    return [
        verdict if verdict.passed else _alone(case, verdict, engine)
        for case, verdict in zip(cases, verdicts, strict=True)
    ]


def _alone(case: StreamCase | jsonl.JsonCase, before: Verdict, engine: CaseEngine) -> Verdict:
    alone = run(case, engine)
    if not alone.passed:
        return alone
    return replace(alone, text=f"passes alone, but not in company of others:\n{before.text}")


def _judged_together(
    cases: Sequence[StreamCase | jsonl.JsonCase], engine: SharingEngine
) -> list[Verdict]:
    running = [_begun(case) for case in cases]
    answers = iter(engine.answers([one.question for one in running if one.question is not None]))
    return [one.verdict or one.take(next(answers)) for one in running]
