"""Python shown in the documentation prints what is shown: the blocks of a page are one doctest."""

from __future__ import annotations

import doctest
import re
import traceback
from typing import TYPE_CHECKING

import pytest

from docs.pages import PAGES, ROOT, Fence, fences, settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import TracebackType

    ExceptionInfo = tuple[type[BaseException], BaseException, TracebackType]

PARSER = doctest.DocTestParser()
STACK = re.compile(r"(?<=^Traceback \(most recent call last\):\n)(?: .*\n)+", re.MULTILINE)


def python_fences(page: Path) -> list[Fence]:
    found = [fence for fence in fences(page) if fence.kind == "python"]
    return [fence for fence in found if any(line.startswith(">>>") for line in fence.lines)]


class Recorder(doctest.DocTestRunner):
    """Remembers what each example printed; of a traceback, the exception and not the stack."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.printed: dict[int, str] = {}

    def report_success(
        self,
        out: Callable[[str], object],
        test: doctest.DocTest,
        example: doctest.Example,
        got: str,
    ) -> None:
        self.printed[example.lineno] = example.want if example.exc_msg else got

    def report_failure(
        self,
        out: Callable[[str], object],
        test: doctest.DocTest,
        example: doctest.Example,
        got: str,
    ) -> None:
        self.printed[example.lineno] = STACK.sub("    ...\n", got)

    def report_unexpected_exception(
        self,
        out: Callable[[str], object],
        test: doctest.DocTest,
        example: doctest.Example,
        exc_info: ExceptionInfo,
    ) -> None:
        self.printed[example.lineno] = STACK.sub(
            "    ...\n", "".join(traceback.format_exception(*exc_info))
        )


def real_lines(fence: Fence, known: dict[str, object]) -> list[str]:
    """The block with what its examples print when they run with the names known so far."""
    test = PARSER.get_doctest("\n".join(fence.lines) + "\n", known, str(fence), None, None)
    recorder = Recorder()
    recorder.run(test, clear_globs=False)
    known.update(test.globs)
    lines = list(fence.lines)
    for example in reversed(test.examples):
        start = example.lineno + example.source.count("\n")
        end = start + example.want.count("\n")
        got = recorder.printed[example.lineno]
        if got != example.want:
            lines[start:end] = got.splitlines()
    return lines


@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_fences(page)], ids=lambda page: page.name
)
def test_examples_print_what_is_shown(page: Path) -> None:
    known: dict[str, object] = {}
    found = python_fences(page)
    real = {fence.place: real_lines(fence, known) for fence in found}
    settle(page, {fence.place: fence.lines for fence in found}, real)


def test_no_python_is_shown_that_does_not_run() -> None:
    silent = [
        str(fence)
        for page in PAGES
        for fence in fences(page)
        if fence.kind == "python" and fence not in python_fences(page)
    ]
    assert silent == [], f"not a doctest: {silent} (below {ROOT})"
