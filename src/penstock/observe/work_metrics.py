"""The facts about the work of lanes in the text format that Prometheus reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.observe.metric_lines import Described, Labels, Metric, metrics_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.observe.work_facts import QueueFacts, WorkFacts


QUEUES: tuple[Described[QueueFacts], ...] = (
    ("queue_bytes", "Bytes that wait between the operators of a lane.", lambda one: one.bytes),
    ("queue_rows", "Rows that wait between the operators of a lane.", lambda one: one.rows),
    (
        "queue_peak_bytes",
        "The most bytes that have waited since the lane was made in memory.",
        lambda one: one.peak_bytes,
    ),
)


def work_metrics(work: WorkFacts) -> Iterator[Metric]:
    """Queues, latencies, and the priorities of operators."""
    by_lane: list[tuple[Labels, QueueFacts]] = [
        ({"lane": one.lane, "scheduler": one.scheduler}, one) for one in work.queues
    ]
    yield from metrics_of(by_lane, QUEUES)
    yield Metric(
        "held_back_batches_total",
        "Batches without rows that were run as too much waited to take in more rows.",
        [({}, work.held_back)] if work.queues else [],
    )
    yield Metric(
        "intake_rows",
        "Rows that are taken in at once, unless as many as there are.",
        [({}, work.intake)] if work.intake is not None else [],
    )
    yield Metric(
        "shedding_one_in",
        "Of the rows that come, one in so many stays.",
        [({}, work.one_in)] if work.queues else [],
    )
    yield Metric(
        "latency_seconds",
        "Seconds from the arrival of a block to its results, by the share that took no longer.",
        [
            ({"query": one.query, "quantile": quantile}, seconds)
            for one in work.latencies
            for quantile, seconds in (("0.5", one.median), ("0.95", one.p95), ("0.99", one.p99))
        ],
    )
    yield Metric(
        "latency_allowed_seconds",
        "Seconds that a query allows from the arrival of a block to its results.",
        [({"query": one.query}, one.allowed) for one in work.latencies if one.allowed is not None],
    )
    yield Metric(
        "chain_slope",
        "The priority of a chain of operators: the part of a block that a second of work frees.",
        list(_slopes(work)),
    )


def _slopes(work: WorkFacts) -> Iterator[tuple[Labels, float]]:
    """Of each chain the operators, and how steep it is."""
    for chart in work.charts:
        for number, (operators, slope) in enumerate(chart.chains):
            labels: Labels = {
                "lane": chart.lane,
                "source": chart.source,
                "query": chart.query,
                "chain": str(number),
                "operators": " > ".join(operators),
            }
            yield labels, slope
