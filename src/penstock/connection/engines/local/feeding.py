"""The inputs of queries: the ways in of streams, the content of relations, batches of queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.connection.engines.local.batch import Batch, Options, joined, within
from penstock.connection.engines.local.file_feeding import place_among, unreadable_rows
from penstock.connection.engines.local.local_retention import LocalRetention
from penstock.connection.engines.local.rejected_counts import RejectedCounts
from penstock.connection.relation_content import RelationContent
from penstock.connection.relation_log import RelationLog
from penstock.planner.exactness import GivenRows, exact_from
from penstock.runtime.changes import read_changes
from penstock.runtime.intake import Intake
from penstock.runtime.jumps import refuse_jumps
from penstock.shedding.input_monitor import InputMonitor
from penstock.shedding.intake_rules import IntakeRules
from penstock.store.sub_windows.retained_rows import RetainedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.algebra.plan import Plan
    from penstock.algebra.tactics import Tactics
    from penstock.connection.engines.local.file_feeding import FileShare
    from penstock.operators.block import Block
    from penstock.planner.statistics.statistics import Statistics
    from penstock.runtime.intake import Reading
    from penstock.shedding.shedding import Shedding


class Feeding:
    """Takes in rows once for all batches; a late row is late for every query."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.intakes: dict[str, Intake] = {}
        self.relations: dict[str, RelationContent] = {}
        self.batches: list[Batch] = []
        self.retention = LocalRetention()
        self.aside = RejectedCounts(options.keep)
        self.now = BEGINNING
        self.rules = IntakeRules()
        self.monitor = InputMonitor()
        self.held_back = 0
        self._last_rows = 0

    def declare(self, source: StreamDefinition | RelationDefinition) -> None:
        """A stream or relation, new or in place of one of the same name."""
        self.forget(source.name)
        if isinstance(source, RelationDefinition):
            self.relations[source.name] = RelationContent(source.name, source.schema)
            self.retention.logs[source.name] = RelationLog(source.schema)
        else:
            self.retention.streams[source.name] = RetainedRows(source.schema)
            self.intakes[source.name] = Intake(
                source.name,
                source.schema,
                source.time_column,
                source.slack,
                own=source.shedding_columns,
            )

    def forget(self, source: str) -> None:
        """A stream or relation that no query reads any more, whatever the case of its letters."""
        for known in [*self.intakes, *self.relations]:
            if known.lower() == source.lower():
                self.intakes.pop(known, None)
                self.relations.pop(known, None)
                self.retention.forget(known)
                self.aside.drop(known)

    @property
    def watermarks(self) -> dict[str, int]:
        """Of each stream, the instant before which no row is taken in any more."""
        return {name: intake.watermark for name, intake in self.intakes.items()}

    @property
    def _undated(self) -> int:
        """The instant of a change that is not dated: the least watermark of streams with rows.

        It is never before that of an earlier one, so that no row leaves before it has come.
        """
        known = [one for one in self.watermarks.values() if one > BEGINNING]
        return max(self.now, min(known, default=BEGINNING))

    @property
    def _passed(self) -> int:
        """An instant that the clocks of all queries over streams have passed."""
        marks = self.watermarks
        read = {name for batch in self.batches for name in batch.graph.streams}
        passed = [one for name, one in marks.items() if one > BEGINNING or name in read]
        return min(passed, default=BEGINNING)

    def start(
        self,
        plans: Mapping[str, Plan],
        tactics: Tactics,
        known: Statistics,
        start: int | None = INFINITY,
        *,
        reads_queries: bool = False,
    ) -> Batch:
        """Queries that see the rows from now on, and the relations as they are.

        Before that they see the rows that their streams are declared to retain, from an instant
        on; None: all of them. If they read queries that run already, they see all that is retained.
        """
        batch = Batch(plans, self.options.under(tactics), known)
        streams = list(batch.graph.streams)
        rows = self.retention.rows_from(streams, start, undeclared=reads_queries)
        histories = {}
        for name in batch.graph.relations:
            log = self.retention.logs[name]
            # With rows from the past come the relations as they were then.
            known_so_far = self.relations[name].history(self._undated)
            histories[name] = log.history(streams) if rows else known_so_far
        given = self._given(batch, rows, start)
        batch.exact = {name: exact_from(plan, given) for name, plan in plans.items()}
        batch.feed({**histories, **rows}, self.watermarks)
        self.batches.append(batch)
        return batch

    def _given(self, batch: Batch, rows: Mapping[str, Block], start: int | None) -> GivenRows:
        """The rows of the past that new queries are given, for how far their answers are exact."""
        since = {}
        for name in batch.graph.streams:
            kept, latest = self.retention.streams[name], self.intakes[name].latest
            since[name] = BEGINNING if latest == BEGINNING else latest + 1
            if name in rows:
                since[name] = kept.since if start is None else max(kept.since, start)
        known = {name: self.retention.logs[name].since for name in batch.graph.relations}

        def instant_of(stream: str, number: int) -> int | None:
            block = rows.get(stream)
            if block is None:
                return None
            ts = np.sort(block.ts[block.ts >= since[stream]])
            return int(ts[number - 1]) if len(ts) >= number else None

        return GivenRows(since, known, instant_of)

    def begin_anew(self, sources: Iterable[StreamDefinition | RelationDefinition]) -> None:
        """Be as if nothing had come since these were declared and the queries were registered."""
        for source in sources:
            self.declare(source)
        self.now = BEGINNING
        for batch in self.batches:
            batch.begin_anew()

    def stop(self, batch: Batch, query: str) -> None:
        """Drop a query; the operators of its batch go when the last query does."""
        del batch.outcomes[query]
        if not batch.outcomes:
            self.batches.remove(batch)

    def insert(self, name: str, table: pa.Table) -> None:
        """Rows of a stream; all are checked before any is taken in."""
        self._insert(name, table)
        self.aside.add(self.intakes[name].taken_rejected())

    def _insert(self, name: str, table: pa.Table) -> None:
        """Take in rows; those that are set aside wait at their intake."""
        reading = self.intakes[name].read(table)
        for batch in self.batches:
            if name in batch.sources:
                refuse_jumps(batch.periodic, self.intakes, {name: reading})
        hold, start = reading.intake.hold, 0
        while not start or start < len(reading):
            shedding = self._look()
            most = self.monitor.most_rows or len(reading)
            reading.intake.hold = min(hold, reading.earliest_from(start + most))
            self._take_in(name, reading.part(start, start + most), shedding)
            start += max(most, 1)

    def _take_in(self, name: str, part: Reading, shedding: Shedding | None) -> None:
        """Rows that are taken in at once."""
        intake = part.intake
        before = intake.shed
        block = part.take_in(shedding)
        self._last_rows = len(part)
        if intake.shed > before:
            for batch in self.batches:
                batch.count_shed(name, intake.shed - before)
        self.retention.streams[name].take_in(block, intake.watermark)
        self._feed(name, block)

    @property
    def _waiting(self) -> int:
        """The bytes that wait in lanes that could go on."""
        return sum(batch.lanes.waiting_bytes for batch in self.batches)

    def _look(self) -> Shedding | None:
        """Decide, before rows are taken in, how many at once, and which of them are shed.

        Unless some may be, lanes work first until what waits in them is below the limit.
        """
        shedding = self.monitor.look(self.rules, self._waiting, self._last_rows)
        while self.rules.holds_back and self._waiting > (self.rules.queue_limit or 0):
            self.held_back += 1
            for batch in self.batches:
                batch.go_on()
        return shedding

    def insert_files(self, stream: StreamDefinition, files: Sequence[FileShare], hold: int) -> None:
        """Rows of files, which are taken in together."""
        intake = self.intakes[stream.name]
        intake.hold = hold
        before = intake.brought
        self._insert(stream.name, pa.concat_tables([one.rows for one in files]))
        for found in intake.taken_rejected():
            places = [place_among(files, place - before) for place in found.positions.tolist()]
            self.aside.add([replace(found, positions=pa.array(places, pa.string()))])
        unreadable = unreadable_rows(stream, files)
        intake.brought += sum(len(one.rows) for one in unreadable)
        self.aside.add(unreadable)

    def update(self, name: str, table: pa.Table) -> None:
        """Changes of a relation; a change that cannot be is refused before any takes effect."""
        relation = self.relations[name]
        changes = read_changes(name, relation.schema, table)
        now = self._undated
        block = changes.block(now)
        relation.take_in(block, self._passed)
        self.retention.changed(name, block, self.watermarks)
        self.now = now
        clocks = [one.relation_clock(name) for one in self.batches if name in one.sources]
        self.aside.add(changes.overdue(max(clocks, default=self.now)))
        self._feed(name, block)

    def advance(self, name: str, instant: int) -> None:
        """No row of a stream before an instant will come any more."""
        self.intakes[name].advance(instant)
        self.retention.streams[name].pass_to(instant)
        self._feed(name, None)

    def _feed(self, name: str, block: Block | None) -> None:
        """Pass rows on to the queries that read a source, and the watermarks."""
        for batch in self.batches:
            if name in batch.sources:
                batch.feed({} if block is None else {name: block}, self.watermarks)

    def finish(self) -> None:
        """The input has come to its end."""
        for batch in self.batches:
            batch.finish()

    def counts(self) -> dict[str, list[int]]:
        """Of each stream: watermark, rows brought, latest instant, lateness at most, rows shed."""
        return {
            name: [one.watermark, one.brought, one.latest, one.late_by, one.shed]
            for name, one in self.intakes.items()
        }

    def segments(self) -> dict[str, pa.Table]:
        """The state as Arrow, but for `counts` and the counts of rows set aside."""
        parts: dict[str, Mapping[str, pa.Table]] = {
            f"relation/{name}": one.segments() for name, one in self.relations.items()
        }
        parts |= {f"batch/{number}": one.segments() for number, one in enumerate(self.batches)}
        return joined({**parts, **self.retention.segments(), "aside": self.aside.tables})

    def restore(self, segments: Mapping[str, pa.Table], counts: Mapping[str, list[int]]) -> None:
        """Take it back; the sources are declared, and the batches are there, new."""
        for name, (watermark, brought, latest, late_by, shed) in counts.items():
            intake = self.intakes[name]
            intake.watermark, intake.brought = watermark, brought
            intake.latest, intake.late_by, intake.shed = latest, late_by, shed
        for name, relation in self.relations.items():
            relation.restore(within(segments, f"relation/{name}"))
        for number, batch in enumerate(self.batches):
            batch.restore(within(segments, f"batch/{number}"))
        self.retention.restore(segments)
