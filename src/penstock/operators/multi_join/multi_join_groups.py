"""Groups of new rows of an input that look for others together, and for how many probes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.multi_join.multi_join_loops import FIRST, FIRST_TS, LAST, group_starts
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.multi_join.multi_join_probes import Course
    from penstock.operators.multi_join.multi_join_rows import InputRows
    from penstock.operators.multi_join.multi_join_tables import Table
    from penstock.state.arrays import Ints

PAUSE = 15
"""If new rows had better look by themselves, so do so many times as many behind them."""
GROWTH = 1.0
"""By how much the windows that are probed may renew themselves, in all, while a group comes.

The group finds what any of its rows does, and what none does because it was never there at a time:
the further apart they are, the more of it.
"""
MORE = 1.5
"""The number of rows a group finds in a probe, if one of its rows finds 1; about."""
_PROBE, _VISIT, _CHECK = 4.0, 0.3, 0.5
"""What it takes to begin a probe, to visit a row of a bucket, and to see whether a row of a group
was there with what the group found; to write down a partial combination is 1. About.
"""


@dataclass
class Tally:
    """The number of times a probe was made, and of the rows it found."""

    probes: int = 0
    matches: int = 0

    @property
    def each(self) -> float:
        """Matches of a probe, as far as it is known."""
        return self.matches / self.probes if self.probes else 1.0


@dataclass(frozen=True)
class RowGroups:
    """New rows that look for others together. Those of group g stand in `members[starts[g]:]`.

    They are numbered as they stand among those that may find anything. `probes` are made for
    groups, the others for each row.
    """

    members: Ints
    starts: Ints
    bounds: Ints
    probes: int


class Grouping:
    """Groups the new rows of an input by key where that spares more than it takes.

    Args:
        course: What new rows probe.
        inputs: The rows of all inputs, those of the portion included.
        targets: The table of each probe.
        tallies: What came of each probe so far.
    """

    def __init__(
        self,
        course: Course,
        inputs: Sequence[InputRows],
        targets: Sequence[Table],
        tallies: Sequence[Tally],
    ) -> None:
        self._most = course.together
        self._inputs = inputs
        self._probed = [inputs[one.target] for one in course.probes[: self._most]]
        self._targets = targets
        self._tallies = tallies
        self._keys = _keys(course, inputs[course.origin].tables)
        self._pause = 0

    def groups(self, rows: Ints, bounds: Ints) -> RowGroups | None:
        """The new rows of some numbers by key; None: each had better look by itself."""
        if not self._most or self._keys is None or len(rows) <= self._pause:
            self._pause = max(self._pause - len(rows), 0)
            return None
        members, differ = np.arange(len(rows)), np.zeros(len(rows), np.bool_)
        if self._keys:
            members = order_of(*(table.new_marks[rows] for table in self._keys))
            words = [table.new_words[rows[members]] for table in self._keys]
            # Keys with one hash may stand between each other; that only makes more groups.
            differ[1:] = np.any([(one[1:] != one[:-1]).any(axis=1) for one in words], axis=0)
        starts = group_starts(differ, bounds[members, FIRST], self._reach())
        probes = self._probes(len(rows) / len(starts))
        if not probes:
            self._pause = PAUSE * len(rows)
            return None
        together = np.empty((len(starts), 3), np.int64)
        least = np.minimum.reduceat(bounds[members], starts, axis=0)
        together[:, FIRST_TS], together[:, FIRST] = least[:, FIRST_TS], least[:, FIRST]
        together[:, LAST] = np.maximum.reduceat(bounds[members, LAST], starts)
        return RowGroups(members, np.append(starts, len(rows)), together, probes)

    def _reach(self) -> int:
        """The distance, in ranks, that rows of a group may have."""
        came = sum(len(one.ranks) for one in self._inputs)
        growth = sum(one.entered / max(len(one) - one.entered, 1) for one in self._probed)
        return int(GROWTH * came / growth) if growth else INFINITY

    def _probes(self, size: float) -> int:
        """The number of probes best made for groups of so many rows, about; perhaps none."""
        found = list(accumulate((one.each for one in self._tallies), float.__mul__, initial=1.0))
        spent = [0.0]
        for level, table in enumerate(self._targets):
            probe = _PROBE + _VISIT * len(table.rows) / len(table.heads)
            spent.append(spent[-1] + found[level] * probe + found[level + 1])
        costs = [spent[-1]]
        for level in range(1, self._most + 1):
            together, unfolding = spent[level] * MORE / size, found[level] * (1 + MORE * _CHECK)
            costs.append(together + unfolding + spent[-1] - spent[level])
        return costs.index(min(costs))


def _keys(course: Course, tables: Sequence[Table]) -> list[Table] | None:
    """The tables whose keys tell new rows apart as far as it matters; None: there are none."""
    for table in reversed(tables):
        if course.reads <= set(table.agreements):
            return [table] if course.reads else []
    covered = {one for table in tables for one in table.agreements}
    return list(tables) if course.reads <= covered else None
