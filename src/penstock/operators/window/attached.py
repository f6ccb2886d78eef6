"""Values made of rows when they came, under the intervals that a window gives them later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.declared_state.slot_entries import SlotLinks
from penstock.operators.declared_state.slot_table import SlotTable
from penstock.operators.declared_state.state_part import DeclaredState
from penstock.operators.operator import Inputs, Operator
from penstock.operators.window.attached_loops import add_rows, attach
from penstock.state.fingerprints import fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints


class Attached(Operator):
    """Port 0 brings elements, each with its number; port 1 the rows made of each, number last.

    The rows of a number are there before its element begins, and are forgotten when it ends. An
    element with an empty interval was never valid: its rows are forgotten at once.
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._rows = SlotTable(types, port=1)
        self._numbers = self._rows.column(np.int64, "_number")
        # By row the next of the same number; by number the first of its rows.
        self._next = self._rows.column(np.int64, None)
        self._elements = SlotTable((), keyed=0, derived=True)
        self._heads = self._elements.column(np.int64, None)
        for links in (self._next, self._heads):
            self._rows.beside(SlotLinks(links))
        self.state = DeclaredState(rows=self._rows, elements=self._elements)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of elements that begin, and their withdrawals where these end."""
        elements, made = map(rows_by_time, inputs)
        if made is not None:
            self._keep(made.columns[:-1], made.columns[-1])
        if elements is None:
            return ()
        keys = self._elements.find(elements.columns, len(elements))
        slots, which, gone = attach(
            keys,
            elements.te < INFINITY,
            elements.signs,
            self._heads.values,
            self._next.values,
        )
        ts, te, signs = elements.ts[which], elements.te[which], elements.signs[which]
        blocks = stored_blocks(self._rows, slots, ts, te, signs)
        self._forget(keys[gone])
        return [block.take(block.ts < block.te) for block in blocks]

    def _keep(self, columns: Sequence[pa.Array], number: pa.Array) -> None:
        slots = self._rows.add(columns, len(number))
        self._numbers.values[slots] = number.to_numpy()
        self._link(slots)

    def _link(self, slots: Ints) -> None:
        numbers = pa.array(self._numbers.values[slots])
        keys, new = self._elements.find_or_add(fingerprints([numbers], len(slots)))
        self._heads.values[keys[new]] = -1
        add_rows(keys, slots, self._heads.values, self._next.values)

    def _forget(self, keys: Ints) -> None:
        known = keys[keys >= 0]
        slots, _, _ = attach(
            known,
            np.zeros(len(known), np.bool_),
            np.ones(len(known), np.int8),
            self._heads.values,
            self._next.values,
        )
        self._elements.remove(known)
        self._rows.remove(slots)

    def restored(self) -> None:
        """Find rows by their numbers again."""
        self._link(self._rows.live_slots())
