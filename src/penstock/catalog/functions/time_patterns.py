"""The patterns of DATE_FORMAT: those of Spark's letters that mean the same in every place."""

from __future__ import annotations

import re
from dataclasses import dataclass

LETTERS = {
    "y": 6, "Q": 4, "M": 4, "D": 3, "d": 2, "E": 4,
    "a": 1, "H": 2, "h": 2, "m": 2, "s": 2, "S": 9,
}  # fmt: skip
"""The letters that stand for a field, and how many of one may stand side by side."""

_PARTS = re.compile(
    r"(?P<letters>([A-Za-z])\2*)|'(?P<quoted>(?:[^']|'')*)'|(?P<plain>[^A-Za-z'\[\]{}#]+)|."
)


@dataclass(frozen=True, slots=True)
class PatternPart:
    """A run of one letter, as in `yyyy`, or text that stands for itself."""

    text: str
    is_field: bool


def parts_of(pattern: str) -> list[PatternPart]:
    """The pattern taken apart.

    Raises:
        ValueError: It is no pattern; the message says why.

    >>> [part.text for part in parts_of("d.M. 'at' H''")]
    ['d', '.', 'M', '. ', 'at', ' ', 'H', "'"]
    """
    return [_part(found) for found in _PARTS.finditer(pattern)]


def _part(found: re.Match[str]) -> PatternPart:
    if found["letters"] is not None:
        return _field(found["letters"])
    if found["quoted"] is not None:
        return PatternPart(found["quoted"].replace("''", "'") or "'", is_field=False)
    if found["plain"] is not None:
        return PatternPart(found["plain"], is_field=False)
    unclosed = found[0] == "'"
    msg = "a quote in it is not closed" if unclosed else f"{found[0]} in it is not quoted"
    raise ValueError(msg)


def _field(letters: str) -> PatternPart:
    letter = letters[0]
    if letter not in LETTERS:
        msg = f"{letter} is not one of its letters"
        raise ValueError(msg)
    if len(letters) > LETTERS[letter]:
        msg = f"it takes at most {LETTERS[letter]} of {letter} side by side"
        raise ValueError(msg)
    return PatternPart(letters, is_field=True)
