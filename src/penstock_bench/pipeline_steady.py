"""From the micro-batches of a run to its steady state: what is left when all is warm and full."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from penstock.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock_bench.pipeline_run import PipelineFigures


@dataclass(frozen=True)
class Steady:
    """The second half of a run, or what follows when the windows are full.

    Attributes:
        batches: How many micro-batches that is.
        rows_per_second: Their rows by the time they took, from trigger to trigger.
        median_ms: Of the time of a micro-batch.
        p99_ms: Of the time of a micro-batch.
        cpu_per_million: CPU seconds of all processes for a million rows, if it was long enough
            to be sampled. Other programs disturb it less than the time on the wall.
        rows_before: The rows that came before them: windows are full if they hold no more.
        results_per_row: Rows that came out for each that went in, over the whole run.
        parts_ms: Medians of what Spark says it did with the time of a batch.
        lanes_ms: Medians of what Penstock did within `addBatch`, the slowest task each time.
    """

    batches: int
    rows_per_second: float
    median_ms: float
    p99_ms: float
    cpu_per_million: float | None
    rows_before: int
    results_per_row: float
    parts_ms: dict[str, float]
    lanes_ms: dict[str, float]


def steady(ran: PipelineFigures, full: int = 0) -> Steady:
    """The steady state of a run whose windows are full after `full` micro-batches.

    Raises:
        InternalError: It ended before they were.
    """
    count = len(ran.rows)
    if count <= full:
        msg = f"the run ended after {count} micro-batches, and windows are full after {full}"
        raise InternalError(msg)
    first = max(count // 2, full)
    times = ran.milliseconds[first:]
    return Steady(
        count - first,
        sum(ran.rows[first:]) / sum(times) * 1000,
        median(times),
        float(np.percentile(times, 99)),
        _cpu_per_million(ran, first),
        sum(ran.rows[:first]),
        ran.results / sum(ran.rows),
        _medians(ran.parts[first:]),
        {name: one * 1000 for name, one in _medians(ran.lanes[len(ran.lanes) // 2 :]).items()},
    )


def _cpu_per_million(ran: PipelineFigures, first: int) -> float | None:
    samples = [one for one in ran.cpu if first <= one[0] <= len(ran.rows)]
    if len(samples) < 2:
        return None
    (start, before), (stop, after) = samples[0], samples[-1]
    return (after - before) / sum(ran.rows[start:stop]) * 1e6


def _medians(several: Sequence[dict[str, float]]) -> dict[str, float]:
    values = defaultdict(list)
    for one in several:
        for name, value in one.items():
            values[name].append(value)
    return {name: float(median(found)) for name, found in values.items()}
