"""Reading stream tests (`*.stream`) into cases, and writing them back.

The format is described in docs/users/stream_tests.md. A file is cut into blocks, and the blocks
into cases: what stands before the first `case` belongs to every case. What the rows in a block mean
is decided when a case runs, because only then the columns have types.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import DataError, SourceText
from penstock.testing.blocks import (
    EXPECTATIONS,
    SETUP,
    SUBJECTS,
    TextBlock,
    blocks_of,
    fault_at,
)
from penstock.testing.timed import timed_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class StreamCase:
    """A question with its expected answers, and everything that must be declared before."""

    source: SourceText
    title: str
    line: int
    setup: tuple[TextBlock, ...]
    subject: TextBlock
    expectations: tuple[TextBlock, ...]

    @property
    def place(self) -> str:
        """File and line, in the form editors jump to."""
        return f"{self.source.name}:{self.line}"

    def fault(self, message: str, line: int, hint: str | None = None) -> DataError:
        """An error that points at a line of the file."""
        return fault_at(self.source, line, message, hint)


@dataclass(frozen=True)
class StreamTest:
    """A test file."""

    source: SourceText
    cases: tuple[StreamCase, ...]


def load_test(path: Path) -> StreamTest:
    """Read a test file.

    Raises:
        DataError: It cannot be read, or is not a stream test; says where and what was expected.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        msg = f"cannot read {path}: {fault}"
        raise DataError(msg) from fault
    return parse_test(text, str(path))


def parse_test(text: str, name: str) -> StreamTest:
    """Read the text of a test file; `name` is what errors call it.

    Raises:
        DataError: It is not a stream test; says where and what was expected.
    """
    source = SourceText(text, name)
    return StreamTest(source, _cases_of(source, blocks_of(source)))


def with_blocks(source: SourceText, replacements: Mapping[TextBlock, Sequence[str]]) -> str:
    """The file's text with some blocks written anew and every other line untouched."""
    lines = source.text.split("\n")
    for block in sorted(replacements, key=lambda block: block.first, reverse=True):
        lines[block.first - 1 : block.last] = replacements[block]
    return "\n".join(lines)


def _cases_of(source: SourceText, blocks: Sequence[TextBlock]) -> tuple[StreamCase, ...]:
    """The cases of a file, in order.

    Raises:
        DataError: A block stands where it means nothing, or a case lacks a part.
    """
    starts = [index for index, block in enumerate(blocks) if block.kind == "case"]
    if not starts:
        msg = f"{source.name} has no case"
        raise DataError(msg, hint="A case begins with a line such as: case WHAT IT SHOWS")
    shared = blocks[: starts[0]]
    for block in shared:
        if block.kind not in SETUP:
            msg = f'"{block.kind}" stands before the first case, where only shared parts may stand'
            hint = "Put a line such as this before it: case WHAT IT SHOWS"
            raise fault_at(source, block.first, msg, hint)
    ends = [*starts[1:], len(blocks)]
    cases = [
        _case(source, shared, blocks[start], blocks[start + 1 : end])
        for start, end in zip(starts, ends, strict=True)
    ]
    _check_titles(cases)
    return tuple(cases)


def _case(
    source: SourceText, shared: Sequence[TextBlock], head: TextBlock, blocks: Sequence[TextBlock]
) -> StreamCase:
    subjects = [index for index, block in enumerate(blocks) if block.kind in SUBJECTS]
    if len(subjects) != 1:
        msg = f"this case has {len(subjects)} queries, expected one query or statement"
        raise fault_at(source, head.first, msg)
    (middle,) = subjects
    setup, expectations = blocks[:middle], blocks[middle + 1 :]
    for block in setup:
        if block.kind not in SETUP:
            msg = f'"{block.kind}" stands before the {blocks[middle].kind} it belongs to'
            raise fault_at(source, block.first, msg)
    _check_expectations(source, blocks[middle], expectations)
    return StreamCase(
        source, head.argument, head.first, (*shared, *setup), blocks[middle], tuple(expectations)
    )


def _check_expectations(
    source: SourceText, subject: TextBlock, expectations: Sequence[TextBlock]
) -> None:
    kinds = [block.kind for block in expectations]
    if not kinds:
        msg = f"nothing is expected of this {subject.kind}"
        hint = f"Put one of these after it: {', '.join(EXPECTATIONS)}."
        raise fault_at(source, subject.first, msg, hint)
    for block in expectations:
        if block.kind not in EXPECTATIONS:
            msg = f'"{block.kind}" stands after the {subject.kind}, expected before it'
            raise fault_at(source, block.first, msg)
        if block.kind != "error" and subject.kind == "statement":
            msg = f'"{block.kind}" is for a query; of a statement only an error can be expected'
            raise fault_at(source, block.first, msg)
        if kinds.count(block.kind) > 1 or (block.kind == "error" and len(kinds) > 1):
            msg = "an error comes alone, and each other kind of expectation at most once in a case"
            raise fault_at(source, block.first, msg)
        if block.kind in ("snapshots", "changes", "emits"):
            timed_lines(source, block)


def _check_titles(cases: Sequence[StreamCase]) -> None:
    """Titles name cases in reports and filters, so no two may be the same."""
    first: dict[str, StreamCase] = {}
    for case in cases:
        if first.setdefault(case.title, case) is not case:
            msg = f"the case in line {first[case.title].line} has the same title"
            raise fault_at(case.source, case.line, msg)
