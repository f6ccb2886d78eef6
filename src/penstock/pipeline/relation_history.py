"""The history of a relation: files of changes, put together when they have become many.

A file has each change at the instant by which all queries had passed when it came, and beside that
the instant that it was dated, and the watermarks of streams then: for a query over some streams it
takes effect at their clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.lane_host.logs import CHANGES
from penstock.operators.block import concatenated, from_table, to_table
from penstock.runtime.changes import due_from
from penstock.state.fingerprints import fingerprints
from penstock.state.keys import KeyIndex
from penstock.store.bundles import Bundle, write_bundle

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from penstock.operators.block import Block
    from penstock.state.arrays import Ints
    from penstock.store.layout import Home

_ARRIVALS = "arrivals"
MANY_FILES = 32
"""So many files are put together if they outweigh the first, which most often is an older whole."""
MOST_FILES = 256
"""So many are, in any case."""


def write_changes(
    home: Home, record: int, dated: Block, passed: int, watermarks: Mapping[str, int]
) -> str:
    """Write changes that came together; the name of the file."""
    updates = [dict(watermarks)]
    arrivals = _Arrivals(dated.ts, np.zeros(len(dated), np.int64), updates)
    return _write(home, record, due_from(dated, passed), arrivals)


def changes_for(home: Home, files: Sequence[str], streams: Collection[str]) -> list[Block]:
    """The changes in files as they take effect for a query over some streams."""
    found = []
    for file in files:
        changes, arrivals = _read(home, file)
        found.append(replace(changes, ts=arrivals.instants(streams)))
    return found


def put_together(home: Home, record: int, files: Sequence[str], clock: int) -> tuple[str, ...]:
    """Files with the same changes from the clock on; one, if there were many.

    Of changes that had taken effect for all queries before the clock only rows are left that are
    still there. Files are not removed here: who still has to be told of them knows them by name.
    """
    sizes = [(home.segments / file).stat().st_size for file in files]
    is_due = len(files) > MANY_FILES and (sum(sizes[1:]) > sizes[0] or len(files) > MOST_FILES)
    if not is_due:
        return tuple(files)
    read = [_read(home, file) for file in files]
    changes = concatenated([one for one, _ in read])
    arrivals = _Arrivals.of([one for _, one in read])
    kept = places_left(changes, clock, np.maximum(changes.ts, arrivals.latest()))
    return (_write(home, record, changes.take(kept), arrivals.take(kept)),)


@dataclass(frozen=True)
class _Arrivals:
    """The arrivals of changes: the dates, the updates, and the watermarks at each update."""

    dated: Ints
    update: Ints
    watermarks: list[dict[str, int]]

    @staticmethod
    def of(several: Sequence[_Arrivals]) -> _Arrivals:
        """Those of several files."""
        firsts = np.cumsum([0, *(len(one.watermarks) for one in several)])
        return _Arrivals(
            np.concatenate([one.dated for one in several]),
            np.concatenate(
                [one.update + first for one, first in zip(several, firsts, strict=False)]
            ),
            [marks for one in several for marks in one.watermarks],
        )

    def take(self, places: Ints) -> _Arrivals:
        """Some of them, with no more watermarks than they need."""
        used, update = np.unique(self.update[places], return_inverse=True)
        watermarks = [self.watermarks[one] for one in used]
        return _Arrivals(self.dated[places], update, watermarks)

    def instants(self, streams: Collection[str]) -> Ints:
        """The instants at which they take effect for a query over some streams."""
        clocks = [
            min((one.get(name, BEGINNING) for name in streams), default=BEGINNING)
            for one in self.watermarks
        ]
        return np.maximum(self.dated, np.array(clocks, np.int64)[self.update])

    def latest(self) -> Ints:
        """The instants by which they had taken effect for every query."""
        clocks = [max(one.values(), default=BEGINNING) for one in self.watermarks]
        return np.maximum(self.dated, np.array(clocks, np.int64)[self.update])


def _write(home: Home, record: int, changes: Block, arrivals: _Arrivals) -> str:
    file = home.new_segment(record, 0, "relation")
    came = pa.table({"dated": arrivals.dated, "update": arrivals.update})
    tables = {CHANGES: to_table(changes), _ARRIVALS: came}
    about = {"watermarks": arrivals.watermarks}
    write_bundle(home.segments / file, tables, about, durable=True)
    return file


def _read(home: Home, file: str) -> tuple[Block, _Arrivals]:
    bundle = Bundle(home.segments / file)
    changes = from_table(bundle.table(CHANGES))
    if _ARRIVALS not in bundle.names:
        # Written by an earlier version, or for one group.
        return changes, _Arrivals(changes.ts, np.zeros(len(changes), np.int64), [{}])
    came = bundle.table(_ARRIVALS)
    dated, update = (came[name].to_numpy() for name in ("dated", "update"))
    return changes, _Arrivals(dated, update, bundle.about["watermarks"])


def what_is_left(changes: Block, clock: int) -> Block:
    """The changes, without rows that have come and gone before a clock."""
    return changes.take(places_left(changes, clock, changes.ts))


def places_left(changes: Block, clock: int, latest: Ints) -> Ints:
    """The places of the changes without rows that have come and gone before a clock.

    Of several copies of a row those stay that came last.

    Args:
        changes: The changes.
        clock: The clock.
        latest: The instant by which each of them had taken effect for everybody.
    """
    is_past = latest < clock
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
    return np.sort(np.concatenate([stays, np.flatnonzero(~is_past)]))
