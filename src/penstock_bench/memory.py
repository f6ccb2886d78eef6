"""The memory that state takes: per live row, and over the length of a stream."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock_bench.data import SEED, BenchInputs, dealt, feeds, instants
from penstock_bench.driving import Workload, bound

if TYPE_CHECKING:
    from penstock.runtime.lane import Lane

WINDOWS = 50
"""How many windows' length a run goes on."""
GAP = 10
INTERVAL = 16
"""Bytes of the interval of a row."""
INDEX = 16
"""Bytes per row of an index as one would write it down: a 64-bit hash and a 64-bit position."""


OF_A_PART = 1
"""Rows of a partition in a window that counts rows."""


@dataclass(frozen=True)
class Subject:
    """A query over windows of {length} whose state is looked at, and the columns it has to keep.

    The streams have no other columns, but for the time.
    """

    name: str
    query: str
    keeps: tuple[str, ...]
    streams: tuple[str, ...] = ("s",)


SUBJECTS = (
    Subject(
        "equi-join",
        "SELECT l.k, l.name, r.v FROM l [RANGE {length}] JOIN r [RANGE {length}] ON l.k = r.k",
        ("ts", "k", "v", "name"),
        ("l", "r"),
    ),
    Subject(
        "anti-join",
        "SELECT l.k, l.name FROM l [RANGE {length}] "
        "WHERE NOT EXISTS (SELECT r.k FROM r [RANGE {length}] WHERE r.k = l.k)",
        ("ts", "k", "v", "name"),
        ("l", "r"),
    ),
    Subject(
        "GROUP BY COUNT, SUM, MAX",
        "SELECT g, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS top FROM s [RANGE {length}] "
        "GROUP BY g",
        ("g", "v"),
    ),
    Subject(
        "GROUP BY MEDIAN", "SELECT g, MEDIAN(v) AS m FROM s [RANGE {length}] GROUP BY g", ("g", "v")
    ),
    Subject("DISTINCT", "SELECT DISTINCT k, name FROM s [RANGE {length}]", ("k", "name")),
    Subject(
        "EXCEPT ALL",
        "SELECT k, name FROM l [RANGE {length}] EXCEPT ALL SELECT k, name FROM r [RANGE {length}]",
        ("k", "name"),
        ("l", "r"),
    ),
    Subject("ROWS", "SELECT k, name FROM s [ROWS {rows}]", ("ts", "k", "v", "g", "name")),
    Subject(
        "PARTITION BY ROWS",
        f"SELECT k, name FROM s [PARTITION BY p ROWS {OF_A_PART}]",
        ("ts", "k", "name", "p"),
    ),
    Subject(
        "DISTINCT over ROWS",
        "SELECT DISTINCT k, name FROM s [ROWS {rows}]",
        ("ts", "k", "name"),
    ),
    Subject(
        "GROUP BY AVG over ROWS",
        "SELECT g, AVG(v) AS a FROM s [ROWS {rows}] GROUP BY g",
        ("ts", "g", "v"),
    ),
    Subject(
        "GROUP BY COUNT DISTINCT",
        "SELECT g, COUNT(DISTINCT v) AS n FROM s [RANGE {length}] GROUP BY g",
        ("g", "v"),
    ),
    Subject(
        "GROUP BY COUNT DISTINCT of texts",
        "SELECT g, COUNT(DISTINCT name) AS n FROM s [RANGE {length}] GROUP BY g",
        ("g", "name"),
    ),
    Subject(
        "INTERSECT ALL",
        "SELECT k, name FROM l [RANGE {length}] INTERSECT ALL "
        "SELECT k, name FROM r [RANGE {length}]",
        ("k", "name"),
        ("l", "r"),
    ),
    Subject(
        "LEFT JOIN",
        "SELECT l.k, l.name, r.v FROM l [RANGE {length}] LEFT JOIN r [RANGE {length}] ON l.k = r.k",
        ("ts", "k", "v", "name"),
        ("l", "r"),
    ),
    Subject(
        "FULL JOIN",
        "SELECT l.k, l.name, r.v FROM l [RANGE {length}] FULL JOIN r [RANGE {length}] ON l.k = r.k",
        ("ts", "k", "v", "name"),
        ("l", "r"),
    ),
)


