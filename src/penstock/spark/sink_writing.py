"""One sink: the results of its query are written commit by commit, one way or another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

from penstock.algebra.orders import Sort
from penstock.algebra.plan import different_nodes
from penstock.connectors.folder_sink import FolderSink
from penstock.errors import DataError
from penstock.lane_host.sink_parts import require_unwritten
from penstock.lane_host.sink_work import ResultForm, SinkWork
from penstock.results.answer_kind import is_relation, kind_of, unit_of
from penstock.results.settling import fold_for, timed_fold_for
from penstock.spark.groups import plans_with
from penstock.spark.sink_progress import Written
from penstock.spark.sink_targets import ConsoleSink
from penstock.spark.sink_ways import (
    FEW_RESULTS,
    FEW_TIMES,
    TASK_RESULTS,
    DriverWriting,
    TasksCannotWrite,
    TaskWriting,
)
from penstock.store.result_reader import ResultsReader, start_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.pipeline.plans import QueryGroup
    from penstock.results.settling import Elements
    from penstock.spark.sink_progress import Progress, ProgressFiles
    from penstock.spark.sink_targets import SinkTarget
    from penstock.spark.sink_tasks import SinkJobs
    from penstock.spark.sink_ways import SinkWriting, Way
    from penstock.spark.spark_engine import SparkEngine
    from penstock.store.records import Record


class Sink:
    """Takes the results of a query to a target.

    Attributes:
        name: Its name.
        target: Where to.
        reached: The record up to which it has read and written.
        failed: How often in a row it has failed.
        next_try: When it may be tried again, by the monotonic clock.
        error: Why it does not get on, if that has been reported.
    """

    def __init__(
        self,
        engine: SparkEngine,
        jobs: SinkJobs,
        files: ProgressFiles,
        progress: Progress,
        target: SinkTarget | ConsoleSink,
    ) -> None:
        self.name = progress.sink
        self.target = target
        self.reached = -1
        self.failed = 0
        self.next_try = 0.0
        self.error: str | None = None
        self._engine = engine
        self._jobs = jobs
        self._written = Written(files, progress, _results_at(engine, progress))
        self._is_new = progress.record < 0
        self._group: QueryGroup | None = None
        self._writing: SinkWriting | None = None
        self._few = 0
        self._tasks_can = True
        self._is_ordered: bool | None = None

    @property
    def progress(self) -> Progress:
        """The note of what has been written."""
        return self._written.progress

    @property
    def way(self) -> Way | None:
        """The way in which it is written now; None if it has not begun."""
        return self._writing.way if self._writing else None

    def behind(self, record: Record) -> int:
        """The number of results that it has not written, of those up to a record."""
        if self.reached >= record.number:
            return 0
        return max(0, record.result_rows.get(self.progress.query, 0) - self._written.results)

    def catch_up(self, last: int) -> None:
        """Write all commits up to a record.

        Raises:
            Exception: What the target raises; what it has not taken comes again next time.
            DataError: Commits that were not written are not kept any more.
        """
        try:
            self._catch_up(last)
        except TasksCannotWrite as fault:
            if not self._is_same(self._engine.program.group_of(self.progress.query)):
                raise
            self._engine.running.pipeline.note_error(f'sink "{self.name}": {fault.message}')
            self._tasks_can = False
            self._catch_up(last)

    def _catch_up(self, last: int) -> None:
        record = self._engine.home.chain.read(last)
        if isinstance(self.target, FolderSink):
            self._written.finish_publishing(self.target)
        self._withdraw(last)
        group = self._engine.program.group_of(self.progress.query)
        if self._writing is not None and not self._is_same(group):
            # The query was stopped; what it said until then comes before what it says now.
            before = last
            if group is not None:
                before = self._engine.first_record(group, self.progress.query) - 1
            self._write(before, last, record)
            self._writing = None
        if group is not None:
            way = self._way(group, self.behind(record))
            if self._writing is None or self._writing.way != way:
                with self._engine.running.changing:
                    self._writing = self._begun(group, way)
        self._write(last, last, record)
        self.reached = last
        self._written.results = record.result_rows.get(self.progress.query, 0)

    def _is_same(self, group: QueryGroup | None) -> bool:
        """The query goes on in a group, or one that took its place."""
        if group is None or self._group is None:
            return False
        query = self.progress.query
        return group.numbers_of(query)[0] == self._group.numbers_of(query)[0]

    def _write(self, until: int, last: int, record: Record) -> None:
        """Write what there is up to a record; of an end of input only if it is the last."""
        # Of an end of input there are results only if it is the last.
        end = last if record.kind == "flush" and until == last else None
        if self._writing is None:
            self._written.done(until, None)  # Of a query that is stopped there is nothing to write.
            return
        self._writing.write(until, end)

    def _withdraw(self, last: int) -> None:
        """Take back the results of an end of input, if more came after it."""
        end = self.progress.end
        if end is not None and last > end:
            self.target.withdraw(end)
            self._written.end_was_none()

    def _way(self, group: QueryGroup, behind: int) -> Way:
        """The way to go on, with so many results to be written."""
        if not self._can_be_divided(group) or self._jobs.wanted == "driver":
            return "driver"
        if self._jobs.wanted == "tasks":
            return "tasks"
        self._few = self._few + 1 if behind <= FEW_RESULTS else 0
        if behind >= TASK_RESULTS:
            return "tasks"
        # To begin again takes reading what is left of all results: not for a moment's pause.
        return "driver" if self.way != "tasks" or self._few > FEW_TIMES else "tasks"

    def _can_be_divided(self, group: QueryGroup) -> bool:
        """Tasks can write: files, and no rows whose order in their file says something."""
        if not isinstance(self.target, FolderSink) or not self._tasks_can or self._jobs.parts < 2:
            return False
        if not self._is_same(group) or self._is_ordered is None:
            plan = self._engine.program.definition(self.progress.query).plan
            self._is_ordered = any(isinstance(one, Sort) for one in different_nodes(plan))
        return not self._is_ordered

    def _begun(self, group: QueryGroup, way: Way) -> SinkWriting:
        """The results of the query as it runs in a group, to be written in one way."""
        plan = self._engine.program.definition(self.progress.query).plan
        self._group = group
        if isinstance(self.target, FolderSink):
            self.target.remove_drafts()
            if way == "tasks":
                work = self._work(plan, group)
                return TaskWriting(self._jobs, self._engine.home, work, self.target, self._written)
        return DriverWriting(self._reader(plan, group), plan, self.target, self._written)

    def _reader(self, plan: Plan, group: QueryGroup) -> ResultsReader:
        home, query = self._engine.home, self.progress.query
        first = self._engine.first_record(group, query)
        start = start_of(home, query, first, has_content=is_relation(plan))
        if not self._is_new:
            require_unwritten(start.record, self.progress.record, first)
        runs_in = plans_with(home, group, query)
        return ResultsReader(home, query, start, self._fold(plan, group), runs_in)

    def _shape(self, group: QueryGroup) -> tuple[list[pa.DataType], int, int]:
        """The types of the query's columns, how long rows live, and parts of calendar queues."""
        bound = self._engine.running.pipeline.ledger.plan.groups[group.number]
        node = bound.result(self.progress.query)
        return list(node.arrow_types), node.span, bound.choices.queue_partitions

    def _fold(self, plan: Plan, group: QueryGroup) -> Callable[[], Elements]:
        fold = timed_fold_for if isinstance(self.target, ConsoleSink) else fold_for
        return partial(fold, plan, *self._shape(group))

    def _work(self, plan: Plan, group: QueryGroup) -> SinkWork:
        """The request that tasks get, but for the records."""
        progress = self.progress
        types, span, partitions = self._shape(group)
        return SinkWork(
            home=str(self._engine.home.path),
            key=uuid4().hex,
            query=progress.query,
            group=group.numbers_of(progress.query)[0],
            first=self._engine.first_record(group, progress.query),
            form=ResultForm.of(
                kind_of(plan), unit_of(plan), plan.schema.names, types, span, partitions
            ),
            folder=progress.place,
            format=progress.format,
            options=progress.options,
            parts=self._jobs.parts,
            written=progress.record,
            end=progress.end,
            last=progress.record,
            is_new=self._is_new,
        )


def _results_at(engine: SparkEngine, progress: Progress) -> int:
    """The results that there were when a sink was written last, as far as that is still known."""
    if progress.record < 0:
        return 0
    try:
        return engine.home.chain.read(progress.record).result_rows.get(progress.query, 0)
    except DataError:
        return 0
