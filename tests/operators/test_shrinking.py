"""State follows what is alive: after a burst it is as small as if there had been none."""

from __future__ import annotations

import gc
import tracemalloc
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.operators.aggregate.accumulators.pool import Pool
from penstock.operators.join.join_fifo import FifoSide
from penstock.operators.output.emit_final import _HeldElements
from penstock.planner.physical.lowering import operator_graph
from penstock.runtime.lane import Lane
from penstock.state import moving
from penstock.state.keys import KeyIndex
from penstock.state.slots import SlotPool
from penstock_bench.data import BenchInputs, feeds
from penstock_bench.driving import QUERY, bound
from penstock_fuzz.campaign import Campaign
from penstock_fuzz.coverage import TrialCoverage
from penstock_fuzz.engines import contender_called
from penstock_fuzz.trial import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan

BURST, TRICKLE = 100_000, 100
"""Rows a second while it lasts, a second, and afterwards."""
SECONDS = 20
QUERIES = {
    "join": "SELECT l.k, l.name, r.v FROM s [RANGE 1 SECOND] l JOIN s [RANGE 1 SECOND] r "
    "ON l.k = r.k",
    "anti": "SELECT k, name FROM s [RANGE 1 SECOND] WHERE NOT EXISTS "
    "(SELECT o.k FROM o [RANGE 2 SECONDS] WHERE o.k = s.k)",
    "join on withdrawn rows": "SELECT a.g, a.n, s.v FROM s [RANGE 1 SECOND] JOIN "
    "(SELECT g, COUNT(*) AS n FROM s [RANGE 1 SECOND] GROUP BY g) a ON s.g = a.g",
    "count": "SELECT k, COUNT(*) AS n, SUM(v) AS t FROM s [RANGE 1 SECOND] GROUP BY k",
    "variance": "SELECT k, VAR_POP(x) AS n FROM s [RANGE 1 SECOND] GROUP BY k",
    "max": "SELECT k, MAX(name) AS n FROM s [RANGE 1 SECOND] GROUP BY k",
    "max in one group": "SELECT MIN(v) AS n, MIN(ts) AS m FROM s [RANGE 1 SECOND]",
    "median": "SELECT k, MEDIAN(v) AS n FROM s [RANGE 1 SECOND] GROUP BY k",
    "count distinct": "SELECT g, COUNT(DISTINCT name) AS n FROM s [RANGE 1 SECOND] GROUP BY g",
    "distinct": "SELECT DISTINCT k, name FROM s [RANGE 1 SECOND]",
    "distinct over rows": "SELECT DISTINCT k, name FROM s [ROWS 50]",
    "except": "SELECT k, name FROM s [RANGE 1 SECOND] EXCEPT ALL SELECT k, name FROM o [NOW]",
    "intersect": "SELECT k, name FROM s [RANGE 1 SECOND] INTERSECT ALL "
    "SELECT k, name FROM s [RANGE 2 SECONDS]",
    "final": "SELECT k, COUNT(*) AS n FROM s [RANGE 1 SECOND] GROUP BY k EMIT FINAL",
}


def input_of(query: str, *, bursts: bool) -> BenchInputs:
    """A row in ten milliseconds; in the third second, maybe, many with keys of their own."""
    ts = np.arange(0, SECONDS * 1_000_000, 1_000_000 // TRICKLE)
    if bursts:
        extra = 2_000_000 + np.arange(BURST) * (1_000_000 // BURST)
        ts = np.sort(np.concatenate([ts, extra]))
    keys = np.arange(len(ts))
    table = pa.table(
        {
            "ts": ts,
            "k": keys,
            "v": keys % 1000,
            "g": keys // 10,
            "x": keys / 7,
            "name": pa.array(np.char.add("name ", keys.astype("U12"))),
        }
    )
    others = {"o": table.slice(0, 200)} if "o [" in query else {}
    return BenchInputs({"s": table, **others})


def _between(table: pa.Table, start: int, stop: int) -> pa.Table:
    """The rows of some seconds."""
    second = table["ts"].to_numpy() // 1_000_000
    return table.filter(pa.array((second >= start) & (second < stop)))


def run(plan: Plan, inputs: BenchInputs, *, traced: bool = True) -> tuple[list[int], int]:
    """State bytes after each feed, and bytes that are really held at the end for the lane."""
    early, late = (
        BenchInputs({name: _between(table, *part) for name, table in inputs.streams.items()})
        for part in ((0, 3), (3, SECONDS))
    )
    # The burst comes in a few steps, the trickle in many.
    made = [*feeds(early, BURST // 2), *feeds(late, TRICKLE // 2)]
    gc.collect()
    if traced:
        tracemalloc.start()
    lane = Lane(operator_graph({QUERY: plan}))
    sizes = []
    for feed in made:
        lane.feed(feed.blocks, feed.watermarks)
        sizes.append(sum(report.state_bytes for report in lane.reports()))
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return sizes, held


@pytest.mark.parametrize("name", QUERIES)
def test_a_burst_leaves_nothing_behind(name: str) -> None:
    query = QUERIES[name]
    calm, busy = input_of(query, bursts=False), input_of(query, bursts=True)
    plan = bound(busy, query)
    # What is made but once, like compiled code, is not state; tracing that takes ten times as long.
    run(plan, busy, traced=False)
    quiet, quiet_held = run(plan, calm)
    sizes, held = run(plan, busy)
    assert max(sizes) > 20 * max(quiet), "the burst is seen"
    assert sizes[-1] <= 4 * max(max(quiet), 60_000)
    assert held <= 4 * max(quiet_held, 200_000)


TRIALS = 60
SHRINKING = (
    (KeyIndex, "compact"),
    (SlotPool, "compact"),
    (Pool, "compact"),
    (FifoSide, "_resize"),
    (_HeldElements, "_move_to_front"),
)


def test_state_that_moves_at_every_step_is_still_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random queries, with so little patience for empty room that everything moves all the time."""
    for name, value in (("SPARE", 1), ("LEAST", 0), ("FADING", 1)):
        monkeypatch.setattr(moving, name, value)
    moves = Counter[str]()
    for kind, name in SHRINKING:
        monkeypatch.setattr(kind, name, counting(getattr(kind, name), moves))
    campaign = Campaign(contender_called("inline"), seed=7, strategies=STRATEGIES, seconds=0)
    for number in range(TRIALS):
        found = campaign.try_one(number, TrialCoverage())
        assert found is None, f"trial {number}: {found.failure.text}"
    assert min(moves[kind.__name__] for kind, _ in SHRINKING) > 0, moves


def counting(function: Callable[..., Any], moves: Counter[str]) -> Callable[..., Any]:
    def counted(self: object, *arguments: Any) -> Any:
        moves[type(self).__name__] += 1
        return function(self, *arguments)

    return counted
