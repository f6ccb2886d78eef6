"""Rows that are brought from Python: written down first, then read like any other source."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.home.layout import Home


def bring(home: Home, stream: str, rows: pa.Table) -> Path:
    """Append rows of a stream; they are read together, after all that were brought before.

    Instants are written as numbers, which mean the same to everybody.
    """
    folder = home.incoming(stream)
    folder.mkdir(parents=True, exist_ok=True)
    number = max((int(one.stem) for one in folder.glob("[0-9]*.parquet")), default=-1) + 1
    path = folder / f"{number:012d}.parquet"
    draft = folder / f".{path.name}"
    pq.write_table(_plain(rows), draft)
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
