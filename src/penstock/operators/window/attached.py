"""What was made of rows when they came, under the intervals that a window gives them later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import INFINITY
from penstock.operators.block import Block, rows_by_time, stored_blocks
from penstock.operators.operator import Inputs, Operator, Segments
from penstock.operators.saved_tables import arrays_of
from penstock.operators.window.attached_loops import add_rows, attach
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.rows import RowStore, grown
from penstock.state.slots import SlotPool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.operators.division import Division
    from penstock.state.arrays import Ints


class Attached(Operator):
    """Port 0 brings elements, each with its number; port 1 the rows made of each, number last.

    The rows of a number are there before its element begins, and are forgotten when it ends. An
    element with an empty interval was never valid: its rows are forgotten at once.
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._rows = RowStore(types)
        self._pool = SlotPool()
        self._index = KeyIndex()
        # By number the first of its rows; by row the next of the same number, and the number.
        self._heads: Ints = np.zeros(0, np.int64)
        self._next: Ints = np.zeros(0, np.int64)
        self._numbers: Ints = np.zeros(0, np.int64)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The rows of elements that begin, and their withdrawals where these end."""
        elements, made = map(rows_by_time, inputs)
        if made is not None:
            self._keep(made.columns[:-1], made.columns[-1])
        if elements is None:
            return ()
        keys = self._index.find(fingerprints(elements.columns, len(elements)))
        slots, which, gone = attach(
            keys, elements.te < INFINITY, elements.signs, self._heads, self._next
        )
        ts, te, signs = elements.ts[which], elements.te[which], elements.signs[which]
        blocks = stored_blocks(self._rows, slots, ts, te, signs)
        self._forget(keys[gone])
        return [block.take(block.ts < block.te) for block in blocks]

    def _keep(self, columns: Sequence[pa.Array], number: pa.Array) -> None:
        slots = self._pool.allocate(len(number))
        self._rows.put(slots, columns)
        keys, new = self._index.find_or_add(fingerprints([number], len(number)))
        self._heads = grown(self._heads, self._index.capacity)
        self._heads[keys[new]] = -1
        self._next = grown(self._next, self._pool.capacity)
        self._numbers = grown(self._numbers, self._pool.capacity)
        self._numbers[slots] = number.to_numpy()
        add_rows(keys, slots, self._heads, self._next)

    def _forget(self, keys: Ints) -> None:
        known = keys[keys >= 0]
        slots, _, _ = attach(
            known,
            np.zeros(len(known), np.bool_),
            np.ones(len(known), np.int8),
            self._heads,
            self._next,
        )
        self._index.remove(known)
        self._rows.forget(slots)
        self._pool.release(slots)

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if self._index.is_spacious:
            moved = self._index.compact()
            self._heads = moved.rows(self._heads)
        if self._pool.is_spacious:
            moved = self._pool.compact()
            self._rows.move(moved.kept)
            self._next, self._numbers = moved.rows(self._next), moved.rows(self._numbers)
            moved.links(self._next)
            moved.links(self._heads)

    @property
    def state_rows(self) -> int:
        """Rows kept."""
        return len(self._pool)

    @property
    def state_bytes(self) -> int:
        """Their bytes."""
        links = self._heads.nbytes + self._next.nbytes + self._numbers.nbytes
        return self._rows.nbytes + self._index.nbytes + self._pool.nbytes + links

    def segments(self) -> Segments:
        """The rows kept, each with its number."""
        keys = self._index.live_slots()
        everything = np.zeros(len(keys), np.bool_), np.ones(len(keys), np.int8)
        slots, _, _ = attach(keys, *everything, self._heads, self._next)
        columns = {str(number): one for number, one in enumerate(self._rows.take(slots))}
        return {"rows": pa.table(columns | {"_number": pa.array(self._numbers[slots])})}

    def divided(self, parts: Sequence[Segments], division: Division) -> list[Segments]:
        """Rows where the elements with their numbers are."""
        return division.rows(parts, {"rows": division.inputs[1]})

    def restore(self, segments: Mapping[str, pa.Table]) -> None:
        """Take them back."""
        *columns, number = arrays_of(segments["rows"])
        self._keep(columns, number)
