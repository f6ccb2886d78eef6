"""Choosing what a benchmark measures, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from penstock.errors import UnknownName, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence


class NamedSection(Protocol):
    """A section of a benchmark."""

    @property
    def name(self) -> str:
        """The name of the section."""


Section = TypeVar("Section", bound=NamedSection)


def chosen(
    benchmark: str, every: Sequence[Section], names: Sequence[str], kind: str = "Sections"
) -> list[Section]:
    """Those of the names, as they stand; all, if no names are given.

    Raises:
        UnknownName: There is nothing of such a name.
    """
    known = [one.name for one in every]
    for name in names:
        if name not in known:
            msg = f'bench {benchmark} measures nothing called "{name}"'
            otherwise = f"{kind}: {', '.join(known)}."
            raise UnknownName(msg, hint=did_you_mean(name, known, otherwise=otherwise))
    return [one for one in every if not names or one.name in names]
