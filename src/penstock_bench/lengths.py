"""The cost of a tuple in windows of a thousand to a million tuples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from penstock.runtime.lane import STEP_ROWS
from penstock_bench.data import SEED, BenchInputs, dealt, instants, table_of
from penstock_bench.driving import workload
from penstock_bench.one_core import Stopwatch

if TYPE_CHECKING:
    from penstock_bench.driving import Workload

LENGTHS = (1_000, 10_000, 100_000, 1_000_000)
GAP = 10
"""Microseconds from tuple to tuple of a stream."""
ROUNDS = 2

Maker = Callable[[int, int], BenchInputs]
"""Makes so many rows, for windows of so many tuples."""


@dataclass(frozen=True)
class Stretch:
    """A query over windows of {length}, and input with the same results per row at any length."""

    name: str
    query: str
    inputs: Maker
    streams: int = 1


@dataclass(frozen=True)
class LengthCosts:
    """Nanoseconds of CPU time per row, by tuples in the window; results per row likewise."""

    name: str
    nanoseconds: dict[int, float]
    results_per_row: dict[int, float]

    @property
    def spread(self) -> float:
        """The dearest length in parts of the cheapest: 1 is perfectly flat."""
        return max(self.nanoseconds.values()) / min(self.nanoseconds.values())


def pairs(rows: int, tuples: int) -> BenchInputs:
    """Two streams; as many keys as tuples in a window, so that a row finds one partner."""
    random = np.random.default_rng(SEED)
    ts = instants(rows, GAP // 2, random)
    values = random.integers(0, 1000, rows)
    table = table_of(ts, k=random.integers(0, tuples, rows), v=values)
    return BenchInputs(dealt(table, ("l", "r"), random))


def groups(rows: int, tuples: int) -> BenchInputs:
    """A stream with a hundred tuples of each group in the window, in ever more groups."""
    return _keyed(rows, max(tuples // 100, 1))


def values(rows: int, tuples: int) -> BenchInputs:
    """A stream in which each key comes once in a window, on average."""
    return _keyed(rows, tuples)


def _keyed(rows: int, keys: int) -> BenchInputs:
    random = np.random.default_rng(SEED)
    ts = instants(rows, GAP, random)
    numbers = random.integers(0, 1_000_000, rows)
    return BenchInputs({"s": table_of(ts, k=random.integers(0, keys, rows), v=numbers)})


STRETCHES = (
    Stretch(
        "equi-join",
        "SELECT l.k, l.v, r.v AS w FROM l [RANGE {length}] JOIN r [RANGE {length}] ON l.k = r.k",
        pairs,
        streams=2,
    ),
    *(
        Stretch(
            f"GROUP BY {call[:-3]}",
            f"SELECT k, {call} AS a FROM s [RANGE {{length}}] GROUP BY k",
            groups,
        )
        for call in ("SUM(v)", "MAX(v)", "MEDIAN(v)")
    ),
    *(
        Stretch(call[:-3], f"SELECT {call} AS a FROM s [RANGE {{length}}]", groups)
        for call in ("SUM(v)", "MAX(v)", "MEDIAN(v)")
    ),
    Stretch("DISTINCT", "SELECT DISTINCT k FROM s [RANGE {length}]", values),
)
"""The queries; those without GROUP BY keep the whole window in one group."""


def lengths_within(rows: int) -> list[int]:
    """The lengths that a run of so many rows can show."""
    return [length for length in LENGTHS if length <= rows]


def costs(stretch: Stretch, rows: int) -> LengthCosts:
    """Measure `rows` rows at each length, after the windows are full; the best of some rounds."""
    nanoseconds: dict[int, float] = {}
    results: dict[int, float] = {}
    for tuples in lengths_within(rows):
        full = tuples * stretch.streams
        inputs = stretch.inputs(full + rows, tuples)
        query = stretch.query.format(length=f"{tuples * GAP} MICROSECONDS")
        work = workload(inputs, query, min(STEP_ROWS, rows // 4))
        rounds = [_steady(work, full) for _ in range(ROUNDS)]
        nanoseconds[tuples] = min(cost for cost, _ in rounds)
        results[tuples] = rounds[0][1]
    return LengthCosts(stretch.name, nanoseconds, results)


def _steady(work: Workload, full: int) -> tuple[float, float]:
    """Nanoseconds and results per row of the feeds that come when the windows are full."""
    lane = work.lane()
    before, rows, made, cpu = 0, 0, 0, 0.0
    for feed in work.feeds:
        count = sum(map(len, feed.blocks.values()))
        watch = Stopwatch()
        results = lane.feed(feed.blocks, feed.watermarks)
        seconds = watch.read()
        if before >= full:
            rows += count
            cpu += seconds.cpu
            made += sum(len(block) for blocks in results.blocks.values() for block in blocks)
        before += count
    return cpu / rows * 1e9, made / rows
