"""Observation of a pipeline from outside: plain facts, read from the files of its home.

Nothing is written, and nothing waits for the pipeline, which may run or not. What counts comes from
the newest commit record and its plan; how the last batch went, from the status beside them.
"""

from __future__ import annotations

import fcntl
import json
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING, INFINITY, TimeUnit
from penstock.algebra.values import format_timestamp
from penstock.catalog.definitions import QueryDefinition, StreamDefinition
from penstock.catalog.setting_notes import notes_on_settings
from penstock.errors import DataError
from penstock.observe.disk_use import disk_use
from penstock.observe.facts import (
    ConditionFacts,
    Facts,
    Instant,
    OperatorFacts,
    ProbeFacts,
    QueryFacts,
    SourceFacts,
    StreamFacts,
)
from penstock.observe.lag import lag_of
from penstock.observe.retained_facts import retained_facts
from penstock.observe.sink_facts import sink_facts
from penstock.observe.status import read_status
from penstock.observe.work_facts import WorkFacts, work_facts
from penstock.planner.statistics.measuring import (
    conditions_seen,
    per_step,
    selectivity_of,
    span_of,
    streams_seen,
)
from penstock.scheduling.work_notes import notes_on_work
from penstock.session import Session
from penstock.store.bundles import Bundle
from penstock.store.processes import is_alive
from penstock.store.records import FilesRead
from penstock.store.rejected_rows import read_rejected

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from penstock.observe.status import Status
    from penstock.store.layout import Home
    from penstock.store.records import Record

Lanes = dict[str, list[dict[str, Any]]]
"""The words of the operators of each lane."""
_REPORTED = ("label", "rows_in", "rows_out", "state_rows", "state_bytes", "seconds")


