"""Rows that leave in the order they came: a ring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.operators.join.join_loops import (
    FIFO,
    NOBODY,
    TE,
    SideRows,
    drop_oldest,
    ended_first,
)
from penstock.operators.join.join_pairs import incoming_rows
from penstock.operators.join.recorded_rows import RecordedRows
from penstock.state.moving import Occupancy
from penstock.state.row_store import RowStore
from penstock.state.sorting import order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.join.join_loops import Incoming
    from penstock.state.arrays import Ints

_NO_TWINS = np.zeros((0, 2), np.int64)
_LEAST = 64


class FifoSide(RecordedRows):
    """The rows of a MON or WKS input.

    Rows are numbered as they come, and follow each other in a ring. A chain leads from newer to
    older rows, so it ends, as far as anybody cares, at the first row that has ended.
    """

    def __init__(self, types: Sequence[pa.DataType], port: int) -> None:
        self._types = types
        self._port = port
        super().__init__(RowStore(types), np.zeros((_LEAST, 3), np.int64))
        self._oldest = 0
        self._next = 0
        self._lately = Occupancy()

    def __len__(self) -> int:
        return self._next - self._oldest

    @property
    def _base(self) -> int:
        """The number that is, or was last, at the front of the ring."""
        return self._oldest - self._oldest % len(self._records)

    def _spots(self, numbers: Ints) -> Ints:
        """The places of numbers in the ring."""
        at = numbers - self._base
        return np.where(at < len(self._records), at, at - len(self._records))

    def arranged(self, block: Block) -> Block:
        """By ts, ties by te."""
        block = block.by_time()
        if bool((block.te[1:] >= block.te[:-1]).all()):
            return block
        return block.take(order_of(block.ts, block.te))

    def accept(self, block: Block, keys: Ints) -> Incoming:
        """Write the rows behind the newest."""
        if len(self) + len(block) > len(self._records):
            self._resize(len(self) + len(block))
        places = np.arange(self._next, self._next + len(block))
        self._store.put(self._spots(places), block.columns)
        self._next += len(block)
        return incoming_rows(block, keys, places, keys[:0])

    def kept(self) -> SideRows:
        """The arrays that the loops work on."""
        return SideRows(self._records, _NO_TWINS, _NO_TWINS, self._base, self._oldest, FIFO)

    def due(self, incoming: Incoming, clock: int) -> tuple[Ints, Ints]:
        """The ends before the clock and where the rows are, those of the step included."""
        self._records[self._spots(incoming.place), TE] = incoming.te
        count = ended_first(self._records, self._base, self._oldest, self._next, clock)
        places = self._spots(np.arange(self._oldest, self._oldest + count))
        return self._records[places, TE], places

    def expire(self, incoming: Incoming, clock: int, heads: Ints) -> Ints:
        """Forget the oldest rows that have ended."""
        del incoming
        self._lately.note(len(self))
        oldest, keys = drop_oldest(
            self._records, self._base, self._oldest, self._next, clock, heads, self._port
        )
        self._store.forget(self._spots(np.arange(self._oldest, oldest)))
        self._oldest = oldest
        return keys

    def shrink(self, heads: Ints) -> None:
        """A smaller ring, if most of it has been empty for a while."""
        del heads
        if self._lately.leaves_empty(len(self._records), len(self)):
            self._resize(len(self))

    def live(self) -> Ints:
        """The numbers of rows that are here, oldest first; between two steps."""
        return np.arange(self._oldest, self._next)

    def _held(self) -> Ints:
        return self._spots(self.live())

    @property
    def structure(self) -> str:
        """A ring is a queue."""
        return "fifo"

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        return self._store.nbytes + self._records.nbytes

    def _resize(self, wanted: int) -> None:
        """A ring with room for the wanted number of rows."""
        numbers = np.arange(self._oldest, self._next)
        old = self._spots(numbers)
        rows, records = self._store.take(old), self._records[old]
        self._records = np.full((max(wanted + wanted // 4, _LEAST), 3), NOBODY, np.int64)
        new = self._spots(numbers)
        self._records[new] = records
        self._store = RowStore(self._types)
        self._store.reserve(len(self._records))
        self._store.put(new, rows)
