"""The ledger of a pipeline: its newest commit record, and how the next one follows from it."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from penstock.algebra.time import BEGINNING
from penstock.catalog.definitions import RelationDefinition, StreamDefinition
from penstock.errors import DataError, InternalError
from penstock.home.bundles import write_bundle
from penstock.home.files import publish
from penstock.home.records import Record, RelationProgress, StreamProgress
from penstock.operators.block import to_table
from penstock.pipeline.keeping import CHANGES
from penstock.pipeline.plans import PipelinePlan, bound
from penstock.runtime.changes import read_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from penstock.home.layout import Home
    from penstock.home.records import Kind, LaneState
    from penstock.pipeline.plans import BoundPlan
    from penstock.pipeline.work import Done


class Ledger:
    """What holds in a home that this process has taken.

    Attributes:
        record: The newest commit record.
        plan: The plan that runs, understood.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.record = home.chain.last() or self._first()
        self.plan: BoundPlan = bound(read_plan(home, self.record.plan))

    def _first(self) -> Record:
        record = Record(0, "start", 0, self._written(0, PipelinePlan()), written_at=time.time())
        self.home.chain.publish(record)
        return record

    def _written(self, number: int, plan: PipelinePlan) -> str:
        name = self.home.new_segment(number, 0, "plan")
        publish(self.home.plans / name, plan.to_json().encode())
        return name

    def change_plan(self, plan: PipelinePlan) -> None:
        """Run another plan from the next batch on.

        Groups that stay keep their state. A new group begins with empty windows, and is told what
        the relations it reads have been so far.
        """
        made = bound(plan)
        before = self.record
        relations = dict(before.relations)
        pending = {key: one for key, one in before.pending.items() if int(key) in made.groups}
        for number, group in made.groups.items():
            for name in group.graph.relations:
                known = relations.setdefault(name, RelationProgress())
                if number not in self.plan.groups and known.changes:
                    pending.setdefault(str(number), {})[name] = list(known.changes)
        queries = {name for group in plan.groups for name in group.queries}
        self._commit(
            "change",
            plan=self._written(before.number + 1, plan),
            lanes={one: before.lanes[one] for one in plan.lane_numbers() if one in before.lanes},
            streams={**{one.name: StreamProgress() for one in made.streams}, **before.streams},
            clocks={name: one for name, one in before.clocks.items() if name in queries},
            relations=relations,
            pending=pending,
        )
        self.plan = made

    def change_relation(self, name: str, table: pa.Table) -> None:
        """Rows that enter and leave a relation, from the next batch on.

        The table has the columns of the relation, `_sign` and, where changes are dated, `_at`. A
        change is dated at the earliest where the lanes have not looked at the relation yet.

        Raises:
            DataError: A column is missing, or cannot be read as declared.
        """
        definition = self.plan.session.catalog.find(name, "relation")
        assert isinstance(definition, RelationDefinition)
        known = self.record.relations.get(definition.name, RelationProgress())
        block = read_changes(definition.name, definition.schema, table).block(known.clock)
        segment = self.home.new_segment(self.record.number + 1, 0, "relation")
        write_bundle(self.home.segments / segment, {CHANGES: to_table(block)})
        pending = {key: dict(one) for key, one in self.record.pending.items()}
        for number, group in self.plan.groups.items():
            if definition.name in group.graph.relations:
                own = pending.setdefault(str(number), {})
                own[definition.name] = [*own.get(definition.name, []), segment]
        progress = replace(known, changes=(*known.changes, segment))
        relations = {**self.record.relations, definition.name: progress}
        self._commit("change", relations=relations, pending=pending)

    def has_committed(self, query: str, batch: int) -> bool:
        """Whether a micro-batch of Spark's has been committed.

        Raises:
            DataError: The home belongs to another checkpoint.
        """
        if self.record.batch is None:
            return False
        known, last = self.record.batch
        if known != query:
            msg = f"the home {self.home.path} was written under another checkpoint"
            hint = "Put the folder `checkpoint` back, or start with a new home."
            raise DataError(msg, hint=hint)
        return batch <= last

    def commit_batch(self, done: Sequence[Done], tasks: int, batch: tuple[str, int] | None) -> None:
        """Publish what the tasks have done; `batch` is Spark's query and micro-batch, if any."""
        _require_all(done, tasks)
        lanes: dict[str, LaneState] = dict(self.record.lanes)
        for one in done:
            lanes |= one.lanes
        self._commit(
            "batch",
            lanes=lanes,
            streams=self._streams(done),
            relations=self._relations(done),
            pending={},
            batch=batch or self.record.batch,
            **_reached(done),
        )

    def commit_flush(self, done: Sequence[Done], tasks: int) -> None:
        """Publish what is left at the end of the input; a later batch goes on as if it was not."""
        _require_all(done, tasks)
        self._commit("flush", **_reached(done))

    def _streams(self, done: Sequence[Done]) -> dict[str, StreamProgress]:
        streams = dict(self.record.streams)
        for one in done:
            for name, counts in one.streams.items():
                before = streams[name]
                latest = max(before.latest, counts.latest)
                streams[name] = StreamProgress(
                    max(before.watermark, self._watermark(name, latest)),
                    latest,
                    before.rows + counts.rows,
                    before.late + counts.late,
                    before.aside + counts.aside,
                )
        return streams

    def _watermark(self, stream: str, latest: int) -> int:
        definition = self.plan.session.catalog.find(stream, "stream")
        assert isinstance(definition, StreamDefinition)
        # Before all time there is nothing to be late for.
        return BEGINNING if latest == BEGINNING else max(latest - definition.slack, BEGINNING + 1)

    def _relations(self, done: Sequence[Done]) -> dict[str, RelationProgress]:
        """The relations, with how far the lanes have looked at each."""
        relations = dict(self.record.relations)
        for one in done:
            for name, clock in one.relations.items():
                known = relations[name]
                relations[name] = replace(known, clock=max(known.clock, clock))
        return relations

    def _commit(self, kind: Kind, **changes: Any) -> None:
        record = self.record.next(kind, written_at=time.time(), **changes)
        self.home.chain.publish(record)
        self.record = record


def read_plan(home: Home, name: str) -> PipelinePlan:
    """A plan that was written down."""
    return PipelinePlan.from_json((home.plans / name).read_text("utf-8"))


def _require_all(done: Sequence[Done], tasks: int) -> None:
    if sorted(one.task for one in done) != list(range(tasks)):
        msg = f"{len(done)} of {tasks} tasks answered"
        raise InternalError(msg)


def _reached(done: Sequence[Done]) -> dict[str, Any]:
    """Results, clocks and failures of all tasks together."""
    clocks: dict[str, int] = {}
    failures: dict[str, Counter[str]] = {}
    for one in done:
        for query, clock in one.clocks.items():
            clocks[query] = min(clock, clocks.get(query, clock))
        for query, counts in one.failures.items():
            failures.setdefault(query, Counter()).update(counts)
    return {
        "results": tuple(one.results for one in done if one.results),
        "clocks": clocks,
        "failures": {query: dict(counts) for query, counts in failures.items()},
    }
