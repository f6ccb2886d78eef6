"""The input of the pipeline's benchmark: parquet files, one per stream and micro-batch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

SEED = 4
SECOND = 1_000_000
"""Event time is in microseconds."""
RATE = 20_000
"""Rows of all streams in a second of event time."""
WINDOW = 10 * SECOND
"""The length of windows, unless it is what is being varied."""
KEYS = 100_000
"""Keys, for a window of ten seconds: a row of one stream meets about one of the other."""


@dataclass(frozen=True)
class Input:
    """Rows in time order, cut into micro-batches; each stream has an equal share of each.

    Before these there may be some of another size (`first_rows`, `first_batches`).
    """

    rows_per_batch: int
    batches: int
    streams: tuple[str, ...] = ("a", "b")
    keys: int = KEYS
    first_rows: int = 0
    first_batches: int = 0

    @property
    def name(self) -> str:
        """A folder's name for it."""
        sizes = f"{self.first_rows}x{self.first_batches}.{self.rows_per_batch}x{self.batches}"
        return f"{sizes}.{''.join(self.streams)}.{self.keys}"

    @property
    def sizes(self) -> list[int]:
        """The rows of all streams in each micro-batch."""
        return [self.first_rows] * self.first_batches + [self.rows_per_batch] * self.batches

    def rows(self, random: np.random.Generator, size: int, before: int) -> pa.Table:
        """The rows of one stream in a micro-batch, after so many rows of all streams."""
        length = size * SECOND // RATE
        count = size // len(self.streams)
        start = before * SECOND // RATE
        return pa.table(
            {
                "ts": start + np.sort(random.integers(0, length, count)),
                "k": random.integers(0, self.keys, count),
                "v": random.integers(0, 1000, count),
            }
        )


def written(within: Path, wanted: Input) -> Path:
    """The folder with an input, which has a folder for each stream; made if it is not there."""
    folder = within / wanted.name
    if folder.is_dir():
        return folder
    random = np.random.default_rng(SEED)
    for stream in wanted.streams:
        (folder / stream).mkdir(parents=True)
        before = 0
        for batch, size in enumerate(wanted.sizes):
            path = folder / stream / f"{batch:06d}.parquet"
            pq.write_table(wanted.rows(random, size, before), path)
            before += size
            # Spark reads the oldest file first, and a clock may be too coarse to tell.
            os.utime(path, (1e9 + batch, 1e9 + batch))
    return folder
