"""Pieces: rows of one sub-window that were written together, and never change."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from penstock.operators.block import Block, arriving
from penstock.operators.saved_tables import arrays_of
from penstock.store.sub_windows.column_ranges import INSTANT, ranges_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.algebra.types import Schema
    from penstock.state.arrays import Ints
    from penstock.store.sub_windows.column_ranges import ColumnRange


class Piece(Protocol):
    """Rows by event time, those of one instant as they arrived."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def nbytes(self) -> int:
        """The bytes that they take up where they are kept."""

    @property
    def first(self) -> int:
        """The event time of the first row."""

    @property
    def last(self) -> int:
        """The event time of the last row."""

    @property
    def ranges(self) -> Mapping[str, ColumnRange]:
        """The values of those columns that can be compared."""

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns, or all, and always `_ts`.

        Raises:
            DataError: They are kept in a file that is missing or damaged.
        """


class MemoryPiece:
    """A piece that is kept in this process.

    Args:
        table: The columns of the stream, and `_ts`, by event time.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self._table)

    @property
    def nbytes(self) -> int:
        """The bytes of the columns."""
        return int(self._table.nbytes)

    @property
    def first(self) -> int:
        """The event time of the first row."""
        return int(self._table[INSTANT][0].as_py())

    @property
    def last(self) -> int:
        """The event time of the last row."""
        return int(self._table[INSTANT][-1].as_py())

    @cached_property
    def ranges(self) -> Mapping[str, ColumnRange]:
        """The values of those columns that can be compared."""
        return ranges_of(self._table)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Some columns, or all, and always `_ts`."""
        return self._table if columns is None else self._table.select([*columns, INSTANT])


def table_of(block: Block, schema: Schema) -> pa.Table:
    """The rows of a block of a stream as pieces keep them."""
    return pa.table([*block.columns, pa.array(block.ts)], names=[*schema.names, INSTANT])


def block_of(table: pa.Table) -> Block:
    """The rows of a piece as a stream brings them: each stays from its instant on."""
    *columns, instants = arrays_of(table)
    return arriving(tuple(columns), instants_of(instants))


def instants_of(column: pa.Array) -> Ints:
    """Event times as numbers."""
    return np.asarray(column.to_numpy(zero_copy_only=False))
