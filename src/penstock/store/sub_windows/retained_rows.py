"""The rows of one stream that a process retains: sub-windows, and rows that are not in one yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.operators.block import Block, concatenated
from penstock.store.sub_windows.column_ranges import INSTANT
from penstock.store.sub_windows.piece import MemoryPiece, block_of, instants_of, table_of
from penstock.store.sub_windows.sub_window import SubWindow

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.algebra.types import Schema
    from penstock.store.sub_windows.piece import Piece

OPEN_ROWS = 1 << 16
"""So many rows wait to be divided among sub-windows, if none is complete before."""
LONGEST = 1 << 62
"""The length of the one sub-window where all rows are kept."""


class RetainedRows:
    """Rows that come are kept until they are older than `span`, sub-window by sub-window.

    Args:
        schema: The columns of the stream.

    Attributes:
        since: All rows from this instant on are there; BEGINNING: none is missing.
        span: Steps of time for which a row is kept; 0: none is, INFINITY: all are.
        length: The length of a sub-window.
    """

    def __init__(self, schema: Schema) -> None:
        self.since = BEGINNING
        self.span = 0
        self.length = LONGEST
        self._schema = schema
        self._most_bytes: int | None = None
        self._open: list[Block] = []
        self._due = INFINITY
        self._sub_windows: dict[int, tuple[Piece, ...]] = {}

    def follow(self, span: int, parts: int, most_bytes: int | None, latest: int) -> None:
        """Keep rows for another span from now on.

        Args:
            span: The span.
            parts: Into how many sub-windows it is divided.
            most_bytes: The bytes that rows may take up; None: any number.
            latest: The instant of the latest row that came.
        """
        self._most_bytes = most_bytes
        length = length_of(span, parts)
        if self.span == 0 and span > 0 and latest > BEGINNING:
            self.since = latest + 1
        if span == 0:
            self._open, self._sub_windows = [], {}
        elif length != self.length:
            pieces = [piece for several in self._sub_windows.values() for piece in several]
            self._open = [*map(block_of, (one.table() for one in pieces)), *self._open]
            self._sub_windows = {}
        # What is due is seen with the next rows.
        self.span, self.length, self._due = span, length, BEGINNING

    def take_in(self, block: Block, watermark: int) -> None:
        """Rows that came, and the watermark since then."""
        if self.span == 0:
            return
        if len(block):
            self._open.append(block)
            self._due = min(self._due, self._end_of(int(block.ts.min())))
        if watermark >= self._due or sum(map(len, self._open)) > OPEN_ROWS:
            self.pass_to(watermark)

    def pass_to(self, watermark: int) -> None:
        """Divide rows among sub-windows, and drop those that are too old, as of a watermark."""
        if self.span:
            self._divide(watermark)
            self._drop(watermark)
            if self._sub_windows:
                oldest = (min(self._sub_windows) + 1) * self.length
                self._due = min(oldest + self.span, INFINITY)

    def _end_of(self, instant: int) -> int:
        """The end of the sub-window of an instant."""
        return min((instant // self.length + 1) * self.length, INFINITY)

    def _divide(self, watermark: int) -> None:
        """Divide what waits among sub-windows; those that are complete become one piece."""
        waiting, self._open, self._due = self._open, [], INFINITY
        if waiting:
            for number, piece in pieces_of(
                table_of(concatenated(waiting), self._schema), self.length
            ):
                self._sub_windows[number] = (*self._sub_windows.get(number, ()), piece)
        for number, pieces in self._sub_windows.items():
            if len(pieces) > 1 and (number + 1) * self.length <= watermark:
                whole = SubWindow.numbered(number, self.length, pieces).table()
                self._sub_windows[number] = (MemoryPiece(whole.combine_chunks()),)

    def _drop(self, watermark: int) -> None:
        """Drop sub-windows that are older than the span, and the oldest if there is too much."""
        if self.span < INFINITY and watermark > BEGINNING + self.span:
            first = (watermark - self.span) // self.length
            gone = [number for number in self._sub_windows if number < first]
            for number in gone:
                del self._sub_windows[number]
            if gone:
                self.since = max(self.since, first * self.length)
        while self._most_bytes is not None and self.nbytes > self._most_bytes:
            # The newest stays: rows may still come to it.
            if len(self._sub_windows) < 2:
                break
            number = min(self._sub_windows)
            del self._sub_windows[number]
            self.since = max(self.since, (number + 1) * self.length)

    @property
    def nbytes(self) -> int:
        """The bytes of the rows that have been divided."""
        return sum(one.nbytes for several in self._sub_windows.values() for one in several)

    def sub_windows(self) -> tuple[SubWindow, ...]:
        """All that is kept, oldest first; they never change."""
        if self._open:
            self._divide(BEGINNING)
        return tuple(
            SubWindow.numbered(number, self.length, self._sub_windows[number])
            for number in sorted(self._sub_windows)
        )

    def segments(self) -> dict[str, pa.Table]:
        """The rows, as Arrow."""
        tables = [one.table() for one in self.sub_windows()]
        return {"rows": pa.concat_tables(tables)} if tables else {}

    def restore(self, segments: Mapping[str, pa.Table], since: int) -> None:
        """Take them back; this is new, and knows its span."""
        self.since = since
        if "rows" in segments and self.span:
            self._open = [block_of(segments["rows"])]
            self._due = BEGINNING


def length_of(span: int, parts: int) -> int:
    """The length of sub-windows, if a retention is divided into so many."""
    return LONGEST if span == INFINITY else max(-(-span // parts), 1)


def pieces_of(table: pa.Table, length: int) -> Iterator[tuple[int, MemoryPiece]]:
    """Rows divided among the sub-windows of a length: the number of each, and its rows in order."""
    ts = instants_of(table[INSTANT].combine_chunks())
    if len(ts) > 1 and bool((np.diff(ts) < 0).any()):
        order = np.argsort(ts, kind="stable")
        table, ts = table.take(pa.array(order)), ts[order]
    numbers = ts // length
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 1)) if len(ts) else numbers
    for start, stop in zip(starts, np.append(starts[1:], len(ts)), strict=len(ts) > 0):
        yield int(numbers[start]), MemoryPiece(table.slice(start, stop - start))
