"""Keys and where the chain of rows of each begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.join.join_loops import NOBODY, once_empty
from penstock.state.keys import KeyIndex
from penstock.state.row_store import grown

if TYPE_CHECKING:
    from penstock.state.arrays import Ints, Words
    from penstock.state.moving import Moved


class Chains:
    """A number for each key and, in `heads`, the newest row of the key on each of `ports` ports.

    A join has one for both inputs: a row looks its key up once, to be kept and to find partners.
    """

    def __init__(self, ports: int) -> None:
        self.index = KeyIndex()
        self.heads: Ints = np.zeros((0, ports), np.int64)

    def numbers(self, words: Words) -> tuple[Ints, Ints]:
        """The numbers of keys, given by their fingerprints; and the rows that brought new keys."""
        numbers, new = self.index.find_or_add(words)
        self.heads = grown(self.heads, self.index.capacity)
        self.heads[numbers[new]] = NOBODY
        return numbers, new

    def drop_empty(self, candidates: Ints) -> Ints:
        """Forget those of the keys that have no rows; they are returned."""
        empty = once_empty(self.heads, candidates)
        self.index.remove(empty)
        return empty

    @property
    def is_spacious(self) -> bool:
        """Most numbers have been free for a while."""
        return self.index.is_spacious

    def compact(self) -> Moved:
        """Give the keys the lowest numbers, in the order they have."""
        moved = self.index.compact()
        self.heads = moved.rows(self.heads)
        return moved

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self.index.nbytes + self.heads.nbytes