class Observer:
    """Looks at a home, once or again and again; what does not change is read once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._plan: tuple[str, _Plan] | None = None

    def look(self) -> Facts:
        """The facts as they are now.

        Raises:
            DataError: The folder is missing, is no home, or cannot be read.
        """
        try:
            try:
                return self._look()
            except FileNotFoundError:
                # Files that a record names go some time after the record is not the newest.
                return self._look()
        except OSError as fault:
            msg = f"the home {self._home.path} cannot be read: {fault}"
            raise DataError(msg, hint="See that its files are there, and may be read.") from fault

    def _look(self) -> Facts:
        record, records = _newest(self._home)
        plan = self._understood(record)
        status, notes = _status(self._home)
        is_taken = _is_taken(self._home.path / "lock")
        # A process that has just taken the home leaves the status of the one before it in place.
        speaker = status if status and is_taken and is_alive(status.process) else None
        return Facts(
            home=str(self._home.path),
            seen_at=time.time(),
            is_taken=is_taken,
            process=speaker.process if speaker else None,
            takes_rows=speaker.is_running if speaker else None,
            record=record.number,
            kind=record.kind,
            records=records,
            committed_at=record.written_at,
            status_at=status.written_at if status else None,
            status_record=status.record if status else None,
            queries=tuple(_queries(plan, record, _new_results(self._home, record))),
            streams=tuple(_streams(plan, record, status.operators if status else {})),
            operators=tuple(_operators(plan, status.operators)) if status else (),
            work=work_facts(status, plan.latencies) if status else WorkFacts(),
            conditions=tuple(_conditions(status.operators)) if status else (),
            batch_rows=status.batch_rows if status else 0,
            batch_seconds=status.seconds if status else {},
            reading=status.reading if status else "",
            durations=status.batches if status else None,
            sources=tuple(_sources(record, status.found if status else {})),
            errors=tuple(status.errors) if status else (),
            disk=disk_use(self._home),
            notes=(*notes, *_notes(plan, status)),
            paused=status.paused if status else {},
            sinks=tuple(sink_facts(status)) if status else (),
            sink_seconds=status.sink_seconds if status else 0.0,
            retained=tuple(retained_facts(self._home, record, plan.session, plan.groups)),
        )

    def late(self, stream: str) -> pa.Table:
        """The rows of a stream that were not taken in, oldest first, each with its `_reason`.

        Raises:
            DataError: The folder is missing, is no home, or cannot be read.
            UnknownName: There is no such stream.
        """
        record, _ = _newest(self._home)
        found = self._understood(record).session.catalog.find(stream, "stream")
        assert isinstance(found, StreamDefinition)
        return read_rejected(self._home, record.aside, found.name, found.schema)

    def _understood(self, record: Record) -> _Plan:
        if self._plan is None or self._plan[0] != record.plan:
            self._plan = (record.plan, _read_plan(self._home.plans / record.plan))
        return self._plan[1]


@dataclass(frozen=True)
class _Plan:
    """The declarations of a plan; `groups` has the number and the lanes of each query's group.

    `exact` has the instants from which on queries answer as if they had always run, `catching_up`
    the queries that are fed retained rows.
    """

    session: Session
    groups: Mapping[str, tuple[int, int]]
    exact: Mapping[str, int]
    catching_up: frozenset[str]

    @property
    def latencies(self) -> dict[str, float]:
        """The seconds that queries allow."""
        found = [one for one in self.session.catalog if isinstance(one, QueryDefinition)]
        return {one.name: one.latency for one in found if one.latency is not None}

    def unit(self, stream: str) -> TimeUnit:
        found = self.session.catalog.get(stream)
        return found.unit if isinstance(found, StreamDefinition) else TimeUnit.TICK

    def unit_of_group(self, number: int) -> TimeUnit:
        """That of a query that is cut into fragments, which is alone in its group."""
        for name, (group, _) in self.groups.items():
            found = self.session.catalog.get(name)
            if group == number and isinstance(found, QueryDefinition) and found.plan.unit:
                return found.plan.unit
        return TimeUnit.TICK


def _read_plan(path: Path) -> _Plan:
    """Understand the statements of a plan; its operators, which take long to load, are not made."""
    try:
        values = json.loads(path.read_text("utf-8"))
        statements, groups = values["statements"], values["groups"]
    except (ValueError, KeyError) as fault:
        msg = f"the plan {path} cannot be read: {fault}"
        raise DataError(msg, hint="Restore the home from a backup.") from fault
    session = Session()
    for text in statements:
        session.execute(text)
    return _Plan(
        session,
        {query: (one["number"], one["lanes"]) for one in groups for query in one["queries"]},
        {query: exact for one in groups for query, exact in one.get("exact", {}).items()},
        frozenset(query for one in groups if one.get("catches_up") for query in one["queries"]),
    )


def _notes(plan: _Plan, status: Status | None) -> list[str]:
    notes = notes_on_settings(plan.session.settings.work, plan.session.catalog)
    if status is None:
        return notes
    budget = plan.session.settings.work.lane_budget
    return [*notes, *notes_on_work(status.work, plan.latencies, budget)]


def _newest(home: Home) -> tuple[Record, int]:
    """The newest record, and how many there are."""
    if not home.path.is_dir():
        msg = f"there is no folder {home.path}"
        raise DataError(msg, hint="Name the home that the pipeline was started with.")
    numbers = home.chain.numbers()
    if not numbers:
        msg = f"{home.path} is not the home of a pipeline: it has no commit records"
        raise DataError(msg, hint="Name the home that the pipeline was started with.")
    return home.chain.read(numbers[-1]), len(numbers)


def _status(home: Home) -> tuple[Status | None, tuple[str, ...]]:
    """The status, if there is one; it is only for information, so a strange one does no harm."""
    try:
        return read_status(home), ()
    except (ValueError, TypeError, KeyError):
        return None, ("the status cannot be read: another version of Penstock wrote it",)


def _is_taken(lock: Path) -> bool:
    """A process has the home for itself; asked by taking part in the lock for a moment."""
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _instant(number: int, unit: TimeUnit) -> Instant:
    if number <= BEGINNING:
        return Instant("start")
    if number >= INFINITY:
        return Instant("end")
    if unit.micros is None:
        return Instant(unit.format(number), number)
    micros = number * unit.micros
    return Instant(unit.format(number), number, format_timestamp(micros), micros / 1e6)


def _streams(plan: _Plan, record: Record, lanes: Lanes) -> Iterator[StreamFacts]:
    measured = streams_seen(lanes)
    for name, one in record.streams.items():
        unit = plan.unit(name)
        seen = measured.get(name)
        yield StreamFacts(
            name=name,
            unit=unit.value,
            rows=one.rows,
            late=one.late,
            aside=one.aside,
            forgotten=one.forgotten,
            watermark=_instant(one.watermark, unit),
            latest=_instant(one.latest, unit),
            shed=one.shed,
            rate=_per_second(seen.rate if seen else None, unit),
            values={k: round(v) for k, v in seen.values.items()} if seen else {},
        )


def _sources(record: Record, found: Mapping[str, int]) -> Iterator[SourceFacts]:
    """The streams of which something is known; `found` counts files when the status was written."""
    for name in record.streams:
        if name in record.offsets:
            yield SourceFacts(name, record.offsets[name])
        elif name in record.files or name in found:
            count = record.files.get(name, FilesRead()).count
            waiting = max(0, found[name] - count) if name in found else None
            yield SourceFacts(name, None, count, waiting)


def _per_second(rate: float | None, unit: TimeUnit) -> float | None:
    """Of rows in a step of time those in a second, or in a tick."""
    if rate is None or unit.micros is None:
        return rate
    return rate * 1e6 / unit.micros


def _queries(
    plan: _Plan, record: Record, results: Mapping[str, int] | None
) -> Iterator[QueryFacts]:
    for found in plan.session.catalog:
        if not isinstance(found, QueryDefinition):
            continue
        group, lanes = plan.groups.get(found.name, (None, 0))
        unit = found.plan.unit or TimeUnit.TICK
        clock = record.clocks.get(found.name, BEGINNING)
        lag = lag_of(record, found) if group is not None else None
        exact = plan.exact.get(found.name, BEGINNING)
        yield QueryFacts(
            name=found.name,
            text=" ".join(found.text.split()),
            group=group,
            lanes=_most_lanes(record, group) or lanes,
            unit=unit.value,
            clock=_instant(clock, unit),
            lag=lag,
            lag_seconds=None if lag is None or unit.micros is None else lag * unit.micros / 1e6,
            new_results=None if results is None else results.get(found.name, 0),
            failures=record.failures.get(found.name, {}),
            shed=record.shed.get(found.name, {}),
            exact_from=None if exact == BEGINNING else _instant(exact, unit),
            catches_up=found.name in plan.catching_up,
        )


def _most_lanes(record: Record, group: int | None) -> int:
    """On how many lanes the fragments of a group run, the widest of them; 0 if none has run."""
    counts = Counter(name.rpartition(".")[0] for name in record.lanes)
    return max((n for name, n in counts.items() if name.startswith(f"{group}.")), default=0)


def _operators(plan: _Plan, lanes: Lanes) -> Iterator[OperatorFacts]:
    for name, reports in sorted(lanes.items(), key=lambda one: _lane(one[0])):
        group, fragment, lane = _lane(name)
        # A lane that reads only what others send goes by what came to them.
        beside = [one for other, said in lanes.items() if _lane(other)[0] == group for one in said]
        reads_streams = any(values.get("reads") for values in reports)
        for number, values in enumerate(reports):
            reads = values.get("reads", ())
            unit = plan.unit(reads[0]) if reads else plan.unit_of_group(group)
            span = span_of(reports, reads) if reads_streams else span_of(beside)
            pairs = values.get("pairs") or (None, None)
            withdrawn, out = values.get("withdrawn", 0), values["rows_out"]
            yield OperatorFacts(
                group=group,
                fragment=fragment,
                lane=lane,
                number=number,
                **{key: values[key] for key in _REPORTED},
                withdrawn=withdrawn,
                withdrawn_share=withdrawn / out if out else None,
                rate=_per_second(per_step(out, span), unit),
                per="tick" if unit.micros is None else "second",
                selectivity=selectivity_of(values),
                predicate=values.get("predicate"),
                pairs_tested=pairs[0],
                pairs_held=pairs[1],
                made_of=values.get("made_of"),
                structures=tuple(values.get("structures", ())),
                probes=tuple(ProbeFacts(**one) for one in values.get("probes", ())),
                reordered=values.get("reordered", 0),
            )


def _conditions(lanes: Lanes) -> Iterator[ConditionFacts]:
    for condition, seen in sorted(conditions_seen(lanes).items()):
        yield ConditionFacts(
            condition, seen.asked, seen.held, seen.share, seen.of_pairs, seen.is_exact
        )


def _lane(name: str) -> tuple[int, int, int]:
    """The group, the fragment and the lane that a name such as `0.0.1` stands for."""
    group, fragment, lane = map(int, name.split("."))
    return group, fragment, lane


def _new_results(home: Home, record: Record) -> Mapping[str, int] | None:
    """Rows by query in the results that a record added; None if they are gone meanwhile."""
    found: Counter[str] = Counter()
    try:
        for name in record.results:
            bundle = Bundle(home.segments / name)
            for part in bundle.names:
                kind, _, query = part.partition("/")
                if kind == "query":
                    found[query] += bundle.table(part).num_rows
    except DataError:
        return None
    return found
