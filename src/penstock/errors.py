"""Errors, in families: your query, your data, not supported yet, our bug.

Every error carries a message (short, lower case, no full stop), a hint that can be acted on,
and, where there is one, the place in the text. `str(error)` is what the user reads.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of character offsets in a text."""

    start: int
    end: int


LONG_LINE = 160
"""Characters of a line that an error shows."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A text that was read, and the name to call it by (None: typed in)."""

    text: str
    name: str | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both counted from one."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def excerpt(self, span: Span) -> str:
        """The line that holds the span's start, with carets under the span.

        >>> print(SourceText("SELECT prise FROM bids").excerpt(Span(7, 12)))
          SELECT prise FROM bids
                 ^^^^^
        """
        line, column = self.position(span.start)
        text = self.text.split("\n")[line - 1]
        if len(text) > LONG_LINE:
            # Long scripts are passed on one line: show the part around the place.
            start = max(0, column - 1 - LONG_LINE // 2)
            text = ("... " if start else "") + text[start : start + LONG_LINE]
            column += (4 if start else 0) - start
        width = max(1, min(span.end - span.start, len(text) - column + 1))
        # Tabs stay tabs under the line, so that the caret stands where the reader sees the word.
        indent = "".join("\t" if char == "\t" else " " for char in text[: column - 1])
        return f"  {text.rstrip()}\n  {indent}{'^' * width}"


class QueryWarning(UserWarning):
    """A query that can run, but its author should know what it takes or says."""


class PenstockError(Exception):
    """Any failure that has a sentence for the user; never shown as a traceback."""

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        at: Span | None = None,
        source: SourceText | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.at = at
        self.source = source

    def locate(self, source: SourceText) -> PenstockError:
        """Say which text the error's place refers to, unless it is known already."""
        if self.source is None:
            self.source = source
        return self

    def __str__(self) -> str:
        """The message with its place, the offending line with carets, and the hint."""
        where = ""
        excerpt = ""
        if self.source is not None:
            where = f"{self.source.name}: " if self.source.name else ""
            if self.at is not None:
                line, column = self.source.position(self.at.start)
                where += f"line {line}, column {column}: "
                excerpt = "\n" + self.source.excerpt(self.at)
        hint = f"\n  {self.hint}" if self.hint else ""
        return f"{where}{self.message}{excerpt}{hint}"


class QueryError(PenstockError):
    """The text of a statement is at fault; the user can mend it."""


class CqlSyntaxError(QueryError):
    """The text is not CQL."""


class UnknownName(QueryError):
    """A stream, column, function, setting or keyword that does not exist."""


class TypeMismatch(QueryError):
    """An expression is applied to values of a type it does not take."""


class Refused(QueryError):
    """Well-formed, but without meaning as a continuous query; the hint says what to write."""


class NotSupported(QueryError):
    """SQL that exists elsewhere and not (yet) here."""


class DataError(PenstockError):
    """Input rows or files are at fault."""


class PipelineFailed(PenstockError):
    """Micro-batches failed again and again."""


class Overtaken(PenstockError):
    """A read that the window overtook again and again."""


class InternalError(PenstockError):
    """Our bug: an invariant of Penstock does not hold."""


def count(number: int, noun: str, several: str | None = None) -> str:
    """A number of things, for a message.

    >>> count(1, "column"), count(2, "column"), count(2, "query", "queries")
    ('1 column', '2 columns', '2 queries')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {several or f'{noun}s'}"


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str | None = None) -> str | None:
    """A hint naming the nearest known spelling, or `otherwise` when none is near.

    >>> did_you_mean("prise", ["price", "volume"])
    'Did you mean "price"?'
    """
    by_folded = {candidate.lower(): candidate for candidate in known}
    nearest = difflib.get_close_matches(name.lower(), by_folded, n=1, cutoff=0.65)
    if nearest:
        return f'Did you mean "{by_folded[nearest[0]]}"?'
    return otherwise


def require_known(name: str, known: Iterable[str], kind: str, kinds: str) -> None:
    """Refuse a name that is not known.

    >>> require_known("prise", ["price", "volume"], "column", "Columns")
    Traceback (most recent call last):
    ...
    penstock.errors.UnknownName: there is no column called "prise"
      Did you mean "price"?

    Raises:
        UnknownName: It is none of the known names; the hint is the nearest, else a list of them.
    """
    names = list(known)
    if name not in names:
        msg = f'there is no {kind} called "{name}"'
        hint = did_you_mean(name, names, otherwise=f"{kinds}: {', '.join(names)}.")
        raise UnknownName(msg, hint=hint)
