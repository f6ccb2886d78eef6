"""The first rows of each group, at every instant: a row may be pushed out by another.

Rows are kept in a tree by group and order, so that a row that comes or goes costs the logarithm of
the rows, and with numbers one step more for each row behind it that is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.failures import Failures
from penstock.algebra.patterns import Pattern
from penstock.algebra.time import INFINITY
from penstock.algebra.types import STRING
from penstock.operators.aggregate.accumulators.codes import PooledCodes
from penstock.operators.aggregate.accumulators.tree import CountedTree
from penstock.operators.block import Block
from penstock.operators.declared_state.slot_entries import SlotEntries
from penstock.operators.output import first_rows_loops as loops
from penstock.operators.output.order_bytes import order_bytes
from penstock.operators.set.counted_loops import strict_elements
from penstock.operators.set.set_counts import SetOperation
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import UNKNOWN, KeyIndex
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.algebra.types import Type
    from penstock.compute.evaluate import Evaluator
    from penstock.operators.aggregate.accumulators.events import Bytes
    from penstock.operators.operator import Inputs
    from penstock.operators.output.order_limit import OrderKey
    from penstock.operators.set.counted import CopyChanges, CountedRows
    from penstock.state.arrays import Ints, Words
    from penstock.state.moving import Moved

ROOM = 1024


@dataclass(frozen=True)
class FirstPlaces:
    """By what rows are ordered and grouped, and which places of each group are shown.

    Args:
        types: Of the rows.
        keys: What they are ordered by, and the types of that.
        partition_by: What has to be equal in the rows of a group.
        limit: How many places are shown; None: all.
        offset: How many are left out before them.
        is_numbered: Whether rows are shown with their places.
        failures: Expressions that fail are counted here.
    """

    types: Sequence[Type]
    keys: Sequence[tuple[OrderKey, Type]]
    partition_by: Sequence[Evaluator]
    limit: int | None
    offset: int
    is_numbered: bool
    failures: Failures

    @property
    def high(self) -> int:
        """The first place that is not shown any more."""
        return INFINITY if self.limit is None else min(self.offset + self.limit, INFINITY)

    def bytes_of(
        self, columns: Sequence[pa.Array], length: int, failures: Failures
    ) -> tuple[Ints, Bytes]:
        """Rows as bytes that are in order."""
        keys = [key.expression(columns, length, failures) for key, _ in self.keys]
        directions = [(key.descending, key.nulls_first) for key, _ in self.keys]
        return order_bytes(
            [*keys, *columns],
            [*(type_ for _, type_ in self.keys), *self.types],
            [*directions, *[(False, True)] * len(columns)],
            length,
        )

    def groups_of(self, columns: Sequence[pa.Array], length: int, failures: Failures) -> Words:
        """The values that tell the groups of rows apart."""
        values = [one(columns, length, failures) for one in self.partition_by]
        return fingerprints(values, length)


class FirstRowsOperator(SetOperation):
    """The rows at the first places of their groups."""

    def __init__(self, counted: CountedRows, places: FirstPlaces, pattern: Pattern) -> None:
        super().__init__(counted)
        self.places = places
        self._places = np.array(
            [places.offset, places.high, places.is_numbered, pattern is Pattern.MON], np.int64
        )
        self._order = counted.rows.beside(_InOrder(counted, places))

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """Elements for rows that come to a place that is shown, negative ones for those that go."""
        self._order.rebuild()
        changes = self.counts(inputs, clock)
        if not len(changes.slots):
            self.counted.release()
            return ()
        self._order.enter(np.unique(changes.slots), self.places.failures)
        told, forgotten = self._order.sweep(changes, self._places)
        made = self._blocks(told)
        self.counted.take_out(forgotten)
        met = np.unique(np.concatenate([changes.slots, forgotten]))
        self._order.leave(met[self.counted.counts[met, 0] == 0])
        self.counted.release()
        return made

    def _blocks(self, told: Ints) -> list[Block]:
        """The rows that were told, netted at each instant, as elements."""
        width = int(told[:, 1].max(initial=0)) + 1
        pairs, kinds = np.unique(told[:, 0] * width + told[:, 1], return_inverse=True)
        space = np.zeros(len(pairs) + 1, np.int64)
        net = loops.net(kinds.reshape(-1), told[:, 2].copy(), told[:, 3].copy(), space)
        kinds, ts, te, sign = strict_elements(*net, space)
        slots, numbers = pairs[kinds] // width, pairs[kinds] % width
        if not len(slots):
            return []
        columns = self.counted.rows.take(slots)
        if self.places.is_numbered:
            columns = (*columns, pa.array(numbers + 1))
        return [Block(columns, ts, te, sign)]

    def restored(self) -> None:
        """Put the rows in order again."""
        self._order.is_stale = True


class _InOrder(SlotEntries):
    """The rows in a tree, by group and order; it follows from the rows and their copies."""

    def __init__(self, counted: CountedRows, places: FirstPlaces) -> None:
        self._counted = counted
        self._places = places
        self.is_stale = False
        self._reset()

    def _reset(self) -> None:
        codes = PooledCodes(STRING)
        self._pool, self._tree = codes.pool, CountedTree(codes, distinct=False)
        self._index = KeyIndex()
        self._slot_of = np.zeros(0, np.int64)
        self._code_of = np.full(0, UNKNOWN, np.int64)
        self._group_of = np.zeros(0, np.int64)
        self._totals = np.zeros(0, np.int64)

    def rebuild(self) -> None:
        """Put all rows in order, if they were moved or taken back."""
        if not self.is_stale:
            return
        self.is_stale = False
        self._reset()
        slots = self._counted.rows.live_slots()
        slots = slots[self._counted.counts[slots, 0] > 0]
        # What fails has been counted when the rows came.
        self.enter(slots, Failures())
        copies = self._counted.counts[slots, 0].astype(np.int64)
        # Nothing is told of a stretch of places that lies behind all.
        nowhere = np.array([INFINITY, INFINITY, 0, 0], np.int64)
        self._swept(slots, np.zeros(len(slots), np.int64), copies, nowhere)

    def enter(self, slots: Ints, failures: Failures) -> None:
        """Give codes and groups to rows that have none."""
        capacity = self._counted.rows.capacity
        before = len(self._code_of)
        self._code_of = grown(self._code_of, capacity)
        self._group_of = grown(self._group_of, capacity)
        self._code_of[before:] = UNKNOWN
        slots = slots[self._code_of[slots] == UNKNOWN]
        if not len(slots):
            return
        columns, length = self._counted.rows.take(slots), len(slots)
        made = self._places.bytes_of(columns, length, failures)
        codes = self._pool.hold(*made, np.ones(length, np.bool_))
        groups, _ = self._index.find_or_add(self._places.groups_of(columns, length, failures))
        self._totals = grown(self._totals, self._index.capacity)
        self._slot_of = grown(self._slot_of, len(self._pool.texts))
        self._code_of[slots], self._group_of[slots] = codes, groups
        self._slot_of[codes] = slots

    def leave(self, slots: Ints) -> None:
        """Forget rows that are there no more, and their groups if these are empty."""
        slots = slots[self._code_of[slots] != UNKNOWN]
        self._pool.release(self._code_of[slots])
        self._code_of[slots] = UNKNOWN
        groups = np.unique(self._group_of[slots])
        self._index.remove(groups[self._totals[groups] == 0])

    def sweep(self, changes: CopyChanges, places: Ints) -> tuple[Ints, Ints]:
        """The news of rows, by slot; and slots of which a copy is forgotten."""
        return self._swept(changes.slots, changes.times, changes.deltas, places)

    def _swept(self, slots: Ints, times: Ints, deltas: Ints, places: Ints) -> tuple[Ints, Ints]:
        groups, codes = self._group_of[slots], self._code_of[slots]
        told, forgotten = np.empty((ROOM, 4), np.int64), np.empty(ROOM, np.int64)
        at = np.zeros(4, np.int64)
        tree = self._tree
        while not loops.sweep(
            groups, codes, times, deltas, places, self._totals, tree.leaves, tree.inners,
            tree.meta, self._pool.texts, self._pool.data, tree.path, told, forgotten, at,
        ):  # fmt: skip
            if tree.is_full:
                tree.grow()
            elif at[loops.FORGOTTEN] >= len(forgotten):
                forgotten = grown(forgotten, 2 * len(forgotten))
            else:
                told = grown(told, 2 * len(told))
        told = told[: at[loops.TOLD]]
        told[:, 0] = self._slot_of[told[:, 0]]
        return told, self._slot_of[forgotten[: at[loops.FORGOTTEN]]]

    def move(self, moved: Moved) -> None:
        """Rows have been given other slots: they are put in order again when they are needed."""
        del moved
        self.is_stale = True

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        own = (self._slot_of, self._code_of, self._group_of, self._totals)
        parts = self._pool.nbytes + self._tree.nbytes + self._index.nbytes
        return parts + sum(one.nbytes for one in own)
