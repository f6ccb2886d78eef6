"""A sub-window: the rows of a stream in one stretch of event time, immutable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.operators.saved_tables import one_array
from penstock.state.sorting import order_of
from penstock.store.sub_windows.column_ranges import INSTANT
from penstock.store.sub_windows.piece import instants_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.store.sub_windows.column_ranges import Value
    from penstock.store.sub_windows.piece import Piece


@dataclass(frozen=True)
class SubWindow:
    """The rows whose event time lies in [start, end); `end` - `start` is the same for all.

    Attributes:
        number: It begins at `number` times its length: sub-windows follow each other without gaps.
        start: The first instant.
        end: The instant behind the last.
        pieces: The rows, as they were written; none if there are no rows.
    """

    number: int
    start: int
    end: int
    pieces: tuple[Piece, ...] = ()

    @staticmethod
    def numbered(number: int, length: int, pieces: Iterable[Piece] = ()) -> SubWindow:
        """The sub-window of a number, where each is so long.

        >>> SubWindow.numbered(-1, 10).start, SubWindow.numbered(2, 10).end
        (-10, 30)
        """
        return SubWindow(number, number * length, (number + 1) * length, tuple(pieces))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(one.rows for one in self.pieces)

    @property
    def nbytes(self) -> int:
        """The bytes that they take up where they are kept."""
        return sum(one.nbytes for one in self.pieces)

    def may_hold(self, column: str, least: Value, most: Value) -> bool:
        """A row may have a value of a column from `least` to `most`; None: no such bound.

        Of a column that is not compared nothing is known, so it may.
        """
        return any(_may_hold(one, column, least, most) for one in self.pieces)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows by event time, those of one instant as they arrived.

        Args:
            columns: Some of the stream's columns; None: all.

        Returns:
            These, and `_ts`, the event time as a number. With no rows, a table without columns.

        Raises:
            DataError: A file is missing or damaged.
        """
        if not self.pieces:
            return pa.table({})
        return in_order([one.table(columns) for one in self.pieces])


def in_order(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables with `_ts` put together by event time; of one instant, those of the first come first.

    Each is in order itself, so nothing is copied where they follow each other.
    """
    if len(tables) == 1:
        return tables[0]
    whole = pa.concat_tables(tables)
    ts = instants_of(one_array(whole[INSTANT]))
    if bool((np.diff(ts) >= 0).all()):
        return whole
    return whole.take(pa.array(order_of(ts)))


def _may_hold(piece: Piece, column: str, least: Value, most: Value) -> bool:
    found = piece.ranges.get(column)
    return found is None or found.meets(least, most)
