"""Query text as a tree, so that a smaller query can be made of a large one.

A piece of text has a sort: what may stand in its place. The shrinker puts a smaller piece of the
same sort there, leaves optional pieces out and drops members of lists; whether the result is
still a query, the binder decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OPTIONAL = "optional"
"""The sort of what can be left out."""


@dataclass(frozen=True)
class Text:
    """A piece of text: words and smaller pieces, one after the other.

    `between` makes it a list: it stands between the parts, of which all but one can be dropped.
    `instead` are simpler pieces that may stand here.
    """

    sort: str
    parts: tuple[str | Text, ...]
    between: str | None = None
    instead: tuple[Text, ...] = ()

    def __str__(self) -> str:
        """The text itself."""
        return self._written

    @cached_property
    def _written(self) -> str:
        return (self.between or "").join(map(str, self.parts))

    def __hash__(self) -> int:
        """By the text: trees are deep, and equal ones read the same."""
        return hash(self._written)

    @property
    def children(self) -> list[Text]:
        """The smaller pieces."""
        return [part for part in self.parts if isinstance(part, Text)]


NOTHING = Text(OPTIONAL, ())


def written(sort: str, template: str, *pieces: Text, instead: tuple[Text, ...] = ()) -> Text:
    """A piece by a template with a `{}` for each smaller piece.

    >>> str(written("value", "({} + 1)", written("value", "k")))
    '(k + 1)'
    """
    words = template.split("{}")
    parts: list[str | Text] = [words[0]]
    for piece, word in zip(pieces, words[1:], strict=True):
        parts += [piece, word]
    return Text(sort, tuple(part for part in parts if part != ""), None, instead)


def optional(template: str, *pieces: Text) -> Text:
    """A piece that can be left out."""
    return written(OPTIONAL, template, *pieces)


def listed(sort: str, between: str, members: list[Text]) -> Text:
    """A list of at least one member.

    >>> str(listed("keys", ", ", [written("value", "a"), written("value", "b")]))
    'a, b'
    """
    return Text(sort, tuple(members), between)


def smaller(text: Text) -> Iterator[Text]:
    """Texts with one place made smaller, the largest savings first."""
    yield from _smaller_here(text)
    order = sorted(range(len(text.parts)), key=lambda i: -len(str(text.parts[i])))
    for index in order:
        part = text.parts[index]
        if isinstance(part, Text):
            for other in smaller(part):
                yield with_part(text, index, other)


def _smaller_here(text: Text) -> Iterator[Text]:
    if text.sort == OPTIONAL and text.parts:
        yield NOTHING
    yield from text.instead
    same = {below for below in _below(text) if below.sort == text.sort and below != text}
    yield from sorted(same, key=lambda below: (len(str(below)), str(below)))
    if text.between is not None and len(text.parts) > 1:
        for index in range(len(text.parts)):
            yield replace(text, parts=text.parts[:index] + text.parts[index + 1 :])


def with_part(text: Text, index: int, part: Text) -> Text:
    """The text with another piece at a place."""
    return replace(text, parts=(*text.parts[:index], part, *text.parts[index + 1 :]))


def _below(text: Text) -> Iterator[Text]:
    for child in text.children:
        yield child
        yield from _below(child)
