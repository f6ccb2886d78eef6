"""An index by which the row is found that a negative row withdraws.

Rows that are equal and have one end are twins: it does not matter which of them is withdrawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.join.join_chains import Chains
from penstock.operators.join.join_loops import cut_withdrawals
from penstock.state.fingerprints import fingerprints
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.operators.block import Block
    from penstock.operators.join.join_loops import Incoming
    from penstock.state.arrays import Flags, Ints, Words
    from penstock.state.moving import Moved
    from penstock.state.slots import SlotPool


class WithdrawalIndex:
    """Rows by the number of what they are matched by: twins form a chain."""

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


def identity(block: Block) -> Words:
    """By what a negative row is matched with the element it withdraws."""
    return fingerprints([*block.columns, pa.array(block.te)], len(block))
