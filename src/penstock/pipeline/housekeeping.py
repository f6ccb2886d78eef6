"""Housekeeping: old results are folded, and files that nobody needs any more are removed."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.algebra.operators import Final
from penstock.algebra.streams import RelationToStream
from penstock.home.bundles import write_bundle
from penstock.home.contents import folded
from penstock.home.records import Content
from penstock.home.results import content_blocks, result_blocks
from penstock.operators.block import to_table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import pyarrow as pa

    from penstock.home.layout import Home
    from penstock.home.records import Record
    from penstock.operators.block import Block
    from penstock.pipeline.ledger import Ledger
    from penstock.pipeline.plans import BoundPlan


@dataclass(frozen=True)
class Retention:
    """What is kept, and for how long.

    Attributes:
        seconds: Results, and the records that name them, are kept at least so long.
        grace: A file that no record names is kept so long: a task may be writing it.
        fold_bytes: Results are folded when so many bytes of them have come.
    """

    seconds: float = 3600.0
    grace: float = 120.0
    fold_bytes: int = 64 << 20


def content_due(home: Home, record: Record, retention: Retention) -> bool:
    """Whether the results since they were last folded are so many that it pays."""
    folded_at = record.content.record if record.content else -1
    size = sum(
        (home.segments / name).stat().st_size
        for one in home.chain.since(folded_at + 1)
        for name in one.results
    )
    before = record.content.bytes if record.content else 0
    return size > max(retention.fold_bytes, 2 * before)


def fold(home: Home, ledger: Ledger, record: Record) -> Content:
    """Write what is left of all results up to a record."""
    plan = ledger.plan
    tables: dict[str, pa.Table] = {}
    for query in _relations(plan):
        if query not in record.clocks:
            continue
        found = folded(list(_elements(home, record, query)), record.clocks[query])
        if found is not None:
            tables[f"query/{query}"] = to_table(found, plan.columns(query))
    name = home.new_segment(record.number, 0, "content")
    write_bundle(home.segments / name, tables, {"clocks": record.clocks})
    return Content(name, record.number, (home.segments / name).stat().st_size)


def _relations(plan: BoundPlan) -> Iterable[str]:
    """The queries that have a content, rather than send rows."""
    for group in plan.groups.values():
        for query, logical in group.plans.items():
            if not isinstance(logical, RelationToStream | Final):
                yield query


def _elements(home: Home, record: Record, query: str) -> Iterable[Block]:
    start = 0
    if record.content is not None:
        start = record.content.record + 1
        yield from content_blocks(home, record.content, query)
    for one in home.chain.since(start):
        if one.number <= record.number and one.kind != "flush":
            yield from result_blocks(home, one, query)


def sweep(home: Home, record: Record, retention: Retention, now: float | None = None) -> list[Path]:
    """Remove records and files that are no longer needed; the files removed.

    Records are removed, oldest first, if they are older than the retention and their results have
    been folded and written to all sinks. A file is removed when no record that is left needs it
    and its grace is over.
    """
    now = time.time() if now is None else now
    kept = [home.chain.read(number) for number in home.chain.numbers()]
    folded_at = min(record.content.record if record.content else -1, _written_to_sinks(home))
    while len(kept) > 1 and kept[0].number <= folded_at:
        if kept[1].written_at > now - retention.seconds:
            break
        home.chain.remove(kept.pop(0).number)
    needed = _needed(kept, record)
    removed = []
    for folder, names in ((home.segments, needed), (home.plans, {one.plan for one in kept})):
        for path in folder.iterdir():
            if path.name not in names and path.stat().st_mtime < now - retention.grace:
                path.unlink(missing_ok=True)
                removed.append(path)
    return removed


def _written_to_sinks(home: Home) -> int:
    """Up to which record all sinks have been written."""
    paths = home.sinks.glob("*.json") if home.sinks.is_dir() else ()
    numbers = [json.loads(path.read_text("utf-8"))["record"] for path in paths]
    return min(numbers, default=sys.maxsize)


def _needed(kept: Iterable[Record], record: Record) -> set[str]:
    """The segments that some record needs: state only of the newest, results of all."""
    names: set[str] = set()
    for one in kept:
        names.update(one.results)
        if one.content is not None:
            names.add(one.content.file)
    for state in record.lanes.values():
        names.update(state.logs)
        names.update({state.image} if state.image else ())
    for relation in record.relations.values():
        names.update(relation.changes)
    for changes in record.pending.values():
        names.update(name for files in changes.values() for name in files)
    return names
