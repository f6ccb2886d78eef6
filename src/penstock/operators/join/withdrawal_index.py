"""The search for the row that a negative row withdraws: by an index, or among those of its key.

Rows that are equal and have one end are twins: it does not matter which of them is withdrawn. An
index of them costs something for every row that comes; without one, a withdrawal looks through
the rows of its key. Which is less depends on how many rows are withdrawn before their end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import pyarrow as pa

from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import SCANNED, STRICT, cut_withdrawals
from penstock.state.fingerprints import fingerprints
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.operators.join.join_loops import Incoming
    from penstock.state.arrays import Flags, Ints, Words
    from penstock.state.moving import Moved
    from penstock.state.slots import SlotPool

Finding = Literal["hashed", "scanned", "auto"]
"""By an index; by looking through the rows of a key; by what has been less work so far."""


class WithdrawalIndex(Protocol):
    """The memory of rows by which they can be found."""

    @property
    def kind(self) -> int:
        """The kind of side it makes, for the loops."""

    @property
    def links(self) -> Ints:
        """The links of each place."""

    @property
    def heads(self) -> Ints:
        """The beginnings of the links."""

    def enter(self, block: Block, capacity: int) -> Ints:
        """The keys that the rows of a step are found by; there is room for so many rows in all."""

    def forget(self, ended: Ints, incoming: Incoming, negative: Flags) -> None:
        """Rows at places have ended, and those of negative rows are withdrawn."""

    def shrink(self, places: SlotPool) -> None:
        """Give back room that has been empty for a while; rows are at these places."""

    def move(self, moved: Moved) -> None:
        """Rows have moved to other places."""

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""


class HashedWithdrawals:
    """An index: by number, twins form a chain."""

    kind = STRICT

    def __init__(self) -> None:
        self._chains = Chains(1)
        self.links: Ints = np.zeros((0, 2), np.int64)

    @property
    def heads(self) -> Ints:
        """The first twin of each number."""
        return self._chains.heads

    def enter(self, block: Block, capacity: int) -> Ints:
        """The numbers of rows."""
        numbers, _ = self._chains.numbers(identity(block))
        self.links = grown(self.links, capacity)
        return numbers

    def forget(self, ended: Ints, incoming: Incoming, negative: Flags) -> None:
        """Numbers without rows are given to others."""
        empty = cut_withdrawals(self.links, self.heads, ended)
        self._chains.drop_empty(np.concatenate([incoming.twin[negative], empty]))

    def shrink(self, places: SlotPool) -> None:
        """Give back room that has been empty for a while."""
        if self._chains.is_spacious:
            moved, taken = self._chains.compact(), places.taken()
            self.links[taken, 0] = moved.numbers[self.links[taken, 0]]

    def move(self, moved: Moved) -> None:
        """Chains lead to other places."""
        self.links = moved.rows(self.links)
        moved.links(self.links[:, 1])
        moved.links(self.heads)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._chains.nbytes + self.links.nbytes


class ScannedWithdrawals:
    """A word for each row; rows of one key and one end with the same word are twins."""

    kind = SCANNED

    def __init__(self) -> None:
        self.links: Ints = np.zeros((0, 1), np.int64)
        # How many rows have been looked at.
        self.heads: Ints = np.zeros((1, 1), np.int64)

    def enter(self, block: Block, capacity: int) -> Ints:
        """The words of rows."""
        self.links = grown(self.links, capacity)
        return np.ascontiguousarray(identity(block)[:, 0]).view(np.int64)

    def forget(self, ended: Ints, incoming: Incoming, negative: Flags) -> None:
        """Words go with the rows."""

    def shrink(self, places: SlotPool) -> None:
        """There is nothing but the words."""

    def move(self, moved: Moved) -> None:
        """Words move with the rows."""
        self.links = moved.rows(self.links)

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.links.nbytes

    def looked_at(self) -> int:
        """The number of rows looked at since this was last asked."""
        count = int(self.heads[0, 0])
        self.heads[0, 0] = 0
        return count


def identity(block: Block) -> Words:
    """By what a negative row is matched with the element it withdraws."""
    return fingerprints([*block.columns, pa.array(block.te)], len(block))