@dataclass(frozen=True)
class MemorySample:
    """The state after a window's length, and the memory of the process."""

    state_rows: int
    state_bytes: int
    process_bytes: int


@dataclass(frozen=True)
class Footprint:
    """A run over many windows: its samples, and how many bytes a row of the windows has."""

    name: str
    live_rows: int
    row_bytes: float
    samples: tuple[MemorySample, ...]

    @property
    def state_per_row(self) -> float:
        """State bytes per live row, on average over the last half of the run."""
        half = self.samples[len(self.samples) // 2 :]
        return sum(one.state_bytes for one in half) / len(half) / self.live_rows

    @property
    def needed_bytes(self) -> float:
        """The bytes of a row as Arrow, with its interval and an entry in an index."""
        return self.row_bytes + INTERVAL + INDEX

    @property
    def ratio(self) -> float:
        """State per live row in parts of what it needs."""
        return self.state_per_row / self.needed_bytes

    @property
    def state_growth(self) -> float:
        """State bytes at the end of the run in parts of those early in it: 1 is flat."""
        return self._growth([one.state_bytes for one in self.samples])

    @property
    def process_growth(self) -> float:
        """Memory of the process at the end of the run in parts of that early in it."""
        return self._growth([one.process_bytes for one in self.samples])

    def _growth(self, values: list[int]) -> float:
        """The highest of the last fifth against the highest of the second fifth."""
        fifth = max(len(values) // 5, 1)
        return max(values[-fifth:]) / max(values[fifth : 2 * fifth])


def footprint(subject: Subject, window_rows: int) -> Footprint:
    """Run a query for 50 windows of `window_rows` rows, all streams together; results are dropped.

    Keys drift: each lives for about a window and never comes again.
    """
    inputs = _drifting(subject, window_rows)
    length = f"{window_rows * GAP} MICROSECONDS"
    plan = bound(inputs, subject.query.format(length=length, rows=window_rows))
    # Feeds of a tenth of a window: what waits in queues then hardly counts.
    work = Workload(plan, feeds(inputs, max(window_rows // 10, 1)), inputs.rows)
    kept = [table.select(subject.keeps) for table in inputs.streams.values()]
    row_bytes = sum(table.nbytes for table in kept) / inputs.rows
    lane = work.lane()
    samples: list[MemorySample] = []
    fed = 0
    for feed in work.feeds:
        lane.feed(feed.blocks, feed.watermarks)
        fed += sum(map(len, feed.blocks.values()))
        if fed >= (len(samples) + 1) * window_rows:
            samples.append(_sample(lane))
    return Footprint(subject.name, window_rows, row_bytes, tuple(samples))


def _drifting(subject: Subject, window_rows: int) -> BenchInputs:
    random = np.random.default_rng(SEED)
    rows = window_rows * WINDOWS
    places = np.arange(rows)
    keys = places + random.integers(0, max(window_rows // 2, 1), rows)
    table = pa.table(
        {
            "ts": instants(rows, GAP, random),
            "k": keys,
            "v": random.integers(0, 1000, rows),
            "g": (places + random.integers(0, window_rows, rows)) // 100,
            "name": pa.array(np.char.add("name ", keys.astype("U12"))),
            # Partitions do not go, whatever they are for: so these are always the same.
            "p": places % max(window_rows // OF_A_PART, 1),
        }
    )
    wanted = [name for name in table.column_names if name == "ts" or name in subject.keeps]
    return BenchInputs(dealt(table.select(wanted), subject.streams, random))


def _sample(lane: Lane) -> MemorySample:
    reports = lane.reports()
    return MemorySample(
        sum(report.state_rows for report in reports),
        sum(report.state_bytes for report in reports),
        _resident(),
    )


def _resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
