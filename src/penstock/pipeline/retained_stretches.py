"""Retained rows of several streams in the order of time, one bounded stretch after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import INFINITY
from penstock.operators.block import concatenated
from penstock.store.sub_windows.piece import block_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.operators.block import Block
    from penstock.store.sub_windows.piece import Piece
    from penstock.store.sub_windows.sub_window import SubWindow

STRETCH_ROWS = 1 << 18
"""About so many rows are in a stretch; more, where pieces are larger."""


def stretches(
    windows: Mapping[str, Sequence[SubWindow]], most_rows: int = STRETCH_ROWS
) -> Iterator[tuple[int, dict[str, Block]]]:
    """The instant before which each stretch ends, and the rows of each stream in it.

    The last one ends with time. Rows of one instant come in the order of their arrival.

    Raises:
        DataError: A file is missing or damaged.
    """
    sources = {name: _Source(several) for name, several in windows.items()}
    pieces = [piece for one in sources.values() for piece in one.pieces]
    for end in _ends(pieces, most_rows):
        found = {name: one.before(end) for name, one in sources.items()}
        yield end, {name: block for name, block in found.items() if block is not None}


def _ends(pieces: Iterable[Piece], most_rows: int) -> Iterator[int]:
    rows = 0
    for one in sorted(pieces, key=lambda piece: piece.last):
        rows += one.rows
        if rows >= most_rows:
            yield one.last + 1
            rows = 0
    yield INFINITY


class _Source:
    """The pieces of one stream, and the rows of those that have been opened and not taken."""

    def __init__(self, windows: Iterable[SubWindow]) -> None:
        self.pieces = [piece for one in windows for piece in one.pieces]
        self._closed = dict(enumerate(self.pieces))
        self._open: dict[int, Block] = {}

    def before(self, end: int) -> Block | None:
        """Take the rows before an instant, if there are any."""
        for place in [place for place, one in self._closed.items() if one.first < end]:
            self._open[place] = block_of(self._closed.pop(place).table())
        taken = []
        for place in sorted(self._open):
            block = self._open.pop(place)
            is_before = block.ts < end
            if is_before.all():
                taken.append(block)
                continue
            self._open[place] = block.take(~is_before)
            if is_before.any():
                taken.append(block.take(is_before))
        return concatenated(taken) if taken else None
