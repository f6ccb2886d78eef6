"""Packets in sub-windows, and the queries over them, as the experiments of the thesis have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.planner.merged_queries import MergedQuery, merged_query
from penstock.planner.optimizing import plans_to_run
from penstock.session import Session
from penstock.store.sub_windows.piece import MemoryPiece
from penstock.store.sub_windows.sub_window import SubWindow

if TYPE_CHECKING:
    from collections.abc import Iterator

ADDRESSES = 2_000
LARGEST = 1_500
"""Bytes of a packet."""
VARIED = 0.5
"""The share by which sub-windows have more or fewer rows than usual."""
DIFFERENT = 6
"""So many tables are made; the sub-windows are stretches of these, again and again."""
GROUPS = 4
"""Scans that periodic queries share, in turns."""

_DECLARED = (
    "CREATE STREAM packets (ts BIGINT, source INT, destination INT, size INT,"
    " WATERMARK FOR ts AS ts);"
)
_TOP = (
    "SELECT {by}, SUM(size) AS bytes FROM packets [RANGE {window}]"
    " GROUP BY {by} ORDER BY bytes DESC LIMIT 10"
)
_SHARE = (
    "SELECT QUANTILE(bytes, {share}) AS bytes FROM"
    " (SELECT {by}, SUM(size) AS bytes FROM packets [RANGE {window}] GROUP BY {by})"
)
_ASKED = (
    "SELECT COUNT(*) AS packets, SUM(size) AS bytes FROM packets [RANGE {window}]"
    " WHERE source < {least}"
)


def periodic_queries(length: int, random: np.random.Generator) -> list[dict[str, MergedQuery]]:
    """Groups of queries over windows of random lengths, up to so many sub-windows of length 1."""
    found = []
    for number in range(GROUPS):
        by = ("source", "destination")[number % 2]
        texts = [_TOP, *(_SHARE.replace("{share}", one) for one in ("0.5", "0.95"))]
        windows = [int(random.integers(1, length + 1)) for _ in texts]
        windows[0] = length
        found.append(
            {
                f"{by}_{number}_{place}": _merged(text.format(by=by, window=window))
                for place, (text, window) in enumerate(zip(texts, windows, strict=True))
            }
        )
    return found


def asked_query(length: int, random: np.random.Generator) -> MergedQuery:
    """A simple aggregate of some addresses over the whole window."""
    return _merged(_ASKED.format(window=length, least=int(random.integers(1, ADDRESSES))))


def _merged(text: str) -> MergedQuery:
    session = Session()
    session.execute(_DECLARED)
    found = merged_query(plans_to_run({"q": session.bind(text).plan})["q"])
    assert isinstance(found, MergedQuery)
    return found


def sub_windows(rows: int, random: np.random.Generator) -> Iterator[SubWindow]:
    """Sub-windows without end, of so many rows on average."""
    most = int(rows * (1 + VARIED)) + 1
    tables = [_table(most, random) for _ in range(DIFFERENT)]
    number = 0
    while True:
        count = int(rows * random.uniform(1 - VARIED, 1 + VARIED))
        piece = MemoryPiece(tables[number % DIFFERENT].slice(0, count))
        yield SubWindow.numbered(number, 1, [piece])
        number += 1


def _table(rows: int, random: np.random.Generator) -> pa.Table:
    instants = np.zeros(rows, np.int64)
    return pa.table(
        {
            "ts": instants,
            "source": random.integers(0, ADDRESSES, rows).astype(np.int32),
            "destination": random.integers(0, ADDRESSES, rows).astype(np.int32),
            "size": random.integers(40, LARGEST, rows).astype(np.int32),
            "_ts": instants,
        }
    )
