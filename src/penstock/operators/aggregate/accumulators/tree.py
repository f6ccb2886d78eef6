"""Counters per (group, value), in order: the state of holistic aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregate.accumulators import tree_loops as loops
from penstock.operators.aggregate.accumulators import tree_sweeps as sweeps
from penstock.operators.aggregate.accumulators.group_slots import GroupSlots

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.codes import Codes
    from penstock.operators.aggregate.accumulators.events import (
        Doubles,
        GroupEvents,
        Int8s,
        Int64s,
    )
    from penstock.state.arrays import Values
    from penstock.state.moving import Moved

FIRST = 4
"""Nodes of each kind at first."""


class CountedTree:
    """The frequency of each value in each group; a change or a rank costs O(log of all values).

    Values are codes, which compare as they say. With `distinct`, ranks count each value once.
    """

    def __init__(self, codes: Codes, *, distinct: bool) -> None:
        self.codes = codes
        self.distinct = distinct
        self.totals = GroupSlots(1)
        self.path = np.zeros((loops.DEEPEST, 2), np.int64)
        self._parents = np.zeros(sweeps.FAR, np.int64)
        self._reset()

    def _reset(self) -> None:
        self.leaves = _nodes(np.int32, 0)
        self.inners = _nodes(np.int64, FIRST)
        self.meta = np.zeros(10, np.int64)
        loops.chain(self.leaves, 0, self.meta, loops.LEAF_FREE)
        loops.chain(self.inners, 0, self.meta, loops.INNER_FREE)
        self.meta[loops.ROOT] = loops.take(self.leaves, self.meta, loops.LEAF_FREE)
        self.meta[loops.DISTINCT] = self.distinct

    def sweep(
        self,
        events: GroupEvents,
        weights: Int8s,
        codes: Int64s,
        rank: sweeps.Rank,
    ) -> tuple[Int64s, Int64s, Doubles]:
        """Take in events; the codes around a rank at the points, see `tree_sweeps.sweep`."""
        self.totals.reach(events.slots)
        self.meta[loops.POINT] = 0
        size = len(events.points)
        low, high, beyond = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
        start = 0
        while start < len(events):
            start = sweeps.sweep(
                start,
                events.groups,
                weights,
                codes,
                events.points,
                rank,
                self.leaves,
                self.inners,
                self.meta,
                *self.codes.order,
                self.path,
                self._parents,
                self.totals.rows,
                low,
                high,
                beyond,
            )
            if start < len(events):
                self.grow()
        if len(self.leaves.sizes) > 4 * (self.meta[loops.LEAVES] + FIRST):
            self._load(self._entries())
        return low, high, beyond

    @property
    def is_full(self) -> bool:
        """The tree must grow before the next change."""
        return not sweeps.roomy(self.leaves, self.inners, self.meta)

    def grow(self) -> None:
        """More nodes of the kind that is short, or wider counters."""
        if self.meta[loops.MANY]:
            self._widen()
        leaves, inners = len(self.leaves.sizes), len(self.inners.sizes)
        if leaves - self.meta[loops.LEAVES] < 2:
            self.leaves = _more(self.leaves)
            loops.chain(self.leaves, leaves, self.meta, loops.LEAF_FREE)
        if inners - self.meta[loops.INNERS] < self.meta[loops.HEIGHT] + 2:
            self.inners = _more(self.inners)
            loops.chain(self.inners, inners, self.meta, loops.INNER_FREE)

    def _widen(self) -> None:
        self.leaves = self.leaves._replace(weights=self.leaves.weights.astype(np.int64))

    def _entries(self) -> Int64s:
        out = np.empty((3, int(self.meta[loops.ENTRIES])), np.int64)
        sweeps.entries(self.leaves, self.inners, self.meta, self.path, out)
        return out

    def _load(self, entries: Int64s) -> None:
        self._reset()
        if entries[2].max(initial=0) > loops.FEW:
            self._widen()
        start = 0
        while start < entries.shape[1]:
            start = sweeps.load(
                start, entries, self.leaves, self.inners, self.meta, *self.codes.order, self.path
            )
            if start < entries.shape[1]:
                self.grow()

    def move(self, moved: Moved) -> None:
        """Groups have been given other slots, in the same order."""
        entries = self._entries()
        entries[0] = moved.numbers[entries[0]]
        self._load(entries)
        self.totals.move(moved)

    def recode(self, codes: Int64s) -> None:
        """Code c has become `codes[c]`, in the same order."""
        entries = self._entries()
        entries[1] = codes[entries[1]]
        self._load(entries)

    def table(self) -> pa.Table:
        """All counters, in order."""
        return pa.table(dict(zip(("group", "code", "count"), self._entries(), strict=True)))

    def restore(self, table: pa.Table) -> None:
        """Take back a table."""
        entries = np.stack([table[name].to_numpy() for name in ("group", "code", "count")])
        self._load(entries)
        groups = entries[0]
        weights = np.minimum(entries[2], 1) if self.distinct else entries[2]
        self.totals = GroupSlots(1)
        self.totals.reach(int(groups.max(initial=-1)) + 1)
        np.add.at(self.totals.rows[:, 0], groups, weights)

    @property
    def in_use(self) -> int:
        """The number of counters."""
        return int(self.meta[loops.ENTRIES])

    @property
    def nbytes(self) -> int:
        """Memory allocated."""
        nodes = sum(one.nbytes for kind in (self.leaves, self.inners) for one in kind)
        return nodes + self.totals.rows.nbytes


def _nodes(weights: type[np.int32 | np.int64], parents: int) -> loops.Nodes:
    """A few nodes; `parents` of them have children."""
    return loops.Nodes(
        np.zeros((FIRST, loops.SIZE), np.int32),
        np.zeros((FIRST, loops.SIZE), np.int64),
        np.zeros((FIRST, loops.SIZE), weights),
        np.zeros((parents, loops.SIZE), np.int64),
        np.zeros(FIRST, np.int64),
    )


def _more(nodes: loops.Nodes) -> loops.Nodes:
    """The nodes and a quarter more, or a few."""
    count = len(nodes.sizes)
    wanted = count + max(count // 4, FIRST)
    return loops.Nodes._make(_extended(one, wanted) if len(one) else one for one in nodes)


def _extended(array: Values, length: int) -> Values:
    more = np.zeros((length - len(array), *array.shape[1:]), array.dtype)
    return np.concatenate([array, more])
