"""The blocks of a stream test: a heading and what stands under it, with line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.errors import DataError, Span, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.errors import SourceText

BODY: dict[str, Literal["cql", "lines", "none"]] = {
    "case": "none",
    "day": "none",
    "rows": "lines",
    "query": "cql",
    "statement": "cql",
    "snapshots": "lines",
    "changes": "lines",
    "emits": "lines",
    "error": "lines",
    "warning": "lines",
    "failures": "none",
    "plan": "lines",
}
"""The content under each heading: CQL up to `;`, lines up to an empty one, or nothing."""

ARGUMENT: dict[str, tuple[str, str]] = {
    "case": (r".+", "a title: case WHAT IT SHOWS"),
    "day": (r"\d{4}-\d\d-\d\d", "a date: day 2024-01-31"),
    "rows": (r"\S+", "one name: rows STREAM or rows RELATION"),
    "emits": (r"(in order)?", "nothing behind it, or: emits in order"),
    "failures": (r"\d+", "a number: failures 2"),
}
"""The argument behind a heading, as a pattern and in words; behind the others, nothing."""

SETUP = ("cql", "rows", "day")
SUBJECTS = ("query", "statement")
EXPECTATIONS = ("snapshots", "changes", "emits", "error", "warning", "failures", "plan")
_CQL_WORDS = ("create", "set", "drop")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the file, counted from one."""

    number: int
    text: str


@dataclass(frozen=True)
class TextBlock:
    """A heading and what stands under it; a statement (kind `cql`) has no heading.

    `body` is without comments; the block reaches from line `first` to line `last`, both counted
    from one and part of it.
    """

    kind: str
    argument: str
    first: int
    last: int
    body: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The body's lines, as they stand, without spaces at their ends."""
        return "\n".join(line.text.rstrip() for line in self.body)


def fault_at(source: SourceText, line: int, message: str, hint: str | None = None) -> DataError:
    """An error that points at a whole line of a file."""
    lines = source.text.split("\n")
    start = sum(len(text) + 1 for text in lines[: line - 1])
    text = lines[line - 1].rstrip()
    indent = len(text) - len(text.lstrip())
    return DataError(message, hint=hint, at=Span(start + indent, start + len(text)), source=source)


def blocks_of(source: SourceText) -> list[TextBlock]:
    """The blocks of a file, in order.

    Raises:
        DataError: A line begins no block, a heading lacks something, or CQL does not end.
    """
    return list(_BlockReader(source).blocks())


def is_comment(text: str) -> bool:
    """A comment: `#` in the first column of a line."""
    return text.startswith("#")


class _BlockReader:
    """Cuts the lines of a file into blocks."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.lines = [Line(i, text) for i, text in enumerate(source.text.split("\n"), start=1)]
        self.next = 0

    def blocks(self) -> Iterator[TextBlock]:
        while self.next < len(self.lines):
            line = self.lines[self.next]
            if line.text.strip() and not is_comment(line.text):
                yield self._block(line)
            else:
                self.next += 1

    def _block(self, heading: Line) -> TextBlock:
        word, _, argument = heading.text.strip().partition(" ")
        if word.lower() in _CQL_WORDS:
            return self._ended("cql", "", heading, self._cql())
        self._check_heading(heading, word, argument.strip())
        self.next += 1
        body: list[Line] = []
        if BODY[word] == "cql":
            body = self._cql()
        elif BODY[word] == "lines":
            body = self._paragraph()
        return self._ended(word, argument.strip(), heading, body)

    def _ended(self, kind: str, argument: str, heading: Line, body: list[Line]) -> TextBlock:
        return TextBlock(kind, argument, heading.number, self.next, tuple(body))

    def _check_heading(self, heading: Line, word: str, argument: str) -> None:
        if word not in BODY or heading.text[0].isspace():
            msg = f'a block cannot begin with "{word}"'
            known = f"A block begins with CREATE, SET, DROP, {', '.join(BODY)}."
            indented = "A block begins in the first column."
            hint = indented if word in BODY else did_you_mean(word, BODY, otherwise=known)
            raise fault_at(self.source, heading.number, msg, hint)
        pattern, wanted = ARGUMENT.get(word, ("", "nothing behind it on the line"))
        if not re.fullmatch(pattern, argument):
            msg = f'"{word}" takes {wanted}'
            raise fault_at(self.source, heading.number, msg)

    def _cql(self) -> list[Line]:
        """The lines up to one that ends with a semicolon; `#` is no comment within CQL."""
        start = self.next
        while self.next < len(self.lines):
            self.next += 1
            if self.lines[self.next - 1].text.rstrip().endswith(";"):
                return self.lines[start : self.next]
        msg = "the CQL that begins here has no end"
        hint = "Put a semicolon at the end of its last line."
        raise fault_at(self.source, min(start + 1, len(self.lines)), msg, hint)

    def _paragraph(self) -> list[Line]:
        start = self.next
        while self.next < len(self.lines) and self.lines[self.next].text.strip():
            self.next += 1
        return [line for line in self.lines[start : self.next] if not is_comment(line.text)]
