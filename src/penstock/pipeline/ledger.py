"""The ledger of a pipeline: its newest commit record, and how the next one follows from it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import QueryDefinition, RelationDefinition, StreamDefinition
from penstock.errors import DataError
from penstock.lane_host.logs import CHANGES
from penstock.lane_host.plan_files import PhysicalPlans, written_plan
from penstock.operators.block import to_table
from penstock.pipeline.batch_progress import (
    reached_after,
    relations_after,
    require_all,
    streams_after,
)
from penstock.pipeline.bound import bound
from penstock.pipeline.files_read import KnownFiles
from penstock.pipeline.plan_changes import kept_facts
from penstock.pipeline.plans import PipelinePlan, read_plan
from penstock.pipeline.relation_history import put_together, write_changes
from penstock.pipeline.retaining import after_batch, retained_from
from penstock.pipeline.shed_counts import shed_of_queries
from penstock.runtime.changes import due_from, read_changes
from penstock.store.bundles import write_bundle
from penstock.store.records import FilesRead, Record, RelationProgress, StreamProgress
from penstock.store.rejected_rows import kept_with
from penstock.store.whole_files import sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from penstock.lane_host.work import Done
    from penstock.operators.block import Block
    from penstock.pipeline.bound import BoundGroup, BoundPlan
    from penstock.pipeline.file_cuts import FilesShare
    from penstock.pipeline.sealing import Sealed
    from penstock.scheduling.work_rules import WorkRules
    from penstock.store.layout import Home
    from penstock.store.records import FoldedContent, Kind, LaneState


class Ledger:
    """The truth about a home that this process has taken.

    Attributes:
        record: The newest commit record.
        plan: The plan that runs, understood.
        listeners: Told what tasks have done, when it is published.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self._physical = PhysicalPlans(home)
        self.record = home.chain.last() or self._first()
        self.plan: BoundPlan = bound(read_plan(home, self.record.plan, self._physical))
        # When each stream last brought rows, by the clock that `pass_idle` is given.
        self._last_rows: dict[str, float] = {}
        self._known_files: dict[str, KnownFiles] = {}
        self.listeners: list[Callable[[Sequence[Done]], None]] = []

    def _first(self) -> Record:
        record = Record(0, "start", self._written(0, PipelinePlan()), written_at=time.time())
        self.home.chain.publish(record)
        return record

    def _written(self, number: int, plan: PipelinePlan) -> str:
        files = self._physical.written(number, [one.physical for one in plan.groups])
        return written_plan(self.home, number, plan.to_json(files))

    def change_plan(self, plan: PipelinePlan) -> None:
        """Run another plan from the next batch on.

        Groups that stay keep their state. A new group begins with empty windows, and is told what
        the relations it reads have been so far.
        """
        made = bound(plan, self.plan)
        queries = {name for group in plan.groups for name in group.queries}
        kept = kept_facts(self.record, self.plan, made, queries)
        known = {one.name for one in made.session.catalog}
        self._known_files = {name: one for name, one in self._known_files.items() if name in known}
        self._commit("change", plan=self._written(self.record.number + 1, plan), **kept)
        self.plan = made

    def change_lanes(self, plan: PipelinePlan, lanes: dict[str, LaneState]) -> None:
        """Run the same queries on other lanes from the next batch on."""
        made = bound(plan)
        written = self._written(self.record.number + 1, plan)
        self._commit("change", plan=written, lanes=lanes)
        self.plan = made

    def change_group(
        self, plan: PipelinePlan, lanes: dict[str, LaneState], results: dict[str, Block]
    ) -> None:
        """Run a group of queries by another plan from the next batch on.

        Args:
            plan: The plan, without the group that has run beside it.
            lanes: How the state of each lane is made.
            results: By query, what the other plan says in place of what was said before.
        """
        made = bound(plan)
        before = self.record
        queries = {name for group in plan.groups for name in group.queries}
        rows = Counter({name: n for name, n in before.result_rows.items() if name in queries})
        rows.update({name: len(block) for name, block in results.items()})
        files: tuple[str, ...] = ()
        if results:
            tables = {
                f"query/{name}": to_table(block, made.columns(name))
                for name, block in results.items()
            }
            files = (self.home.new_segment(before.number + 1, 0, "results"),)
            write_bundle(self.home.segments / files[0], tables, durable=True)
        self._commit(
            "batch",
            plan=self._written(before.number + 1, plan),
            lanes=lanes,
            results=files,
            clocks={name: one for name, one in before.clocks.items() if name in queries},
            failures={name: one for name, one in before.failures.items() if name in queries},
            result_rows=dict(rows),
            shed={name: one for name, one in before.shed.items() if name in queries},
        )
        self.plan = made

    def change_relation(self, name: str, table: pa.Table) -> None:
        """Rows that enter and leave a relation, from the next batch on.

        The table has the columns of the relation, `_sign` and, where changes are dated, `_at`. A
        change takes effect in each group where its lanes have not looked at the relation yet.

        Raises:
            DataError: A column is missing, or cannot be read as declared.
        """
        definition = self.plan.session.catalog.find(name, "relation")
        assert isinstance(definition, RelationDefinition)
        known = self.record.relations.get(definition.name, RelationProgress())
        block = self.dated(definition, table)
        whole = due_from(block, self.passed)
        watermarks = {key: one.watermark for key, one in self.record.streams.items()}
        following = self.record.number + 1
        segment = write_changes(self.home, following, block, self.passed, watermarks)
        pending = {key: dict(one) for key, one in self.record.pending.items()}
        for number, group in self.plan.groups.items():
            if definition.name in group.relations:
                due = due_from(block, self._clock_of(group, known))
                is_whole = np.array_equal(due.ts, whole.ts)
                own = pending.setdefault(str(number), {})
                file = segment if is_whole else self._changes_file(due)
                own[definition.name] = [*own.get(definition.name, []), file]
        # Questions are asked about instants that all queries have passed.
        clock = min(self.passed, retained_from(self.record, self.plan))
        together = (*known.changes, segment)
        files = put_together(self.home, following, together, clock)
        since = known.since if files == together else max(known.since, clock)
        progress = replace(known, changes=files, clock=max(known.clock, self._now), since=since)
        relations = {**self.record.relations, definition.name: progress}
        self._commit("change", relations=relations, pending=pending)

    def _clock_of(self, group: BoundGroup, relation: RelationProgress) -> int:
        """The instant before which no change of a relation takes effect for a group.

        One that catches up will have come as far as its streams are now.
        """
        if not group.group.catches_up:
            return relation.clock_of(group.number)
        streams = self.record.streams
        return min(streams.get(name, StreamProgress()).watermark for name in group.streams)

    def dated(self, relation: RelationDefinition, table: pa.Table) -> Block:
        """The changes in a table at the instants they say; those that say none, now.

        Raises:
            DataError: A column is missing, or cannot be read as declared.
        """
        known = self.record.relations.get(relation.name, RelationProgress())
        # Now is never before it was, so that no row leaves before it has come.
        now = max(known.clock, self._now)
        return read_changes(relation.name, relation.schema, table).block(now)

    def _changes_file(self, changes: Block) -> str:
        segment = self.home.new_segment(self.record.number + 1, 0, "relation")
        write_bundle(self.home.segments / segment, {CHANGES: to_table(changes)}, durable=True)
        return segment

    @property
    def _now(self) -> int:
        """The least watermark of the streams that have brought rows."""
        streams = self.record.streams.values()
        known = [one.watermark for one in streams if one.watermark > BEGINNING]
        return min(known, default=BEGINNING)

    @property
    def passed(self) -> int:
        """An instant that the clocks of all queries over streams have passed."""
        read = {name for group in self.plan.hosted.values() for name in group.streams}
        return min([self._now, *(self.record.streams[name].watermark for name in read)])

    def pass_idle(self, now: float) -> bool:
        """Let streams that have been silent too long hold others back no more; whether one was.

        Their watermarks follow the least of the others; a row that comes later may be late.
        """
        streams = self.record.streams
        idle = {one.name for one in self.plan.streams if self._is_idle(one, now)}
        active = [one.watermark for name, one in streams.items() if name not in idle]
        if not idle or not active:
            return False
        reached = min(active)
        moved = {
            name: replace(streams[name], watermark=reached)
            for name in idle
            if streams[name].watermark < reached
        }
        if moved:
            self._commit("change", streams={**streams, **moved})
        return bool(moved)

    def advance(self, stream: str, instant: int) -> bool:
        """Let the watermark of a stream be an instant without a row; whether it was before it."""
        known = self.record.streams.get(stream, StreamProgress())
        if known.watermark >= instant:
            return False
        streams = {**self.record.streams, stream: replace(known, watermark=instant)}
        self._commit("change", streams=streams)
        return True

    def _is_idle(self, definition: StreamDefinition, now: float) -> bool:
        allowed = definition.idle_seconds
        last = self._last_rows.setdefault(definition.name, now)
        return allowed is not None and now - last >= allowed

    @property
    def rules(self) -> WorkRules:
        """The rules of work: how long lanes work in a micro-batch, and in which order."""
        session = self.plan.session
        runs = {
            name: query
            for one in self.plan.groups.values()
            for name, query in one.group.runs.items()
        }
        found = {name: session.catalog.find(query, "query") for name, query in runs.items()}
        latency = {
            name: one.latency
            for name, one in found.items()
            if isinstance(one, QueryDefinition) and one.latency is not None
        }
        return session.settings.work.rules(latency)

    @property
    def is_behind(self) -> bool:
        """Lanes have left something undone for which no row has to come."""
        return bool(self.record.behind) and self.record.kind != "flush"

    @property
    def waiting_bytes(self) -> int:
        """The bytes that wait in all lanes."""
        return sum(self.record.behind.values())

    def has_committed(self, query: str, batch: int, frame: str | None = None) -> bool:
        """A micro-batch of Spark's that has been committed; if not, it is the next one.

        Args:
            query: Spark's query.
            batch: The number of its micro-batch.
            frame: The stream that is a DataFrame, if it is the query of one.

        Raises:
            DataError: The records do not belong to the checkpoint: rows would be lost, or counted
                twice.
        """
        told = self.record.batch if frame is None else self.record.frames.get(frame)
        known, last = told or (query, -1)
        if known != query or batch > last + 1:
            msg = f"the records and the checkpoint in {self.home.path} do not belong together"
            if known == query:
                msg += f": the last batch in the records is {last}, Spark is at {batch}"
            hint = "Put both back as they were together, or start with a new home."
            raise DataError(msg, hint=hint)
        return batch <= last

    def known_files(self, stream: str) -> KnownFiles:
        """The files of a stream that have been read by tasks."""
        if stream not in self._known_files:
            read = self.record.files.get(stream, FilesRead())
            self._known_files[stream] = KnownFiles(self.home, read)
        return self._known_files[stream]

    def commit_batch(
        self,
        done: Sequence[Done],
        tasks: int,
        batch: tuple[str, int] | None,
        files: Mapping[str, FilesShare] | None = None,
        offsets: Mapping[str, Any] | None = None,
        holds: Mapping[str, int] | None = None,
        frame: str | None = None,
    ) -> None:
        """Publish what the tasks have done.

        Args:
            done: What they say.
            tasks: How many there are.
            batch: Spark's query and micro-batch, if Spark brought rows.
            files: The files that the tasks have read, by stream, or a part of one.
            offsets: Up to where Spark has read streams, if it brought rows.
            holds: The earliest row of a stream in files that wait.
            frame: The stream that is a DataFrame, if Spark brought rows of one.
        """
        require_all(done, tasks, self.plan.stages)
        number = self.record.number + 1
        read = {
            name: self.known_files(name).after(number, share.read_to_the_end, share.begun)
            for name, share in (files or {}).items()
        }
        lanes: dict[str, LaneState] = dict(self.record.lanes)
        for one in done:
            lanes |= one.lanes
        new = [one.aside for one in done if one.aside]
        for name in {name for one in done for name, n in one.streams.items() if n.rows}:
            self._last_rows.pop(name, None)
        aside, forgotten = kept_with(self.home, number, self.record.aside, new)
        self._commit(
            "batch",
            lanes=lanes,
            streams=streams_after(self.record, self.plan, done, forgotten, read, holds or {}),
            shed=shed_of_queries(self.record.shed, self.plan, done),
            aside=aside,
            relations=relations_after(self.record, done),
            pending=self._pending_beside(),
            behind={name: nbytes for one in done for name, nbytes in one.behind.items()},
            batch=self.record.batch if frame or not batch else batch,
            frames={**self.record.frames, frame: batch} if frame and batch else self.record.frames,
            offsets=self.record.offsets if frame or not batch else dict(offsets or {}),
            files={**self.record.files, **read},
            **after_batch(self.record, done, self.plan),
            **reached_after(self.record, self.plan, done),
        )
        for name, share in (files or {}).items():
            self.known_files(name).note(read[name], share.read_to_the_end)
        for listener in self.listeners:
            listener(done)

    def _pending_beside(self) -> dict[str, dict[str, list[str]]]:
        """The changes of relations for groups that catch up: no batch brings them."""
        own = {str(one.number) for one in self.plan.catching_up}
        return {key: one for key, one in self.record.pending.items() if key in own}

    def change(self, made: BoundPlan, facts: Mapping[str, Any]) -> None:
        """Publish another plan, with what lanes have said by its coming into force."""
        plan = self._written(self.record.number + 1, made.plan)
        self._commit("batch", plan=plan, **facts)
        self.plan = made

    def commit_flush(self, done: Sequence[Done], tasks: int) -> None:
        """Publish what is left at the end of the input; a later batch goes on as if it was not."""
        require_all(done, tasks, self.plan.stages)
        self._commit(
            "flush", resumed=self.record.open_clocks, **reached_after(self.record, self.plan, done)
        )

    def commit_sealed(self, sealed: Sealed) -> None:
        """Publish that rows of logs have been put into sub-windows."""
        unsealed = tuple(one for one in self.record.unsealed if one.file not in sealed.logs)
        self._commit("change", retained=sealed.retained, unsealed=unsealed)

    def commit_content(self, content: FoldedContent) -> None:
        """Publish that results have been folded."""
        self._commit("change", content=content)

    def _commit(self, kind: Kind, **changes: Any) -> None:
        record = self.record.next(kind, written_at=time.time(), **changes)
        # What a record names must be on disk before it is.
        sync_folder(self.home.segments)
        self.home.chain.publish(record)
        self.record = record
