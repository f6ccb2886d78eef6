"""Rows that leave in any order, or are withdrawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import INFINITY
from penstock.operators.join.join_loops import (
    GONE,
    LOOSE,
    NEXT,
    NOBODY,
    PREVIOUS,
    STRICT,
    TE,
    SideRows,
    drop_ended,
)
from penstock.operators.join.join_pairs import incoming_rows
from penstock.operators.join.recorded_rows import RecordedRows
from penstock.operators.join.withdrawal_index import WithdrawalIndex
from penstock.state.expiry import CalendarQueue
from penstock.state.row_store import RowStore, grown
from penstock.state.slots import SlotPool

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.operators.join.join_loops import Incoming
    from penstock.state.arrays import Ints
    from penstock.state.moving import Moved

_SLACK = 1024
_NOTHING = np.zeros(0, np.int64), np.zeros(0, np.int64)
_NO_TWINS: Ints = np.zeros((0, 2), np.int64)


class LooseSide(RecordedRows):
    """The rows of a WK or, with an index by which withdrawn rows are found, of a STR input.

    Places of rows that are gone are given to others. A calendar queue says which rows have ended.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        port: int,
        span: int,
        partitions: int,
        *,
        strict: bool,
    ) -> None:
        self._port = port
        super().__init__(RowStore(types), np.zeros((0, 4), np.int64))
        self._places = SlotPool()
        self._calendar = (span, partitions)
        self._queue = self._new_queue()
        self._due = _NOTHING
        self._twins = WithdrawalIndex() if strict else None

    def __len__(self) -> int:
        return len(self._places)

    def arranged(self, block: Block) -> Block:
        """By ts, negative rows first."""
        return block.by_time()

    def accept(self, block: Block, keys: Ints) -> Incoming:
        """Write the positive rows to free places."""
        positive = block.sign is None or block.sign > 0
        rows = block if positive is True else block.take(positive)
        places = self._places.allocate(len(rows))
        self._records = grown(self._records, self._places.capacity)
        self._store.put(places, rows.columns)
        ending = rows.te < INFINITY
        self._queue.push(rows.te[ending], [places[ending]])
        twins = keys[:0]
        if self._twins is not None:
            twins = self._twins.enter(block, self._places.capacity)
        if positive is not True:
            places, given = np.full(len(block), NOBODY, np.int64), places
            places[positive] = given
        return incoming_rows(block, keys, places, twins)

    def kept(self) -> SideRows:
        """The arrays that the loops work on."""
        if self._twins is None:
            return SideRows(self._records, _NO_TWINS, _NO_TWINS, 0, 0, LOOSE)
        return SideRows(self._records, self._twins.links, self._twins.heads, 0, 0, STRICT)

    def due(self, incoming: Incoming, clock: int) -> tuple[Ints, Ints]:
        """The ends before the clock and where the rows are, those of the step included."""
        del incoming
        ends, (places,) = self._queue.pop(clock)
        self._due = ends, places.astype(np.int64)
        return self._due

    def expire(self, incoming: Incoming, clock: int, heads: Ints) -> Ints:
        """Forget the rows that were withdrawn, and those that have ended."""
        negative = incoming.sign < 0
        self._release(incoming.place[negative])
        ends, (places,) = self._queue.pop(min(clock + 1, INFINITY))
        ends = np.concatenate([self._due[0], ends])
        places = np.concatenate([self._due[1], places])
        self._due = _NOTHING
        ended, more = drop_ended(self._records, heads, self._port, places, ends)
        if self._twins is not None:
            self._twins.forget(ended, incoming, negative)
        self._release(ended)
        if len(self._queue) > 2 * len(self) + _SLACK:
            self._clear_queue()
        return np.concatenate([incoming.key[negative], more])

    def shrink(self, heads: Ints) -> None:
        """Give back room that has been empty for a while."""
        if self._twins is not None:
            self._twins.shrink(self._places)
        if self._places.is_spacious:
            self._move(self._places.compact(), heads)

    def live(self) -> Ints:
        """The places that are in use; between two steps."""
        return self._places.taken()

    def _held(self) -> Ints:
        return self._places.taken()

    @property
    def structure(self) -> str:
        """A calendar queue alone, or hashed as well."""
        return f"calendar({self._calendar[1]})" if self._twins is None else "hashed"

    @property
    def nbytes(self) -> int:
        """Bytes of memory in use."""
        twins = 0 if self._twins is None else self._twins.nbytes
        own = self._records.nbytes + self._places.nbytes + self._queue.nbytes
        return own + twins + self._store.nbytes

    def _move(self, moved: Moved, heads: Ints) -> None:
        """Rows have moved to other places."""
        self._store.move(moved.kept)
        self._records = moved.rows(self._records)
        self._records[len(moved.kept) :, TE] = GONE
        self._queue.renumber(moved.numbers)
        moved.links(self._records[:, NEXT])
        moved.links(self._records[:, PREVIOUS])
        moved.links(heads[:, self._port])
        if self._twins is not None:
            self._twins.move(moved)

    def _release(self, places: Ints) -> None:
        self._store.forget(places)
        self._places.release(places)

    def _new_queue(self) -> CalendarQueue:
        return CalendarQueue([np.dtype(np.int32)], *self._calendar)

    def _clear_queue(self) -> None:
        """Leave only the ends of rows that are there: withdrawn ones may be long in ending."""
        places = self._places.taken()
        ends = self._records[places, TE]
        self._queue = self._new_queue()
        self._queue.push(ends[ends < INFINITY], [places[ends < INFINITY]])
