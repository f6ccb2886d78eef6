"""Checking what was computed against the expectation blocks of a case, and writing them anew."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.reference.timeline import Timeline
from penstock.testing import row_blocks
from penstock.testing.blocks import is_comment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.testing.blocks import TextBlock
    from penstock.testing.format import StreamCase
    from penstock.testing.row_blocks import Computed


@dataclass(frozen=True)
class CaseOutcome:
    """The outcome of a query or statement: an error's text, or what was computed."""

    error: str | None = None
    computed: Computed | None = None


@dataclass(frozen=True)
class FailedExpectation:
    """An expectation that does not hold: how, and the block as it would hold (None: it cannot)."""

    block: TextBlock
    text: str
    replacement: tuple[str, ...] | None = None


def check(case: StreamCase, outcome: CaseOutcome) -> list[FailedExpectation]:
    """The expectations of a case that do not hold."""
    first = case.expectations[0]
    if first.kind == "error":
        return _check_error(case, first, outcome)
    if outcome.error is not None or outcome.computed is None:
        return [
            FailedExpectation(
                case.subject, f"an error was not expected:\n{_indented(outcome.error)}"
            )
        ]
    found = [_check_one(case, block, outcome.computed) for block in case.expectations]
    return [finding for finding in found if finding is not None]


def _check_error(
    case: StreamCase, block: TextBlock, outcome: CaseOutcome
) -> list[FailedExpectation]:
    if outcome.error is None:
        return [
            FailedExpectation(block, f"this error was expected, and there was none:\n{block.text}")
        ]
    return _text_findings(case, block, outcome.error)


def _check_one(case: StreamCase, block: TextBlock, computed: Computed) -> FailedExpectation | None:
    if block.kind in _TEXTS:
        return next(iter(_text_findings(case, block, _TEXTS[block.kind](computed))), None)
    if block.kind == "failures":
        return _check_failures(block, computed)
    is_relation = isinstance(computed.result, Timeline)
    if is_relation == (block.kind == "emits"):
        kind, wanted = ("relation", "snapshots or changes") if is_relation else ("stream", "emits")
        return FailedExpectation(
            block, f"the result of this query is a {kind}, expected a block {wanted}"
        )
    text = row_blocks.compare(case, block, computed)
    if text is None:
        return None
    return FailedExpectation(
        block, text, _written(case, block, row_blocks.written(case, block, computed))
    )


def _check_failures(block: TextBlock, computed: Computed) -> FailedExpectation | None:
    if int(block.argument) == computed.failures:
        return None
    text = f"expected {block.argument} failed expressions, counted {computed.failures}"
    return FailedExpectation(block, text, (f"failures {computed.failures}",))


def _plan_text(computed: Computed) -> str:
    from penstock.algebra.text import plan_text

    return plan_text(computed.plan)


_TEXTS: dict[str, Callable[[Computed], str]] = {
    "warning": lambda computed: "\n".join(computed.warnings),
    "plan": _plan_text,
}
"""The blocks whose lines are compared as they stand."""


def _text_findings(case: StreamCase, block: TextBlock, actual: str) -> list[FailedExpectation]:
    lines = [line.rstrip() for line in actual.split("\n") if line.strip()]
    expected = block.text.split("\n") if block.body else []
    if lines == expected:
        return []
    diff = [line.rstrip() for line in difflib.ndiff(expected, lines) if line[0] != "?"]
    text = "\n".join(["the text differs (- expected, + computed):", *diff])
    return [FailedExpectation(block, text, _written(case, block, lines))]


def _written(case: StreamCase, block: TextBlock, body: Sequence[str]) -> tuple[str, ...]:
    """The block with another body; its comments stay, on top."""
    heading, *old = case.source.text.split("\n")[block.first - 1 : block.last]
    return (heading, *filter(is_comment, old), *body)


def _indented(text: str | None) -> str:
    return "\n".join(f"  {line}" for line in (text or "").split("\n"))
