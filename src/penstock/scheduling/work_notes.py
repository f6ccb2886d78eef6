"""Notes on budgets and latencies that lanes cannot keep, each with what would be possible."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.scheduling.chart_text import time_text

if TYPE_CHECKING:
    from collections.abc import Mapping


def notes_on_work(
    reports: Mapping[str, Mapping[str, Any]], allowed: Mapping[str, float], budget: float | None
) -> list[str]:
    """Sentences without their full stop.

    Args:
        reports: By lane, its work report; nothing is known of lanes without one.
        allowed: By query, the seconds that it allows.
        budget: The seconds that a lane has in a micro-batch.
    """
    told = [one for one in reports.values() if one]
    steps = [one["least_step"] for one in told if one["least_step"] is not None]
    notes = []
    if budget is not None and steps and budget < min(steps):
        notes.append(
            f"lane_budget is {time_text(budget)}, and the shortest step of an operator took"
            f" {time_text(min(steps))}: each batch does one step, however long. Set at least that"
        )
    charts = [chart for one in told for chart in one["charts"]]
    for query, seconds in allowed.items():
        longest = max((one["points"][-1][0] for one in charts if one["query"] == query), default=0)
        if longest > seconds:
            notes.append(
                f'query "{query}" allows a latency of {time_text(seconds)}, and the work for one'
                f" block takes {time_text(longest)}: its results are later. Allow at least that"
            )
    return notes
