"""The history of a relation: files of changes, put together when they have become many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.lane_host.logs import CHANGES
from penstock.operators.block import concatenated, from_table, to_table
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.store.bundles import Bundle, write_bundle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.operators.block import Block
    from penstock.store.layout import Home

MANY_FILES = 32
"""So many files are put together if they outweigh the first, which most often is an older whole."""
MOST_FILES = 256
"""So many are, in any case."""


def put_together(home: Home, record: int, files: Sequence[str], clock: int) -> tuple[str, ...]:
    """Files with the same changes from the clock on; one, if there were many.

    Of changes before the clock only rows are left that are still there. Files are not removed
    here: who still has to be told of them knows them by name.
    """
    sizes = [(home.segments / file).stat().st_size for file in files]
    is_due = len(files) > MANY_FILES and (sum(sizes[1:]) > sizes[0] or len(files) > MOST_FILES)
    if not is_due:
        return tuple(files)
    changes = [from_table(Bundle(home.segments / file).table(CHANGES)) for file in files]
    segment = home.new_segment(record, 0, "relation")
    table = to_table(what_is_left(concatenated(changes), clock))
    write_bundle(home.segments / segment, {CHANGES: table}, durable=True)
    return (segment,)


def what_is_left(changes: Block, clock: int) -> Block:
    """The changes, without rows that have come and gone before a clock.

    Of several copies of a row those stay that came last.
    """
    is_past = changes.ts < clock
    past = np.flatnonzero(is_past)
    slots, first = KeyIndex().find_or_add(fingerprints(changes.columns, len(changes)))
    slots, signs = slots[past], changes.signs[past]
    copies = np.bincount(slots, weights=signs, minlength=len(first)).astype(np.int64)
    came = np.flatnonzero(signs > 0)
    # By row, the last one first.
    came = came[np.lexsort((-changes.ts[past][came], slots[came]))]
    starts = np.flatnonzero(np.diff(slots[came], prepend=-1))
    lengths = np.diff(starts, append=len(came))
    place = np.arange(len(came)) - np.repeat(starts, lengths)
    stays = past[came[place < copies[slots[came]]]]
    return changes.take(np.sort(np.concatenate([stays, np.flatnonzero(~is_past)])))
