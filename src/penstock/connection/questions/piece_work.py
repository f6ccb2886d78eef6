"""Work on pieces: what a question makes of each piece of a stream, wherever that is done."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from penstock.operators.block import empty_block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.connection.questions.part_totals import PartTotals
    from penstock.connection.questions.scans import PieceScan
    from penstock.store.sub_windows.piece import Piece

    Columns = tuple[pa.Array, ...]

THREADS = min(4, os.cpu_count() or 1)
"""Pieces that are read at a time: Arrow and NumPy work beside each other."""


@dataclass(frozen=True)
class PieceWork:
    """A scan of the rows between two instants, both included, and perhaps totals of each piece.

    Attributes:
        scan: Filters and maps.
        start: The first instant.
        end: The last.
        totals: What is made of the rows that a piece has left; None: they are left as they are.
    """

    scan: PieceScan
    start: int
    end: int
    totals: PartTotals | None = None

    def of(self, pieces: Sequence[Piece]) -> list[Columns]:
        """The columns that come of pieces, in no order; none of a piece without rows.

        Raises:
            DataError: A file is missing or damaged.
        """
        self.scan.compile()
        # Made once, before several threads need it.
        self.nothing()
        if len(pieces) < 2 * THREADS:
            found = [self._of_piece(one) for one in pieces]
        else:
            with ThreadPoolExecutor(THREADS) as threads:
                found = list(threads.map(self._of_piece, pieces))
        return [one for one in found if one is not None]

    def nothing(self) -> Columns:
        """The columns that come of no rows."""
        rows = empty_block(self.scan.schema).columns
        return rows if self.totals is None else self.totals.of_rows(rows)

    def _of_piece(self, piece: Piece) -> Columns | None:
        rows = self.scan.rows_of(piece, self.start, self.end)
        if rows is None or self.totals is None:
            return rows
        return self.totals.of_rows(rows)


class PieceReader(Protocol):
    """Whoever reads pieces of a question: the asking process, or others too."""

    def read(self, work: PieceWork, pieces: Sequence[Piece]) -> list[Columns]:
        """The columns that come of pieces that may have rows.

        Raises:
            DataError: A file is missing or damaged.
        """

    def place(self, rows: int) -> str:
        """The place where so many rows would be read, for people."""


class OwnReader:
    """The asking process reads all pieces itself."""

    def read(self, work: PieceWork, pieces: Sequence[Piece]) -> list[Columns]:
        """The columns that come of pieces."""
        return work.of(pieces)

    def place(self, rows: int) -> str:
        """Here, however many there are."""
        del rows
        return "in the asking process"


def merged(parts: Sequence[Columns], work: PieceWork) -> Columns:
    """The columns that came of several pieces, as one."""
    if not parts:
        return work.nothing()
    return tuple(
        several[0] if len(several) == 1 else pa.concat_arrays(several)
        for several in zip(*parts, strict=True)
    )
