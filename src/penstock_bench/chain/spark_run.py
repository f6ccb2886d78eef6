"""Schedulers on Spark: a tick of bursty rows in each micro-batch, and a budget for its lane."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from threading import Condition
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import penstock
from penstock.scheduling.latencies import Latencies, all_latencies
from penstock.scheduling.work_rules import WorkRules
from penstock_bench.chain.lane_run import TURN, LaneBench, LaneFigures, percentiles
from penstock_bench.chain.lane_traffic import KNOWN, QUERIES, SCRIPT

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.spark.pipeline import Pipeline
    from penstock.store.records import Record
    from penstock_bench.chain.lane_traffic import LaneTraffic

MASTER = "local[2,4]"
COLUMNS = ("ts", "k", "g", "v")
PATIENCE = 120.0
"""Seconds to wait for a micro-batch."""


@dataclass(frozen=True)
class SparkBench:
    """A pipeline with one lane under bursts.

    Args:
        traffic: The rows; the next ones come when those of a tick have been taken in.
        folder: For homes.
    """

    traffic: LaneTraffic
    folder: Path

    @cached_property
    def rules(self) -> WorkRules:
        """The rules of all runs: a budget by which load is that of the lane alone, and the rest.

        They are measured on a lane of this process.
        """
        lane = LaneBench(self.traffic)
        budget = lane.tick
        options = {"quantum": TURN * budget, "threshold": lane.middle_slope()}
        return WorkRules(budget, options=options)

    def run(self, name: str, scheduler: str, latency: float | None = None) -> LaneFigures:
        """Let all rows pass under a scheduler, and the queries allow some latency."""
        from penstock.spark.spark_engine import spark_engine

        with penstock.connect(MASTER, self.folder / name, 1) as db:
            db.execute("; ".join(_settings(scheduler, self.rules, latency)))
            db.execute(SCRIPT)
            keys = pa.array(range(KNOWN), pa.int32())
            db.update("r", insert=pa.table({"k": keys, "w": keys}))
            for query, text in QUERIES.items():
                db.execute(f"CREATE QUERY {query} AS {text}")
            seen = _Commits(spark_engine(db).running.pipeline)
            db.on_commit(seen.note)
            total = 0
            for block in self.traffic.blocks:
                total += db.insert("s", pa.table(dict(zip(COLUMNS, block.columns, strict=True))))
                seen.wait_for(total)
            db.wait_idle()
            return seen.figures(latency)


def _settings(scheduler: str, rules: WorkRules, latency: float | None) -> list[str]:
    assert rules.budget is not None
    settings = [
        f"SET lane_budget = '{rules.budget * 1e3:.3f} ms'",
        f"SET scheduler = {scheduler}",
        f"SET quantum = '{rules.options['quantum'] * 1e3:.3f} ms'",
        f"SET threshold = '{rules.options['threshold']:.6f} / s'",
    ]
    if latency is not None:
        settings.append(f"SET latency = '{latency * 1e3:.3f} ms'")
    return settings


@dataclass
class _Commits:
    """Queues and latencies, commit by commit."""

    pipeline: Pipeline
    rows: int = 0
    queued: list[int] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    _counts: Counter[int] = field(default_factory=Counter)
    _changed: Condition = field(default_factory=Condition)

    def note(self, record: Record) -> None:
        """A micro-batch was committed; what lanes tell is of it, or of the one before."""
        counts = self._latencies()
        with self._changed:
            self.queued.append(sum(record.behind.values()))
            self.latencies.append(Latencies(counts - self._counts).mean or 0.0)
            self._counts = counts
            self.rows = record.streams["s"].rows if "s" in record.streams else 0
            self._changed.notify_all()

    def wait_for(self, rows: int) -> None:
        """Wait until so many rows have been taken in."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.rows >= rows, PATIENCE):
                msg = f"{self.rows} of {rows} rows were taken in after {PATIENCE:.0f} s"
                raise TimeoutError(msg)

    def figures(self, latency: float | None) -> LaneFigures:
        """The figures of the run, when all is done."""
        peak = max(int(one["peak_bytes"]) for one in self._reports())
        marks = percentiles(Latencies(self._latencies()))
        return LaneFigures(peak, *marks, None, latency, self.queued, self.latencies)

    def _reports(self) -> list[dict[str, Any]]:
        return [*self.pipeline.status.work.values()]

    def _latencies(self) -> Counter[int]:
        parts = [counts for one in self._reports() for counts in one["latencies"].values()]
        return all_latencies(parts).counts
