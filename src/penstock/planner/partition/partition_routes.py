"""Possible routes of the sources, as independent choices for groups of sources.

A choice gives each source of its group one key. If each of several choices is right on its own,
hashing by all of them together is right too: dividing by one and each part by the next is what
that does. So a group's key is the tuple of all its choices.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.planner.partition.partition_keys import determined
from penstock.planner.partition.partition_reasons import conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.algebra.expressions import Expression

Choice = dict[str, "Expression"]
"""One key for each source of a group."""

MOST_CHOICES = 2000
"""More combinations are not looked at; the ones that are suffice for a right answer."""


@dataclass(frozen=True)
class SourceGroup:
    """Sources whose keys depend on each other, and the choices they have."""

    choices: tuple[Choice, ...]

    @property
    def sources(self) -> frozenset[str]:
        """The sources the choices are about; the same in each."""
        return frozenset(self.choices[0])


Routes = tuple[SourceGroup, ...]
"""Groups without a common source; any choice of one goes with any choice of another."""


def combined(parts: Iterable[Routes]) -> Routes:
    """The routes that suit several plans at once.

    Raises:
        NoKey: Two of them need different routes for one source.
    """
    found: list[SourceGroup] = []
    for group in itertools.chain.from_iterable(parts):
        joined = group
        apart = []
        for one in found:
            if one.sources & joined.sources:
                joined = _joined(one, joined)
            else:
                apart.append(one)
        found = [*apart, joined]
    return tuple(found)


def _joined(one: SourceGroup, other: SourceGroup) -> SourceGroup:
    common = sorted(one.sources & other.sources)
    choices = tuple(
        first | second
        for first, second in itertools.product(one.choices, other.choices)
        if all(first[name] == second[name] for name in common)
    )
    if not choices:
        keys = [_keys_of(common[0], group) for group in (one, other)]
        raise conflict(common, keys)
    return SourceGroup(choices[:MOST_CHOICES])


def _keys_of(name: str, group: SourceGroup) -> str:
    return " or ".join(dict.fromkeys(str(choice[name]) for choice in group.choices))


def any_of(alternatives: Sequence[Routes]) -> Routes:
    """The routes of which any will do, as one group: what was chosen together stays together.

    So does what one alternative chooses for groups that have nothing else in common: where rows
    meet by one key, that of each side has to be a tuple as long as that of the other.
    """
    choices: list[Choice] = []
    for routes in alternatives:
        if math.prod(len(group.choices) for group in routes) > MOST_CHOICES:
            continue
        for together in itertools.product(*(group.choices for group in routes)):
            choice = {name: key for part in together for name, key in part.items()}
            if choice not in choices:
                choices.append(choice)
    if not choices:
        firsts = (group.choices[0] for group in alternatives[0])
        choices = [{name: key for part in firsts for name, key in part.items()}]
    return (SourceGroup(tuple(choices)),)


def key_tuples(routes: Routes) -> dict[str, tuple[Expression, ...]]:
    """The key of each source: all choices of its group, without those the others determine."""
    found = {}
    for group in routes:
        kept = list(group.choices)
        for choice in reversed(group.choices):
            others = [one for one in kept if one is not choice]
            if others and all(
                determined(choice[name], [one[name] for one in others]) for name in group.sources
            ):
                kept = others
        for name in group.sources:
            found[name] = tuple(choice[name] for choice in kept)
    return found
