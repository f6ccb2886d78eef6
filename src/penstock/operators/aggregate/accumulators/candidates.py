"""Candidates for MIN or MAX in each group, in the order of their ends: better ones end earlier."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators import staircase_loops as loops
from penstock.operators.aggregate.accumulators.codes import PooledCodes
from penstock.operators.aggregate.accumulators.events import owned
from penstock.operators.aggregate.accumulators.group_slots import GroupSlots
from penstock.state.moving import Occupancy
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.codes import Codes
    from penstock.operators.aggregate.accumulators.events import Bools, GroupEvents, Int8s, Int64s
    from penstock.state.moving import Moved

FIRST = 16
_COLUMNS = "group", "end", "code"


class Swept(NamedTuple):
    """The codes of the best at points, where there is one; and codes that were dropped."""

    best: Int64s
    known: Bools
    dropped: Int64s


class ExtremeCandidates:
    """Elements that are the answer of their group, or can become it.

    Args:
        codes: Those of their values; of pooled ones it is told which it does not keep any more.
        direction: 1 if larger ones are better, -1 if smaller ones are.
    """

    def __init__(self, codes: Codes, direction: int) -> None:
        self._codes = codes
        self._direction = direction
        self._reset()

    def _reset(self) -> None:
        self._ends = GroupSlots(2)
        self._meta = np.zeros(5, np.int64)
        self._added = np.zeros(0, np.int64)
        self._lately = Occupancy()
        self._allot(FIRST)

    def _allot(self, places: int) -> None:
        """Empty room for candidates, beside place 0, which means none."""
        self._nodes = np.zeros((places + 1, 5), np.int64)
        self._meta[:] = 0
        loops.chain(self._nodes, 1, self._meta)

    def sweep(self, events: GroupEvents, weights: Int8s, codes: Int64s) -> Swept:
        """Take in events; leaving ones are ignored."""
        out = np.empty(len(events.points), np.int64)
        known = np.empty(len(events.points), np.int64)
        gone = self._room(len(events))
        self._meta[loops.ADDED] = 0
        self._added = np.empty(len(events), np.int64)
        self._ends.reach(events.slots)
        self._meta[loops.POINT] = 0
        start = 0
        while start < len(events):
            start = loops.sweep(
                start,
                events.groups,
                events.times,
                weights,
                events.ends,
                codes,
                events.points,
                self._direction,
                *self._codes.order,
                self._nodes,
                self._ends.rows,
                self._meta,
                gone,
                self._added,
                out,
                known,
            )
            if start < len(events):
                self._grow()
        self._lately.note(int(self._meta[loops.LIVE] + self._meta[loops.ADDED]))
        return Swept(out, known == 1, self._dropped(gone))

    def _grow(self) -> None:
        have = len(self._nodes)
        self._nodes = grown(self._nodes, have + 1)
        loops.chain(self._nodes, have, self._meta)

    def _room(self, more: int) -> Int64s:
        """Room for the codes that are dropped, where somebody has to be told."""
        self._meta[loops.DROPPED] = 0
        pooled = isinstance(self._codes, PooledCodes)
        return np.empty((self.in_use + more) * pooled, np.int64)

    def _dropped(self, room: Int64s) -> Int64s:
        return room[: self._meta[loops.DROPPED]]

    def clear(self, groups: Int64s) -> Int64s:
        """Free the candidates of groups, all of which have ended; the codes of these."""
        room = self._room(0)
        reached = owned(groups[groups < len(self._ends.rows)])
        loops.clear(reached, self._nodes, self._ends.rows, self._meta, room)
        return self._dropped(room)

    def added(self) -> tuple[Int64s, Int64s]:
        """Groups and ends of the candidates that the last sweep brought and left."""
        added = self._added[: self._meta[loops.ADDED]]
        self._added = self._added[:0]
        groups, ends = np.empty(len(added), np.int64), np.empty(len(added), np.int64)
        count = loops.asked(added, self._nodes, groups, ends)
        return groups[:count], ends[:count]

    def listed(self) -> list[Int64s]:
        """Of each candidate: its group, its end and its code; by group and end."""
        columns = [np.empty(self.in_use, np.int64) for _ in _COLUMNS]
        loops.listed(self._ends.rows, self._nodes, *columns)
        return columns

    def move(self, moved: Moved) -> None:
        """Candidates are those of the groups under their other slots."""
        self._ends.move(moved)

    def shrink(self, new_codes: Int64s | None) -> None:
        """Give back room that has been empty for a while; have new codes, if there are any."""
        if new_codes is not None or self._lately.leaves_empty(len(self._nodes), self.in_use):
            group, end, code = self.listed()
            self._put(group, end, code if new_codes is None else new_codes[code])

    def table(self) -> pa.Table:
        """All candidates."""
        return pa.table(dict(zip(_COLUMNS, self.listed(), strict=True)))

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        self._reset()
        self._put(*(table[name].to_numpy() for name in _COLUMNS))

    def _put(self, group: Int64s, end: Int64s, code: Int64s) -> None:
        """Have these candidates, and no others; they come by group and end."""
        self._allot(max(len(group), FIRST))
        self._ends.reach(int(group.max(initial=-1)) + 1)
        # Written one after the other in order, neighbours of one group are neighbours in place.
        places = np.arange(1, len(group) + 1)
        starts = np.concatenate([[True], group[1:] != group[:-1]])[: len(group)]
        stops = np.concatenate([group[1:] != group[:-1], [True]])[: len(group)]
        known = np.zeros(len(group), np.int64)
        rows = np.stack([end, code, (places - 1) * ~starts, (places + 1) * ~stops, known], axis=1)
        self._meta[:] = 0
        loops.chain(self._nodes, len(group) + 1, self._meta)
        self._nodes[1 : len(group) + 1] = rows
        self._meta[loops.LIVE] = len(group)
        self._ends.rows[group[starts], loops.FIRST] = places[starts]
        self._ends.rows[group[stops], loops.LAST] = places[stops]

    @property
    def in_use(self) -> int:
        """The number of candidates."""
        return int(self._meta[loops.LIVE])

    @property
    def nbytes(self) -> int:
        """Memory allocated."""
        return self._nodes.nbytes + self._ends.nbytes
