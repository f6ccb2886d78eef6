"""Progress of streams, relations and results that the tasks of a batch tell of."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import INFINITY
from penstock.catalog.definitions import StreamDefinition
from penstock.errors import InternalError
from penstock.lane_host.group_clocks import least_clocks
from penstock.runtime.lateness import watermark_after
from penstock.store.records import RelationProgress, StreamProgress

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from penstock.lane_host.work import Done
    from penstock.pipeline.bound import BoundPlan
    from penstock.store.records import Record


def require_all(done: Sequence[Done], tasks: int, stages: int) -> None:
    """Make sure that each task of each stage has answered.

    Raises:
        InternalError: One has not.
    """
    if sorted(one.task for one in done) != sorted(stages * list(range(tasks))):
        msg = f"{len(done)} of {stages * tasks} tasks answered"
        raise InternalError(msg)


def streams_after(
    record: Record,
    plan: BoundPlan,
    done: Sequence[Done],
    forgotten: Mapping[str, int],
    read: Collection[str],
    holds: Mapping[str, int],
) -> dict[str, StreamProgress]:
    """The streams after a batch.

    Args:
        record: The record before it.
        plan: The plan that runs.
        done: What the tasks say.
        forgotten: How many rows that were not taken in are kept no more, by stream.
        read: The streams of which files have been read.
        holds: The earliest row of a stream in files that wait.
    """
    streams = dict(record.streams)
    for one in done:
        for name, counts in one.streams.items():
            before = streams[name]
            latest = max(before.latest, counts.latest)
            streams[name] = StreamProgress(
                max(before.watermark, _watermark(plan, name, latest, holds)),
                latest,
                before.rows + counts.rows,
                before.late + counts.late,
                before.aside + counts.aside,
                before.forgotten,
                max(before.late_by, counts.late_by),
                before.shed + counts.shed,
            )
    for name in read:
        # What held the watermark may have been a file without rows.
        before = streams[name]
        reached = max(before.watermark, _watermark(plan, name, before.latest, holds))
        streams[name] = replace(before, watermark=reached)
    # What is not declared any more is not counted, either.
    for name in forgotten.keys() & streams.keys():
        before = streams[name]
        streams[name] = replace(before, forgotten=before.forgotten + forgotten[name])
    return streams


def _watermark(plan: BoundPlan, stream: str, latest: int, holds: Mapping[str, int]) -> int:
    definition = plan.session.catalog.find(stream, "stream")
    assert isinstance(definition, StreamDefinition)
    return watermark_after(latest, definition.slack, holds.get(stream, INFINITY))


def relations_after(record: Record, done: Sequence[Done]) -> dict[str, RelationProgress]:
    """The relations, with how far the lanes of each group have looked at them."""
    relations = dict(record.relations)
    for one in done:
        for group, clocks in one.relations.items():
            for name, clock in clocks.items():
                known = relations[name]
                reached = max(clock, known.groups.get(group, clock))
                relations[name] = replace(known, groups={**known.groups, group: reached})
    return relations


def reached_after(record: Record, plan: BoundPlan, done: Sequence[Done]) -> dict[str, Any]:
    """Results, clocks and failures of all tasks together, as words of the next record."""
    groups = {number: one.results for number, one in plan.groups.items()}
    failures: dict[str, Counter[str]] = {}
    rows = Counter(record.result_rows)
    for one in done:
        rows.update(one.result_rows)
        for query, counts in one.failures.items():
            failures.setdefault(query, Counter()).update(counts)
    return {
        "results": tuple(one.results for one in done if one.results),
        "clocks": least_clocks((one.clocks for one in done), groups),
        "failures": {query: dict(counts) for query, counts in failures.items()},
        "result_rows": dict(rows),
    }
