"""Sealing: the rows of logs are put into sub-windows, and sub-windows that are too old dropped.

It goes on beside the micro-batches; a record names what came of it. Each pass writes one file with
a piece for each stream and sub-window that had rows. A sub-window that is complete and has many
pieces is written once more, as one.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY
from penstock.pipeline.retaining import floor_of
from penstock.pipeline.unsealed_rows import forget_logs, unsealed_pieces
from penstock.store.records import RetainedProgress
from penstock.store.sub_windows.piece import MemoryPiece
from penstock.store.sub_windows.piece_files import PieceFile, PieceWriting, read_list, write_list
from penstock.store.sub_windows.retained_rows import length_of, pieces_of
from penstock.store.sub_windows.sub_window import SubWindow

if TYPE_CHECKING:
    from penstock.catalog.definitions import StreamDefinition
    from penstock.pipeline.bound import BoundPlan
    from penstock.store.layout import Home
    from penstock.store.records import Record
    from penstock.store.sub_windows.piece import Piece
    from penstock.store.sub_windows.piece_files import PieceWriter

MOST_LOGS = 256
"""So many logs are sealed, however small they are."""
MANY_PIECES = 8
"""A complete sub-window with more pieces becomes one."""

Pieces = dict[int, list["Piece"]]
"""The pieces of a stream by the number of their sub-window."""


@dataclass(frozen=True)
class Sealed:
    """The outcome of a pass: what streams retain since then, and the logs that are not needed."""

    logs: frozenset[str]
    retained: dict[str, RetainedProgress]


def is_due(record: Record, least_bytes: int) -> bool:
    """So much waits in logs that it is time to seal."""
    size = sum(one.bytes for one in record.unsealed)
    return size >= least_bytes or len(record.unsealed) >= MOST_LOGS


def seal(home: Home, record: Record, plan: BoundPlan) -> Sealed:
    """Put the rows of all unsealed logs into sub-windows.

    Raises:
        DataError: A log is missing or damaged, or the disk is full.
    """
    names = [one.file for one in record.unsealed]
    retained = {}
    # Of the record that is to name them: a sweep meanwhile leaves them alone.
    with PieceWriting(home, record.number + 1) as writer:
        for stream in plan.streams:
            known = record.retained.get(stream.name)
            if known is not None:
                pass_ = _StreamPass(home, record, plan, stream, known)
                retained[stream.name] = pass_.done(names, writer)
    forget_logs(home.segments, names)
    return Sealed(frozenset(names), {**record.retained, **retained})


class _StreamPass:
    """A pass over one stream."""

    def __init__(
        self,
        home: Home,
        record: Record,
        plan: BoundPlan,
        stream: StreamDefinition,
        known: RetainedProgress,
    ) -> None:
        self._home = home
        self._record = record
        self._stream = stream
        self._known = known
        self._rule = plan.rules[stream.name][0]
        self._length = length_of(self._rule.span, plan.session.settings.store.retain_parts)
        self._floor = floor_of(record, plan, stream.name)

    def done(self, logs: list[str], writer: PieceWriter) -> RetainedProgress:
        """The rows that the stream retains after the pass."""
        kept = self._sealed_before()
        since = self._known.since
        fresh = unsealed_pieces(self._home.segments, logs, self._stream.name, self._length)
        first = self._floor // self._length if self._rule.span < INFINITY else None
        pieces: Pieces = defaultdict(list)
        for several in (kept, fresh):
            for number, found in several.items():
                if first is None or number >= first:
                    pieces[number] += found
                else:
                    since = max(since, first * self._length)
        since = max(since, self._drop_excess(pieces))
        written = [
            one
            for number in sorted(pieces)
            for one in self._written(number, pieces[number], writer)
        ]
        columns = self._stream.schema.names
        name = write_list(self._home, self._record.number + 1, self._length, columns, written)
        return RetainedProgress(name, since)

    def _sealed_before(self) -> Pieces:
        """The pieces of earlier passes; divided anew, if sub-windows have another length now."""
        if self._known.pieces is None:
            return {}
        before = read_list(self._home.segments, self._known.pieces)
        pieces: Pieces = defaultdict(list)
        for one in before.pieces:
            if before.length == self._length:
                pieces[one.number].append(one)
                continue
            for number, piece in pieces_of(one.table(), self._length):
                pieces[number].append(piece)
        return pieces

    def _drop_excess(self, pieces: Pieces) -> int:
        """Drop the oldest sub-windows while there are too many bytes; since when all is there."""
        since = self._known.since
        most = self._rule.most_bytes
        while most is not None and len(pieces) > 1:
            if sum(one.nbytes for several in pieces.values() for one in several) <= most:
                break
            number = min(pieces)
            del pieces[number]
            since = (number + 1) * self._length
        return since

    def _written(self, number: int, pieces: list[Piece], writer: PieceWriter) -> list[PieceFile]:
        """The pieces of a sub-window as they are in files."""
        watermark = self._record.streams[self._stream.name].watermark
        is_complete = (number + 1) * self._length <= watermark
        if is_complete and len(pieces) > MANY_PIECES:
            whole = SubWindow.numbered(number, self._length, pieces).table()
            return [writer.add(number, MemoryPiece(whole.combine_chunks()))]
        return [one if isinstance(one, PieceFile) else writer.add(number, one) for one in pieces]
