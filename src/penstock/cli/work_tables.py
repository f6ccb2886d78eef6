"""Tables of `penstock status` about lanes that have a budget: queues, latencies, charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cli.tables import size, table

if TYPE_CHECKING:
    from rich.table import Table

    from penstock.observe.work_facts import ChartFacts, WorkFacts


def queues(work: WorkFacts) -> Table:
    """The queues of each lane."""
    made = table("lane", "scheduler", "waiting rows", "waiting", "at peak", left=(0, 1))
    for one in work.queues:
        made.add_row(
            one.lane, one.scheduler, f"{one.rows:,}", size(one.bytes), size(one.peak_bytes)
        )
    return made


def intake(work: WorkFacts) -> Table:
    """The rows that are taken in at once, and how many of them stay; none without queues."""
    made = table("rows at once", "of these stay", "batches without rows before", left=(1,))
    if work.queues:
        rows = "all" if work.intake is None else f"{work.intake:,}"
        stay = "all" if work.one_in == 1 else f"one in {work.one_in:,}"
        made.add_row(rows, stay, f"{work.held_back:,}")
    return made


def latencies(work: WorkFacts) -> Table:
    """The time that blocks took."""
    made = table("query", "blocks", "median", "95 %", "99 %", "allowed", left=(0,))
    for one in work.latencies:
        seconds = [_time(part) for part in (one.median, one.p95, one.p99)]
        allowed = "-" if one.allowed is None else _time(one.allowed)
        made.add_row(one.query, f"{one.blocks:,}", *seconds, allowed)
    return made


def charts(work: WorkFacts) -> Table:
    """Progress charts, a line for each operator: its chain, and what is left of a block then."""
    made = table(
        "lane", "path", "operator", "seconds", "left", "chain", "priority", left=(0, 1, 2, 5)
    )
    for chart in work.charts:
        way = f"{chart.source} to {chart.query}"
        for operator, (time, left), number, slope in _operators(chart):
            made.add_row(
                chart.lane, way, operator, f"{time:.3g}", f"{left:.3g}", str(number), f"{slope:.3g}"
            )
    return made


def _operators(chart: ChartFacts) -> list[tuple[str, tuple[float, float], int, float]]:
    """The operators of a path: the point behind each, its chain, and the slope of that."""
    chains = [
        (number, slope) for number, (members, slope) in enumerate(chart.chains) for _ in members
    ]
    parts = zip(chart.operators, chart.points[1:], chains, strict=True)
    return [(operator, point, *chain) for operator, point, chain in parts]


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
