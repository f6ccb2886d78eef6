"""The queries of the lane under bursts, and the rows that come to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.operators.block import Block, arriving
from penstock_bench.chain.traffic import flow_rates, made_up_trace

if TYPE_CHECKING:
    from penstock_bench.chain.experiments import ChainEffort

KEYS, KNOWN = 1000, 100
"""The keys of rows, and those of them that the relation knows."""
INSTANTS = 100
"""The instants of a tick, so that a burst can be cut into blocks."""
SPAN = 15.0
"""The time of all ticks, as flows count it: in each unit of it one begins."""
STRETCH = 5
"""The ticks of a count: a peak of a trace comes over many ticks, and not at once."""
SCRIPT = """
CREATE STREAM s (ts BIGINT, k INT, g INT, v DOUBLE, WATERMARK FOR ts AS ts);
CREATE RELATION r (k INT, w INT)
"""
QUERIES = {
    "middle": "SELECT s.g, MEDIAN(s.v) AS m, MAX(r.w) AS w FROM s [RANGE 20], r WHERE s.k = r.k"
    " GROUP BY s.g",
    "lowest": "SELECT g, MEDIAN(v) AS m, COUNT(DISTINCT k) AS n FROM s [RANGE 20]"
    " WHERE v * v < 0.01 GROUP BY g",
}
"""Each is quick to drop nine of ten rows, and slow with the rest."""


@dataclass(frozen=True)
class LaneTraffic:
    """Rows in bursts.

    Args:
        rows: How many come in all.
        rates: How many come in each tick, in any unit.
        seed: Decides what they hold.
    """

    rows: int
    rates: tuple[float, ...]
    seed: int = 1

    @property
    def counts(self) -> list[int]:
        """The rows of each tick."""
        rates = np.array(self.rates)
        return [int(count) for count in rates * self.rows / rates.sum()]

    @cached_property
    def blocks(self) -> list[Block]:
        """The rows themselves, tick by tick."""
        random = np.random.default_rng(self.seed)
        return [_rows(random, number, count) for number, count in enumerate(self.counts)]


def _rows(random: np.random.Generator, tick: int, count: int) -> Block:
    ts = INSTANTS * tick + np.sort(random.integers(0, INSTANTS, count))
    columns = (
        pa.array(ts),
        pa.array(random.integers(0, KEYS, count).astype(np.int32)),
        pa.array(random.integers(0, 50, count).astype(np.int32)),
        pa.array(random.random(count)),
    )
    return arriving(columns, ts)


def known_keys() -> Block:
    """The rows of the relation."""
    keys = pa.array(np.arange(KNOWN).astype(np.int32))
    return arriving((keys, keys), np.full(KNOWN, BEGINNING + 1))


def lane_traffics(effort: ChainEffort, rows: int, ticks: int) -> dict[str, LaneTraffic]:
    """Rows of flows, twice, and by the counts of a trace: that which is given, or a town's."""
    counts = made_up_trace(1) if effort.trace is None else np.array(effort.trace)
    rates = {
        "flows": flow_rates(1, ticks, SPAN / ticks),
        "other flows": flow_rates(2, ticks, SPAN / ticks),
        "counts": np.repeat(counts, STRETCH)[:ticks],
    }
    return {name: LaneTraffic(rows, tuple(map(float, one))) for name, one in rates.items()}
