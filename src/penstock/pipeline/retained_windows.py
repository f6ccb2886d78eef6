"""The sub-windows of a stream as a record names them: sealed pieces, and rows of logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.pipeline.unsealed_rows import unsealed_pieces
from penstock.store.sub_windows.piece_files import read_list
from penstock.store.sub_windows.retained_rows import length_of
from penstock.store.sub_windows.sub_window import SubWindow

if TYPE_CHECKING:
    from penstock.pipeline.bound import BoundPlan
    from penstock.store.layout import Home
    from penstock.store.records import Record
    from penstock.store.sub_windows.piece import Piece


def retained_windows(
    home: Home, record: Record, plan: BoundPlan, stream: str
) -> tuple[SubWindow, ...]:
    """The sub-windows of a stream, with rows that are not sealed yet, oldest first.

    Raises:
        DataError: A file is missing or damaged.
    """
    kept = record.retained.get(stream)
    if kept is None:
        return ()
    span, parts = plan.rules[stream][0].span, plan.session.settings.store.retain_parts
    length = length_of(span, parts)
    pieces: dict[int, list[Piece]] = {}
    if kept.pieces is not None:
        sealed = read_list(home.segments, kept.pieces)
        length = sealed.length
        for one in sealed.pieces:
            pieces.setdefault(one.number, []).append(one)
    logs = [one.file for one in record.unsealed if stream in one.last]
    for number, fresh in unsealed_pieces(home.segments, logs, stream, length).items():
        pieces.setdefault(number, []).extend(fresh)
    return tuple(SubWindow.numbered(one, length, pieces[one]) for one in sorted(pieces))
