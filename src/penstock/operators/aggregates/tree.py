"""Counters per (group, value), in order: the state of holistic aggregates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.aggregates import tree_loops as loops
from penstock.operators.aggregates import tree_sweeps as sweeps
from penstock.operators.aggregates.slots import Slots

if TYPE_CHECKING:
    from penstock.operators.aggregates.events import Bytes, Doubles, Events, Int8s, Int64s

FIRST_LEAVES = 4
FIRST_INNERS = 2 * loops.DEEPEST
THIN = loops.SIZE // 8
"""Entries per leaf below which a tree is rebuilt."""


class Tree:
    """How often each value is in each group; a change or a rank costs O(log of all values).

    With `distinct`, ranks count each value once.
    """

    def __init__(self, *, distinct: bool) -> None:
        self.distinct = distinct
        self.totals = Slots(1)
        self._reset()

    def _reset(self) -> None:
        self.leaves = np.zeros((FIRST_LEAVES, 3, loops.SIZE), np.int64)
        self.inners = np.zeros((FIRST_INNERS, 4, loops.SIZE), np.int64)
        self.sizes = np.zeros(FIRST_LEAVES, np.int64)
        self.inner_sizes = np.zeros(FIRST_INNERS, np.int64)
        self.meta = np.zeros(9, np.int64)
        # Leaf 0 is the root.
        loops.chain(self.leaves, 1, self.meta, loops.LEAF_FREE)
        loops.chain(self.inners, 0, self.meta, loops.INNER_FREE)
        self.meta[loops.LEAVES] = 1
        self.meta[loops.DISTINCT] = self.distinct

    @property
    def _nodes(self) -> tuple[Int64s, Int64s, Int64s, Int64s, Int64s]:
        return self.leaves, self.sizes, self.inners, self.inner_sizes, self.meta

    def sweep(
        self,
        events: Events,
        weights: Int8s,
        codes: Int64s,
        rank: sweeps.Rank,
        order: tuple[Int64s, Bytes],
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
                *self._nodes,
                *order,
                self.totals.rows,
                low,
                high,
                beyond,
            )
            if start < len(events):
                self._grow()
        if self.meta[loops.ENTRIES] < THIN * (self.meta[loops.LEAVES] - FIRST_LEAVES):
            self._load(self._entries(), order)
        return low, high, beyond

    def _grow(self) -> None:
        leaves, inners = len(self.leaves), len(self.inners)
        if leaves - self.meta[loops.LEAVES] < 2:
            self.leaves = np.concatenate([self.leaves, np.zeros_like(self.leaves)])
            self.sizes = np.concatenate([self.sizes, np.zeros_like(self.sizes)])
            loops.chain(self.leaves, leaves, self.meta, loops.LEAF_FREE)
        else:
            self.inners = np.concatenate([self.inners, np.zeros_like(self.inners)])
            self.inner_sizes = np.concatenate([self.inner_sizes, np.zeros_like(self.inner_sizes)])
            loops.chain(self.inners, inners, self.meta, loops.INNER_FREE)

    def _entries(self) -> Int64s:
        out = np.empty((3, int(self.meta[loops.ENTRIES])), np.int64)
        sweeps.entries(*self._nodes, out)
        return out

    def _load(self, entries: Int64s, order: tuple[Int64s, Bytes]) -> None:
        self._reset()
        start = 0
        while start < entries.shape[1]:
            start = sweeps.load(start, entries, *self._nodes, *order)
            if start < entries.shape[1]:
                self._grow()

    def table(self) -> pa.Table:
        """All counters, in order."""
        return pa.table(dict(zip(("group", "code", "count"), self._entries(), strict=True)))

    def restore(self, table: pa.Table, order: tuple[Int64s, Bytes]) -> None:
        """Take back a table."""
        entries = np.stack([table[name].to_numpy() for name in ("group", "code", "count")])
        self._load(entries, order)
        groups = entries[0]
        weights = np.minimum(entries[2], 1) if self.distinct else entries[2]
        self.totals = Slots(1)
        self.totals.reach(int(groups.max(initial=-1)) + 1)
        np.add.at(self.totals.rows[:, 0], groups, weights)

    @property
    def state_rows(self) -> int:
        """How many counters."""
        return int(self.meta[loops.ENTRIES])

    @property
    def state_bytes(self) -> int:
        """Memory allocated."""
        return self.leaves.nbytes + self.inners.nbytes + self.totals.rows.nbytes
