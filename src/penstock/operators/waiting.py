"""Rows that came before their time: held until the clock has passed their ts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.block import Block, concatenated, from_table, to_table
from penstock.operators.declared_state.state_part import RowsPart

if TYPE_CHECKING:
    import pyarrow as pa

    from penstock.state.arrays import Ints

_NOTHING = np.zeros(0, np.int64)


class Waiting(RowsPart):
    """Blocks of rows that wait, in the order they came."""

    def __init__(self) -> None:
        self._held: list[_WaitingBlock] = []

    def push(self, block: Block) -> None:
        """Hold rows."""
        if len(block):
            self._held.append(_WaitingBlock(block))

    def take(self, clock: int) -> list[Block]:
        """The rows that begin before the clock."""
        taken = [one.take(clock) for one in self._held if one.first < clock]
        self._held = [one for one in self._held if len(one)]
        return taken

    @property
    def text(self) -> int:
        """Bytes of their strings, or somewhat more."""
        return sum(one.text for one in self._held)

    def due(self, clock: int) -> tuple[Ints, Ints]:
        """The ts of the rows that begin before the clock, and the bytes of their strings."""
        rest = [one.rest() for one in self._held]
        ts = np.concatenate([_NOTHING, *(block.ts for block in rest)])
        sizes = np.concatenate([_NOTHING, *(block.texts() for block in rest)])
        return ts[ts < clock], sizes[ts < clock]

    def instants(self) -> Ints:
        """The ts of all rows that wait."""
        return np.concatenate([_NOTHING, *(one.rest().ts for one in self._held)])

    def __len__(self) -> int:
        """The number of rows that wait."""
        return sum(map(len, self._held))

    @property
    def nbytes(self) -> int:
        """Their bytes."""
        return sum(one.rest().nbytes for one in self._held)

    def table(self) -> pa.Table | None:
        """The rows as a table, if there are any."""
        if not self._held:
            return None
        return to_table(concatenated([one.rest() for one in self._held]))

    def take_back(self, table: pa.Table) -> None:
        """Hold the rows of a table."""
        self.push(from_table(table))


class _WaitingBlock:
    """A block that waits: as it came or, once a part of it has been taken, by ts."""

    def __init__(self, block: Block) -> None:
        self._block = block
        # Where the rows begin that have not been taken.
        self._position = 0
        self._by_time = False
        self.first = int(block.ts.min())
        self._last = int(block.ts.max())
        self.text = block.text

    def __len__(self) -> int:
        return len(self._block) - self._position

    def rest(self) -> Block:
        """The rows not taken yet."""
        return self._block.stretch(self._position, len(self._block))

    def take(self, clock: int) -> Block:
        """The rows that begin before the clock."""
        if self._last < clock:
            taken, self._position = self.rest(), len(self._block)
            return taken
        if not self._by_time:
            self._block = self._block.by_time()
            self._by_time = True
        stop = int(self._block.ts.searchsorted(clock))
        taken = self._block.stretch(self._position, stop)
        self._position, self.first = stop, int(self._block.ts[stop])
        if 2 * stop > len(self._block):
            self._shorten()
        return taken

    def _shorten(self) -> None:
        """Let go what has been taken; done at halves, each row is copied about once."""
        kept = np.arange(self._position, len(self._block))
        self._block, self._position = self._block.take(kept), 0
        self.text = self._block.text
