"""The facts about retained rows: how much of each stream can be asked about."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.catalog.retain_rules import rule_of
from penstock.planner.reach import longest_windows
from penstock.store.pins import oldest_pin
from penstock.store.sub_windows.piece_files import read_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from penstock.session import Session
    from penstock.store.layout import Home
    from penstock.store.records import Record


@dataclass(frozen=True)
class RetainedFacts:
    """The retained rows of a stream.

    Attributes:
        rule: How long rows are kept, as RETAIN writes it.
        is_declared: Whether RETAIN or SET retain says so; else it is the longest window of queries.
        since: All rows from this instant on are there; None: none is missing.
        sub_windows: Those that have rows in files of their own.
        rows: The rows in these.
        bytes: Their bytes.
        unsealed_bytes: Bytes of logs whose rows are not in them yet, of all streams in these logs.
        oldest_pin: Seconds since the oldest reader began that still reads; None if nobody does.
    """

    stream: str
    rule: str
    is_declared: bool
    since: str | None
    sub_windows: int
    rows: int
    bytes: int
    unsealed_bytes: int
    oldest_pin: float | None


def retained_facts(
    home: Home, record: Record, session: Session, running: Collection[str]
) -> Iterator[RetainedFacts]:
    """The retained rows of each stream.

    Args:
        home: The home.
        record: Its newest record.
        session: What is declared.
        running: The names of the queries that run.

    Raises:
        DataError: The list of a stream's pieces is missing or damaged.
    """
    queries = [one for one in session.catalog if isinstance(one, QueryDefinition)]
    windows = [longest_windows(one.plan) for one in queries if one.name in running]
    pin = oldest_pin(home)
    for name, kept in record.retained.items():
        found = session.catalog.get(name)
        if not isinstance(found, StreamDefinition):
            continue
        longest = max((one.get(name, 0) for one in windows), default=0)
        rule, is_declared = rule_of(found, session.settings.store.retain, longest)
        sealed = read_list(home.segments, kept.pieces).pieces if kept.pieces else ()
        yield RetainedFacts(
            stream=name,
            rule=rule.text(found.unit, is_declared=is_declared),
            is_declared=is_declared,
            since=found.unit.format(kept.since) if kept.is_incomplete else None,
            sub_windows=len({one.number for one in sealed}),
            rows=sum(one.rows for one in sealed),
            bytes=sum(one.nbytes for one in sealed),
            unsealed_bytes=sum(one.bytes for one in record.unsealed if name in one.last),
            oldest_pin=None if pin is None else max(0.0, time.time() - pin),
        )
