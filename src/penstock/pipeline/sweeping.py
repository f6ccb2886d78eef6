"""Records and files that nobody needs any more are removed."""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.lane_host.plan_files import physical_files
from penstock.pipeline.retained_files import pinned_files, retained_files
from penstock.store.layout import number_of
from penstock.store.pins import pinned_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from penstock.store.layout import Home
    from penstock.store.records import Record


@dataclass(frozen=True)
class Retention:
    """The limits of what is kept, and for how long.

    Attributes:
        seconds: Results, and the records that name them, are kept so long,
        records: unless they are more than so many.
        grace: A file that no record names is kept so long: a task may be writing it.
        fold_bytes: Results are folded when so many bytes of them have come,
        fold_records: or so many records.
        seal_bytes: Rows are put into sub-windows when so many bytes of logs have them.
        warn_free: If less of the disk is free, that is told,
        least_free: and retained rows are given up, the oldest first, if less is left than this.
    """

    seconds: float = 3600.0
    records: int = 20_000
    grace: float = 120.0
    fold_bytes: int = 64 << 20
    fold_records: int = 1000
    seal_bytes: int = 64 << 20
    warn_free: int = 1 << 30
    least_free: int = 256 << 20


def sweep(home: Home, record: Record, retention: Retention, now: float | None = None) -> list[Path]:
    """Remove records and files that are no longer needed; the files removed.

    Records are removed, oldest first, if they are older than the retention, or too many, and their
    results have been folded and written to all sinks. A file is removed when no record that is
    left needs it and its grace is over. The names of files tell by which record they came, so
    records need not be read for that; what comes by a later record than `record` is left alone,
    as a micro-batch may run.
    """
    now = time.time() if now is None else now
    oldest = _oldest_kept(home, record, retention, now)
    state = state_of(record) | retained_files(home, record) | set(oldest.results)
    state |= pinned_files(home)
    # A group that runs in any record between runs in the oldest, or came by a later one.
    plans = {oldest.plan, record.plan}
    plans |= {file for name in plans for file in physical_files(home, name)}

    def is_needed_segment(name: str, number: int) -> bool:
        if name.endswith(".results"):
            return number >= oldest.number or name in state
        if name.endswith(".content"):
            return number >= oldest.number - 1
        return name in state

    def is_needed_plan(name: str, number: int) -> bool:
        return number >= oldest.number or name in plans

    before = now - retention.grace
    return [
        *_removed(home.segments, record.number, before, is_needed_segment),
        *_removed(home.plans, record.number, before, is_needed_plan),
        *_removed_drafts([home.path / "records", home.plans], before),
    ]


def _oldest_kept(home: Home, record: Record, retention: Retention, now: float) -> Record:
    """Remove old records; the oldest that is left."""
    numbers = home.chain.numbers()
    # Who reads a record reads results of it, and of those before.
    pinned = min(pinned_records(home), default=sys.maxsize)
    last = min(record.folded_up_to, _written_to_sinks(home), pinned - 1)
    place, excess = 0, len(numbers) - retention.records
    while place + 1 < len(numbers) and numbers[place] <= last:
        following = numbers[place + 1]
        if place >= excess and home.chain.read(following).written_at > now - retention.seconds:
            break
        home.chain.remove(numbers[place])
        place += 1
    return home.chain.read(numbers[place])


def _removed(
    folder: Path, newest: int, before: float, is_needed: Callable[[str, int], bool]
) -> Iterator[Path]:
    """Remove files that came by a record, are old enough, and are not needed."""
    with os.scandir(folder) as entries:
        for entry in entries:
            number = number_of(entry.name)
            if number is None or number > newest or is_needed(entry.name, number):
                continue
            with suppress(FileNotFoundError):
                if entry.stat().st_mtime < before:
                    os.unlink(entry.path)
                    yield folder / entry.name


def _removed_drafts(folders: Iterable[Path], before: float) -> Iterator[Path]:
    """Remove what was being written when a process ended."""
    for folder in folders:
        for path in folder.glob(".*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
                    yield path


def _written_to_sinks(home: Home) -> int:
    """Up to which record all sinks have been written."""
    return min(records_of_sinks(home), default=sys.maxsize)


def records_of_sinks(home: Home) -> list[int]:
    """For each sink, up to which record it has been written."""
    return [one["record"] for one in _progress_of_sinks(home)]


def newest_in_sinks(home: Home) -> int:
    """The newest record whose results a sink has, or is about to show; -1 if none."""
    found = _progress_of_sinks(home)
    return max((max(one["record"], one.get("publishing_to") or -1) for one in found), default=-1)


def _progress_of_sinks(home: Home) -> list[dict[str, Any]]:
    paths = home.sinks.glob("[!.]*.json") if home.sinks.is_dir() else ()
    return [json.loads(path.read_text("utf-8")) for path in paths]


def state_of(record: Record) -> set[str]:
    """The files that make the state as of a record, and the rows that were not taken in."""
    names = {one.file for one in record.aside}
    for state in record.lanes.values():
        names.update(state.logs)
        names.update({state.image} if state.image else ())
    for read in record.files.values():
        names.update(read.listed)
    for relation in record.relations.values():
        names.update(relation.changes)
    for changes in record.pending.values():
        names.update(name for files in changes.values() for name in files)
    return names
