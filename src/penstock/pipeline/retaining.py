"""Retained rows in records: the streams that have some, and the logs that are still needed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.store.records import RetainedProgress, StreamProgress, UnsealedLog

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from penstock.lane_host.work import Done
    from penstock.pipeline.bound import BoundPlan
    from penstock.store.records import Record


def retained_after(
    record: Record, before: BoundPlan, plan: BoundPlan
) -> dict[str, RetainedProgress]:
    """The streams that keep rows when another plan runs.

    One that has kept none so far keeps those from then on.
    """
    found = {}
    for name, (rule, _) in plan.rules.items():
        if rule.is_none:
            continue
        is_known = before.session.catalog.get(name) == plan.session.catalog.get(name)
        was_kept = record.retained.get(name)
        if was_kept is not None and is_known:
            found[name] = was_kept
        else:
            latest = record.streams[name].latest if name in record.streams else BEGINNING
            since = latest + 1 if is_known and latest > BEGINNING else BEGINNING
            found[name] = RetainedProgress(since=since)
    return found


def floor_of(record: Record, plan: BoundPlan, stream: str) -> int:
    """Rows of a stream before this instant are older than its retention."""
    span = plan.rules[stream][0].span
    watermark = record.streams.get(stream, StreamProgress()).watermark
    is_known = span < INFINITY and watermark > BEGINNING + span
    return watermark - span if is_known else BEGINNING


def retained_from(record: Record, plan: BoundPlan) -> int:
    """Rows of all streams before this instant are older than their retention."""
    return min((floor_of(record, plan, name) for name in record.retained), default=INFINITY)


def after_batch(record: Record, done: Sequence[Done], plan: BoundPlan) -> dict[str, Any]:
    """The words of the next record on logs with rows that are not in sub-windows yet.

    Those that have only rows which are too old by now are left out.
    """
    if not record.retained:
        return {}
    floors = {name: floor_of(record, plan, name) for name in record.retained}
    unsealed, retained = [], dict(record.retained)
    for one in (*record.unsealed, *_new(done, floors)):
        if any(last >= floors.get(name, INFINITY) for name, last in one.last.items()):
            unsealed.append(one)
            continue
        for name in one.last.keys() & retained.keys():
            known = retained[name]
            retained[name] = replace(known, since=max(known.since, one.last[name] + 1))
    return {"unsealed": tuple(unsealed), "retained": retained}


def _new(done: Sequence[Done], retained: Collection[str]) -> Iterator[UnsealedLog]:
    """The logs of a batch that have rows of streams that keep them."""
    for one in done:
        last = {name: n.latest for name, n in one.streams.items() if name in retained and n.rows}
        if last:
            yield UnsealedLog(*one.log, last)
