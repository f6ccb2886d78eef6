"""Rows that were shed, counted for each query that would have read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.plan import different_nodes
from penstock.algebra.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.lane_host.work import Done
    from penstock.pipeline.bound import BoundPlan

Shed = dict[str, dict[str, int]]
"""By query and stream, how many rows were shed."""


def shed_of_queries(
    before: Mapping[str, dict[str, int]], plan: BoundPlan, done: Sequence[Done]
) -> Shed:
    """The counts after a batch, by query and stream."""
    new: dict[str, int] = {}
    for one in done:
        for stream, counts in one.streams.items():
            if counts.shed:
                new[stream] = new.get(stream, 0) + counts.shed
    counted = {query: dict(streams) for query, streams in before.items()}
    if not new:
        return counted
    for group in plan.groups.values():
        for query, logical in group.plans.items():
            for name in {
                n.name for n in different_nodes(logical) if isinstance(n, Stream)
            } & new.keys():
                own = counted.setdefault(query, {})
                own[name] = own.get(name, 0) + new[name]
    return counted
