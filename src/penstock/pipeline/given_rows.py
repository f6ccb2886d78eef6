"""The rows that a new group of queries is given of the past, and what that makes of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.definitions import QueryDefinition
from penstock.pipeline.retained_windows import retained_windows
from penstock.planner.exactness import GivenRows, exact_from
from penstock.store.records import RelationProgress, StreamProgress
from penstock.store.sub_windows.column_ranges import INSTANT
from penstock.store.sub_windows.piece import instants_of

if TYPE_CHECKING:
    from penstock.pipeline.bound import BoundGroup, BoundPlan
    from penstock.session import Session
    from penstock.store.layout import Home
    from penstock.store.records import Record


def start_of_past(group: BoundGroup, session: Session) -> int:
    """The instant from which on its queries see retained rows; INFINITY: they see none."""
    query = session.catalog.find(next(iter(group.group.runs.values())), "query")
    assert isinstance(query, QueryDefinition)
    return BEGINNING if query.start is None else query.start


def sees_past_of(stream: str, plan: BoundPlan, group: BoundGroup) -> bool:
    """A group is given the rows that a stream retains."""
    return group.group.reads_queries or plan.rules[stream][1]


def exact_by_query(
    home: Home, record: Record, plan: BoundPlan, group: BoundGroup
) -> dict[str, int]:
    """For each query, from which instant on its answers are those of one that had always run.

    Raises:
        DataError: Retained rows cannot be read.
    """
    start = start_of_past(group, plan.session)
    since = {name: _since(record, plan, group, name, start) for name in group.streams}

    def instant_of(stream: str, number: int) -> int | None:
        if not sees_past_of(stream, plan, group) or start == INFINITY:
            return None
        found = [
            instants_of(one.table([])[INSTANT].combine_chunks())
            for one in retained_windows(home, record, plan, stream)
        ]
        ts = np.concatenate(found) if found else np.zeros(0, np.int64)
        ts = np.sort(ts[ts >= since[stream]])
        return int(ts[number - 1]) if len(ts) >= number else None

    # A group without rows from before is told what relations have been, all the same.
    relations = {
        name: record.relations.get(name, RelationProgress()).since for name in group.relations
    }
    given = GivenRows(since, relations, instant_of)
    return {name: exact_from(logical, given) for name, logical in group.plans.items()}


def _since(record: Record, plan: BoundPlan, group: BoundGroup, stream: str, start: int) -> int:
    """The instant from which on all rows of a stream are seen."""
    kept = record.retained.get(stream)
    if kept is not None and start != INFINITY and sees_past_of(stream, plan, group):
        return max(kept.since, start)
    latest = record.streams.get(stream, StreamProgress()).latest
    return BEGINNING if latest == BEGINNING else latest + 1
