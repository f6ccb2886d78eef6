"""The work of lanes that run a query, in lines of text: queues, latencies, measured charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.scheduling.chart import Chart
from penstock.scheduling.chart_text import chart_lines, time_text
from penstock.scheduling.latencies import all_latencies
from penstock.scheduling.paths import Path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Reports = Mapping[str, Mapping[str, Any]]


def described_work(reports: Reports, query: str, allowed: float | None) -> list[str]:
    """The queues of lanes now and at peak, latencies of a query, and its charts as measured.

    Args:
        reports: By lane, its work report; none of lanes without a budget.
        query: The name of the query.
        allowed: The seconds that it allows.
    """
    told = {lane: one for lane, one in reports.items() if one}
    if not told:
        return []
    return [_queues(told), *_latency(told, query, allowed), *_charts(told, query)]


def _queues(reports: Reports) -> str:
    now, peak, rows = (
        sum(one[part] for one in reports.values())
        for part in ("queue_bytes", "peak_bytes", "queue_rows")
    )
    scheduler = ", ".join(dict.fromkeys(one["scheduler"] for one in reports.values()))
    text = f"{now:,} bytes in {rows:,} rows now, {peak:,} bytes at peak"
    return f"Queues by {scheduler}: {text}"


def _latency(reports: Reports, query: str, allowed: float | None) -> Iterator[str]:
    seen = all_latencies(one["latencies"].get(query, {}) for one in reports.values())
    parts = [(title, seen.percentile(one)) for title, one in PERCENTILES]
    known = [f"{title} {time_text(seconds)}" for title, seconds in parts if seconds is not None]
    if known:
        bound = "" if allowed is None else f"; allowed {time_text(allowed)}"
        yield f"Latency: {', '.join(known)}, of {seen.counts.total():,} blocks{bound}"


PERCENTILES = (("median", 50), ("95 %", 95), ("99 %", 99))
"""The percentiles that are shown."""


def _charts(reports: Reports, query: str) -> Iterator[str]:
    """The charts of the first lane that has some; in others they are much the same."""
    for lane, report in reports.items():
        charts = [one for one in report["charts"] if one["query"] == query]
        for one in charts:
            operators = one["operators"]
            chart = Chart.of(*((time, size) for time, size in one["points"]))
            path = Path(one["source"], query, tuple(range(len(operators))), chart)
            first, *rest = chart_lines(path, operators)
            yield f"{first}, as measured in lane {lane}"
            yield from rest
        if charts:
            return
