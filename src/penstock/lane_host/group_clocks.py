"""The clocks of queries as a task tells them: one for each group, and those that differ from it.

Queries of a group mostly have come equally far. Told one by one by each task, they would be what a
driver does all day: a thousand tasks with ten thousand queries have ten million clocks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass
class GroupClocks:
    """The clocks of a task: of each group, by its number, the usual one; others by query."""

    usual: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(clocks: Mapping[str, int], groups: Mapping[int, Sequence[str]]) -> GroupClocks:
        """The clocks of queries, and which queries the groups have."""
        found = GroupClocks()
        for number, queries in groups.items():
            known = {name: clocks[name] for name in queries if name in clocks}
            if known:
                ((usual, _),) = Counter(known.values()).most_common(1)
                found.usual[str(number)] = usual
                others = {name: one for name, one in known.items() if one != usual}
                found.others.update(others)
        return found


def least_clocks(
    told: Iterable[GroupClocks], groups: Mapping[int, Sequence[str]]
) -> dict[str, int]:
    """The least clock of each query among those that tasks tell."""
    told = list(told)
    usual: dict[str, int] = {}
    for one in told:
        for group, clock in one.usual.items():
            usual[group] = min(clock, usual.get(group, clock))
    special = {name for one in told for name in one.others}
    found: dict[str, int] = {}
    for number, queries in groups.items():
        own = str(number)
        if own not in usual:
            continue
        found.update(dict.fromkeys(queries, usual[own]))
        for name in special.intersection(queries):
            having = (one for one in told if own in one.usual)
            found[name] = min(one.others.get(name, one.usual[own]) for one in having)
    return found
