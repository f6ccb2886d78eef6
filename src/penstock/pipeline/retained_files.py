"""The files with retained rows: which a record needs, and which pins need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.store.pins import kept_by_pins, pinned_records
from penstock.store.sub_windows.piece_files import read_list

if TYPE_CHECKING:
    from penstock.store.layout import Home
    from penstock.store.records import Record


def retained_files(home: Home, record: Record) -> set[str]:
    """The files that have the retained rows as of a record.

    Raises:
        DataError: A list of them is missing or damaged.
    """
    names = {one.file for one in record.unsealed}
    for one in record.retained.values():
        if one.pieces is not None:
            names.add(one.pieces)
            names.update(piece.file for piece in read_list(home.segments, one.pieces).pieces)
    return names


def pinned_files(home: Home) -> set[str]:
    """The files that readers still need of records that may be old."""
    names = kept_by_pins(home)
    for number in pinned_records(home):
        try:
            record = home.chain.read(number)
            names |= retained_files(home, record)
        except DataError:
            # The reader has not got them, either, and says so.
            continue
        names.update(name for one in record.relations.values() for name in one.changes)
    return names
