"""Counting, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.state.compiled import compiled

if TYPE_CHECKING:
    from penstock.operators.aggregate.accumulators.events import Int8s, Int64s


@compiled
def count(
    groups: Int64s,
    weights: Int8s | Int64s,
    points: Int64s,
    counts: Int64s,
    column: int,
    out: Int64s,
) -> None:
    """Add the weights to a column of the groups' counts; `out` gets the counts at the points."""
    at = 0
    for i in range(groups.size):
        counts[groups[i], column] += weights[i]
        if at < points.size and points[at] == i:
            out[at] = counts[groups[i], column]
            at += 1
