"""Rows that leave in the order they came: a ring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.join_loops import FIFO, NOBODY, TE, Kept, drop_oldest
from penstock.operators.join_pairs import incoming_rows
from penstock.state.rows import RowStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.join_loops import Incoming
    from penstock.state.arrays import Ints

_NO_TWINS = np.zeros((0, 2), np.int64)
_LEAST = 64


class FifoSide:
    """The rows of a MON or WKS input.

    Rows are numbered as they come; number n is at `n & mask` of the ring. A chain leads from
    newer to older rows, so it ends, as far as anybody cares, at the first row that has ended.
    """

    def __init__(self, types: Sequence[pa.DataType], port: int) -> None:
        self._types = types
        self._port = port
        self._store = RowStore(types)
        self._records: Ints = np.zeros((_LEAST, 3), np.int64)
        self._oldest = 0
        self._next = 0

    def __len__(self) -> int:
        return self._next - self._oldest

    @property
    def _mask(self) -> int:
        return len(self._records) - 1

    def arranged(self, block: Block) -> Block:
        """By ts, ties by te."""
        block = block.by_time()
        if bool((block.te[1:] >= block.te[:-1]).all()):
            return block
        return block.take(np.lexsort((block.te, block.ts)))

    def accept(self, block: Block, keys: Ints) -> Incoming:
        """Write the rows behind the newest."""
        if len(self) + len(block) > len(self._records):
            self._resize(len(self) + len(block))
        places = np.arange(self._next, self._next + len(block))
        self._store.put(places & self._mask, block.columns)
        self._next += len(block)
        return incoming_rows(block, keys, places, keys[:0])

    def kept(self) -> Kept:
        """What the loops work on."""
        return Kept(self._records, _NO_TWINS, _NO_TWINS, self._mask, self._oldest, FIFO)

    def settle(self, incoming: Incoming, clock: int, heads: Ints) -> Ints:
        """Forget the oldest rows that have ended."""
        del incoming
        before = self._oldest
        self._oldest, keys = drop_oldest(
            self._records, self._mask, before, self._next, clock, heads, self._port
        )
        self._store.forget(np.arange(before, self._oldest) & self._mask)
        if len(self._records) > 16 * max(len(self), _LEAST):
            self._resize(len(self))
        return keys

    def take(self, places: Ints) -> tuple[pa.Array, ...]:
        """The rows at places of the ring."""
        return self._store.take(places)

    def contents(self) -> tuple[tuple[pa.Array, ...], Ints]:
        """All rows and their ends, oldest first."""
        places = np.arange(self._oldest, self._next) & self._mask
        return self._store.take(places), self._records[places, TE]

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._store.nbytes + self._records.nbytes

    def _resize(self, wanted: int) -> None:
        """A ring with room for the wanted number of rows."""
        numbers = np.arange(self._oldest, self._next)
        old = numbers & self._mask
        rows, records = self._store.take(old), self._records[old]
        self._records = np.full((1 << (max(wanted, _LEAST) - 1).bit_length(), 3), NOBODY, np.int64)
        new = numbers & self._mask
        self._records[new] = records
        self._store = RowStore(self._types)
        self._store.reserve(len(self._records))
        self._store.put(new, rows)
