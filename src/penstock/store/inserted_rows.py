"""Rows that are brought from Python: written down first, then read like any other source."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.store.whole_files import writing_to

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.store.layout import Home

_MILLISECOND = 1_000_000


class _InsertClock:
    """Instants in whole milliseconds, each later than the one before."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def next(self) -> int:
        with self._lock:
            self._last = max(time.time_ns() // _MILLISECOND, self._last + 1)
            return self._last


_CLOCK = _InsertClock()


def bring(home: Home, stream: str, rows: pa.Table) -> Path:
    """Append rows of a stream; they are read together, after all that were brought before.

    Spark reads files in the order of their times, which it knows to the millisecond. Instants are
    written as numbers, which mean the same to everybody.

    Raises:
        DataError: The disk is full.
    """
    folder = home.incoming(stream)
    at = _CLOCK.next()
    path = folder / f"{at:015d}.parquet"
    draft = folder / f".{path.name}"
    with writing_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(_plain(rows), draft)
    os.utime(draft, ns=(at * _MILLISECOND, at * _MILLISECOND))
    draft.rename(path)
    return path


def _plain(rows: pa.Table) -> pa.Table:
    columns = [
        column.cast(pa.timestamp("us")).cast(pa.int64())
        if pa.types.is_timestamp(column.type)
        else column
        for column in rows.columns
    ]
    return pa.table(columns, names=rows.column_names)
