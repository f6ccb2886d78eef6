"""Lines with instants: `@11  - 10`, and rows that share the instant of the line above."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.testing.blocks import Line, fault_at
from penstock.testing.expected_rows import NOTHING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.errors import SourceText
    from penstock.testing.blocks import TextBlock

START = "start"
"""The instant before all input."""

_TIME = r"\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
_INSTANT = re.compile(rf"@(start|-?\d+|\d{{4}}-\d\d-\d\d(?:[ T]{_TIME})?|{_TIME})(?:\s+|$)")
_SIGNED = ("changes", "rows")


@dataclass(frozen=True, slots=True)
class TimedLine:
    """A row with its instant, and its sign where the block has signs; no row is None."""

    line: Line
    instant: str
    sign: str
    row: str | None


def timed_lines(
    source: SourceText, block: TextBlock, body: Sequence[Line] | None = None
) -> list[TimedLine]:
    """The rows of a block with their instants, still as text.

    A line without an instant belongs to the instant above it; before any instant, in blocks with
    signs, it is content before all input. `body` is for blocks that begin with a header.

    Raises:
        DataError: A line is not of that form.
    """
    signed = block.kind in _SIGNED
    instant = START if signed else ""
    found = []
    for line in block.body if body is None else body:
        written, rest = _split(source, line)
        instant = written or instant
        found.append(_timed(source, line, instant, rest, signed=signed))
    return [one for one in found if one.instant]


def _split(source: SourceText, line: Line) -> tuple[str, str]:
    text = line.text.strip()
    if not text.startswith("@"):
        return "", text
    match = _INSTANT.match(text)
    if match is None:
        msg = "this is no instant, expected @ and a whole number, a date and time, or @start"
        raise fault_at(source, line.number, msg)
    return match[1], text[match.end() :]


def _timed(source: SourceText, line: Line, instant: str, rest: str, *, signed: bool) -> TimedLine:
    if rest in NOTHING:
        return TimedLine(line, instant, "", None)
    if signed:
        sign, _, row = rest.partition(" ")
        if sign not in ("+", "-") or not row.strip():
            msg = "expected + or - and a row, separated by a space"
            raise fault_at(source, line.number, msg, _FORGOTTEN)
        return TimedLine(line, instant, sign, row.strip())
    if not instant or not rest or (not line.text[0].isspace() and line.text[0] != "@"):
        msg = "expected @, an instant and a row; or, indented, another row of the instant above"
        raise fault_at(source, line.number, msg, _FORGOTTEN)
    return TimedLine(line, instant, "", rest)


_FORGOTTEN = "An empty line ends a block."
