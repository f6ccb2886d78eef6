"""Reading retained rows: those of some instants, from the sub-windows that may have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING
from penstock.errors import Refused
from penstock.operators.block import concatenated, empty_block
from penstock.store.sub_windows.piece import block_of

if TYPE_CHECKING:
    from penstock.algebra.types import Schema
    from penstock.connection.questions.store_view import RetainedStream
    from penstock.operators.block import Block
    from penstock.store.sub_windows.sub_window import SubWindow


def rows_of(stream: RetainedStream, schema: Schema, start: int, end: int) -> Block:
    """The rows of a stream from an instant to another, both included, by event time.

    Raises:
        DataError: A file is missing or damaged.
    """
    found = [
        block
        for one in sub_windows_of(stream.sub_windows, start, end)
        if len(block := _between(block_of(one.table(schema.names)), start, end))
    ]
    return concatenated(found) if found else empty_block(schema)


def sub_windows_of(sub_windows: tuple[SubWindow, ...], start: int, end: int) -> list[SubWindow]:
    """The sub-windows that may have rows of a stretch of time."""
    return [
        one
        for one in sub_windows
        if any(piece.first <= end and piece.last >= start for piece in one.pieces)
    ]


def newest(block: Block, count: int) -> Block:
    """The last rows by time, as many as are wanted."""
    return block.stretch(max(len(block) - count, 0), len(block))


def require_within(stream: RetainedStream, start: int, end: int, limit: int | None) -> int:
    """The bytes of the sub-windows of a stretch.

    Raises:
        Refused: They are more than a question may read.
    """
    size = sum(one.nbytes for one in sub_windows_of(stream.sub_windows, start, end))
    if limit is not None and size > limit:
        msg = (
            f'the question would read {size:,} bytes of stream "{stream.name}", more than'
            f" ask_limit, {limit:,}"
        )
        raise Refused(msg, hint="Ask about less, or write SET ask_limit = none.")
    return size


def _between(block: Block, start: int, end: int) -> Block:
    """The rows of a stretch of time of rows by time, not copied."""
    first = 0 if start == BEGINNING else int(np.searchsorted(block.ts, start, "left"))
    return block.stretch(first, max(int(np.searchsorted(block.ts, end, "right")), first))
