"""The facts about the work of lanes that have a budget: queues, latencies, charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.scheduling.latencies import all_latencies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.observe.status import Status

Reports = dict[str, dict[str, Any]]
"""By lane, what it tells of its queues."""


@dataclass(frozen=True)
class QueueFacts:
    """The queues of a lane between its operators.

    Attributes:
        scheduler: Who says which operator runs next.
        rows: The rows that wait,
        bytes: and their bytes, for each operator that is to read them,
        peak_bytes: and the most there have been since the lane was made in memory.
    """

    lane: str
    scheduler: str
    rows: int
    bytes: int
    peak_bytes: int


@dataclass(frozen=True)
class LatencyFacts:
    """The time from the arrival of blocks to their results, of a query in all its lanes.

    Attributes:
        blocks: How many blocks were measured.
        median: Seconds that half of them took at most,
        p95: that 95 of a hundred,
        p99: and that 99 of a hundred took at most.
        allowed: Seconds that the query allows; None: any.
    """

    query: str
    blocks: int
    median: float
    p95: float
    p99: float
    allowed: float | None


@dataclass(frozen=True)
class ChartFacts:
    """The progress chart of a way of blocks through a lane, by what was measured last.

    Attributes:
        operators: What a block passes.
        points: Before and after each: seconds of work so far, and what is left of the block.
        chains: The operators that are one chain, each with the slope that is their priority.
    """

    lane: str
    source: str
    query: str
    operators: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    chains: tuple[tuple[tuple[str, ...], float], ...]

    @property
    def seconds(self) -> float:
        """The work for a block."""
        return self.points[-1][0]


@dataclass(frozen=True)
class WorkFacts:
    """The work of all lanes that have a budget.

    `held_back` counts the batches without rows that were run as too much waited to take in more.
    `intake` says how many rows are taken in at once, if not all that are there, and `one_in` that
    one row in so many stays of those that come.
    """

    queues: tuple[QueueFacts, ...] = ()
    latencies: tuple[LatencyFacts, ...] = ()
    charts: tuple[ChartFacts, ...] = ()
    held_back: int = 0
    intake: int | None = None
    one_in: int = 1


def work_facts(status: Status, allowed: Mapping[str, float]) -> WorkFacts:
    """The facts in what lanes tell.

    Args:
        status: That, and what the input monitor decided.
        allowed: By query, the seconds that it allows.
    """
    reports = status.work
    return WorkFacts(
        tuple(
            QueueFacts(
                lane, one["scheduler"], one["queue_rows"], one["queue_bytes"], one["peak_bytes"]
            )
            for lane, one in reports.items()
        ),
        tuple(_latencies(reports, allowed)),
        tuple(_chart(lane, chart) for lane, one in reports.items() for chart in one["charts"]),
        status.held_back,
        status.intake,
        status.one_in,
    )


def _latencies(reports: Reports, allowed: Mapping[str, float]) -> Iterator[LatencyFacts]:
    queries = dict.fromkeys(query for one in reports.values() for query in one["latencies"])
    for query in queries:
        seen = all_latencies(one["latencies"].get(query, {}) for one in reports.values())
        median, p95, p99 = (seen.percentile(one) for one in (50, 95, 99))
        if median is not None and p95 is not None and p99 is not None:
            blocks = seen.counts.total()
            yield LatencyFacts(query, blocks, median, p95, p99, allowed.get(query))


def _chart(lane: str, chart: Mapping[str, Any]) -> ChartFacts:
    operators = tuple(chart["operators"])
    return ChartFacts(
        lane,
        chart["source"],
        chart["query"],
        operators,
        tuple((time, size) for time, size in chart["points"]),
        tuple((operators[first:end], slope) for first, end, slope in chart["chains"]),
    )
