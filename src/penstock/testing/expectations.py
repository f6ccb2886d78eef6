"""Checking what was computed against the expectation blocks of a case, and writing them anew."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.reference.timeline import Timeline
from penstock.testing import rows
from penstock.testing.blocks import is_comment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.testing.blocks import Block
    from penstock.testing.format import Case
    from penstock.testing.rows import Computed


@dataclass(frozen=True)
class Outcome:
    """The outcome of a query or statement: an error's text, or what was computed."""

    error: str | None = None
    computed: Computed | None = None


@dataclass(frozen=True)
class Finding:
    """An expectation that does not hold: how, and the block as it would hold (None: it cannot)."""

    block: Block
    text: str
    replacement: tuple[str, ...] | None = None


def check(case: Case, outcome: Outcome) -> list[Finding]:
    """The expectations of a case that do not hold."""
    first = case.expectations[0]
    if first.kind == "error":
        return _check_error(case, first, outcome)
    if outcome.error is not None or outcome.computed is None:
        return [Finding(case.subject, f"an error was not expected:\n{_indented(outcome.error)}")]
    found = [_check_one(case, block, outcome.computed) for block in case.expectations]
    return [finding for finding in found if finding is not None]


def _check_error(case: Case, block: Block, outcome: Outcome) -> list[Finding]:
    if outcome.error is None:
        return [Finding(block, f"this error was expected, and there was none:\n{block.text}")]
    return _text_findings(case, block, outcome.error)


def _check_one(case: Case, block: Block, computed: Computed) -> Finding | None:
    if block.kind in _TEXTS:
        return next(iter(_text_findings(case, block, _TEXTS[block.kind](computed))), None)
    if block.kind == "failures":
        return _check_failures(block, computed)
    is_relation = isinstance(computed.result, Timeline)
    if is_relation == (block.kind == "emits"):
        kind, wanted = ("relation", "snapshots or changes") if is_relation else ("stream", "emits")
        return Finding(block, f"the result of this query is a {kind}, expected a block {wanted}")
    text = rows.compare(case, block, computed)
    if text is None:
        return None
    return Finding(block, text, _written(case, block, rows.written(case, block, computed)))


def _check_failures(block: Block, computed: Computed) -> Finding | None:
    if int(block.argument) == computed.failures:
        return None
    text = f"expected {block.argument} failed expressions, counted {computed.failures}"
    return Finding(block, text, (f"failures {computed.failures}",))


def _plan_text(computed: Computed) -> str:
    from penstock.algebra.text import plan_text

    return plan_text(computed.plan)


_TEXTS: dict[str, Callable[[Computed], str]] = {
    "warning": lambda computed: "\n".join(computed.warnings),
    "plan": _plan_text,
}
"""The blocks whose lines are compared as they stand."""


def _text_findings(case: Case, block: Block, actual: str) -> list[Finding]:
    lines = [line.rstrip() for line in actual.split("\n") if line.strip()]
    expected = block.text.split("\n") if block.body else []
    if lines == expected:
        return []
    diff = [line.rstrip() for line in difflib.ndiff(expected, lines) if line[0] != "?"]
    text = "\n".join(["the text differs (- expected, + computed):", *diff])
    return [Finding(block, text, _written(case, block, lines))]


def _written(case: Case, block: Block, body: Sequence[str]) -> tuple[str, ...]:
    """The block with another body; its comments stay, on top."""
    heading, *old = case.source.text.split("\n")[block.first - 1 : block.last]
    return (heading, *filter(is_comment, old), *body)


def _indented(text: str | None) -> str:
    return "\n".join(f"  {line}" for line in (text or "").split("\n"))
