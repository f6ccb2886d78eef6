"""EMIT FINAL: closed intervals only, in the order of (ts, te)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block, from_table, rows_by_time, stored_blocks, to_table
from penstock.operators.declared_state.state_part import DeclaredState, RowsPart
from penstock.operators.operator import Inputs, Operator
from penstock.operators.output.emit_final_loops import (
    HELD,
    NEWEST,
    NEXT,
    NUMBER,
    OLDEST,
    SENT,
    close_withdrawn,
    first_open,
    let_go,
)
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.state.moving import Occupancy
from penstock.state.row_store import RowStore, grown
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.state.arrays import Ints

_LEAST = 64


class FinalOperator(Operator):
    """Holds elements until they have ended, and until all that began before them have.

    Elements stand in the order they began, so what can be sent stands in front: up to the first
    that is open, and those that began with it. A withdrawal ends its element; it is found by row
    and end, the oldest of those alike. At the end of the input what never ends is sent, too.

    Args:
        types: The columns.
        strict: Whether elements may be withdrawn.
    """

    def __init__(self, types: Sequence[pa.DataType], *, strict: bool) -> None:
        self._held = _HeldElements(types, strict=strict)
        self.state = DeclaredState(held=self._held)

    def step(self, inputs: Inputs, clock: int) -> Sequence[Block]:
        """The elements that are final, in order."""
        (block,) = map(rows_by_time, inputs)
        if block is not None:
            self._held.take_in(block)
        return self._held.final(clock)

    def frontier(self, clock: int) -> int:
        """The beginning of the first element that is open: all before it has been sent."""
        return self._held.frontier(clock)


class _HeldElements(RowsPart):
    """Elements by ts, and which of them have been sent."""

    def __init__(self, types: Sequence[pa.DataType], *, strict: bool) -> None:
        self._rows = RowStore(types)
        # Elements at places from `head` to before `tail`, by ts; how many have not been sent.
        self._ts: Ints = np.zeros(0, np.int64)
        self._te: Ints = np.zeros(0, np.int64)
        self._head = self._tail = self._unsent = 0
        self._lately = Occupancy()
        self._alike = _Alike() if strict else None

    def final(self, clock: int) -> list[Block]:
        """The elements that can be sent, in order; they are forgotten."""
        first = first_open(self._te, self._head, self._tail, clock)
        # What began with the first open element, and has ended, may go as well.
        last = first
        if first < self._tail:
            stretch = self._ts[first : self._tail]
            last += int(stretch.searchsorted(stretch[0], side="right"))
        ends = self._te[self._head : last]
        unsent = ends != SENT
        unsent[first - self._head :] &= ends[first - self._head :] <= clock
        places = self._head + np.flatnonzero(unsent)
        places = places[order_of(self._ts[places], self._te[places])]
        made = stored_blocks(self._rows, places, self._ts[places], self._te[places])
        self._forget(places, first)
        return made

    def frontier(self, clock: int) -> int:
        """The beginning of the first element that has not ended, which stands in front."""
        return clock if self._head == self._tail else min(clock, int(self._ts[self._head]))

    def take_in(self, block: Block) -> None:
        """Hold the elements of a step that follows those before; withdrawals end theirs."""
        elements = block if block.sign is None else block.take(block.sign > 0)
        self._reserve(len(elements))
        first, self._tail = self._tail, self._tail + len(elements)
        places = np.arange(first, self._tail)
        self._rows.put(places, elements.columns)
        self._ts[places], self._te[places] = elements.ts, elements.te
        self._unsent += len(elements)
        if self._alike is not None:
            self._alike.take_in(block, first, self._te)

    def _forget(self, places: Ints, first: int) -> None:
        self._lately.note(self._tail - self._head)
        self._te[places] = SENT
        self._unsent -= len(places)
        self._head = first
        self._rows.forget(places)
        if self._alike is not None:
            self._alike.let_go(places)

    def _reserve(self, more: int) -> None:
        """Room for more elements behind the last; where half is free, they move to the front."""
        if self._tail + more <= len(self._te):
            return
        if 2 * (self._tail - self._head) <= self._tail:
            self._move_to_front()
        wanted = max(self._tail + more, self._tail + self._tail // 2, _LEAST)
        self._ts, self._te = grown(self._ts, wanted), grown(self._te, wanted)
        self._rows.reserve(wanted)
        if self._alike is not None:
            self._alike.reserve(wanted)

    def _move_to_front(self) -> None:
        kept = np.arange(self._head, self._tail)
        self._ts, self._te = self._ts[kept], self._te[kept]
        self._rows.move(kept)
        if self._alike is not None:
            self._alike.move(self._head, self._tail)
        self._head, self._tail = 0, len(kept)

    def shrink(self) -> None:
        """Give back room that has been empty for a while."""
        if self._lately.leaves_empty(len(self._te), self._tail - self._head):
            self._move_to_front()
        if self._alike is not None:
            self._alike.shrink(self._head, self._tail)

    def __len__(self) -> int:
        return self._unsent

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        alike = 0 if self._alike is None else self._alike.nbytes
        return self._rows.nbytes + self._ts.nbytes + self._te.nbytes + alike

    def table(self) -> pa.Table | None:
        """The elements that have not been sent."""
        if not self._unsent:
            return None
        places = self._head + np.flatnonzero(self._te[self._head : self._tail] != SENT)
        held = Block(self._rows.take(places), self._ts[places], self._te[places])
        return to_table(held)

    def take_back(self, table: pa.Table) -> None:
        """Hold them again; those withdrawn have ended, so they are alike to nothing to come."""
        self.take_in(from_table(table).by_time())


class _Alike:
    """Elements with the same row and end, each kind with a number: what a negative row names."""

    def __init__(self) -> None:
        self._index = KeyIndex()
        self._of_alike: Ints = np.zeros((0, 3), np.int64)
        self._of_element: Ints = np.zeros((0, 2), np.int64)

    def take_in(self, block: Block, place: int, te: Ints) -> None:
        """The rows of a step, of which the elements stand from a place on."""
        words = fingerprints([*block.columns, pa.array(block.te)], len(block))
        numbers, new = self._index.find_or_add(words)
        self._of_alike = grown(self._of_alike, self._index.capacity)
        self._of_alike[numbers[new]] = 0
        close_withdrawn(numbers, block.ts, block.signs, place, te, self._of_element, self._of_alike)
        # A withdrawal of what is not held has brought a number that nobody will let go.
        added = numbers[new]
        self._index.remove(added[self._of_alike[added, HELD] == 0])

    def let_go(self, places: Ints) -> None:
        """Elements have been sent."""
        self._index.remove(let_go(places, self._of_element, self._of_alike))

    def reserve(self, capacity: int) -> None:
        """Room for elements at places below the capacity."""
        self._of_element = grown(self._of_element, capacity)

    def move(self, head: int, tail: int) -> None:
        """Elements from `head` to before `tail` move to the front."""
        self._of_element = self._of_element[head:tail].copy()
        self._of_element[:, NEXT] = np.maximum(self._of_element[:, NEXT] - head, 0)
        self._of_alike[:, (OLDEST, NEWEST)] = np.maximum(
            self._of_alike[:, (OLDEST, NEWEST)] - head, 0
        )

    def shrink(self, head: int, tail: int) -> None:
        """Give back the room of numbers; elements stand from `head` to before `tail`."""
        if self._index.is_spacious:
            moved = self._index.compact()
            self._of_alike = moved.rows(self._of_alike)
            numbers = self._of_element[head:tail, NUMBER]
            numbers[:] = moved.numbers[numbers]

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._index.nbytes + self._of_alike.nbytes + self._of_element.nbytes
