"""One sink: it reads the results of its query commit by commit, and writes them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from penstock.errors import DataError
from penstock.results.answer_kind import is_relation
from penstock.results.result_tables import results_table
from penstock.results.settling import fold_for, timed_fold_for
from penstock.spark.groups import plans_with
from penstock.spark.sink_targets import ConsoleSink
from penstock.store.result_reader import ResultsReader, start_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.algebra.plan import Plan
    from penstock.operators.block import Block
    from penstock.pipeline.plans import QueryGroup
    from penstock.results.settling import Elements
    from penstock.spark.sink_progress import Progress, ProgressFiles
    from penstock.spark.sink_targets import SinkTarget
    from penstock.spark.spark_engine import SparkEngine
    from penstock.store.result_reader import Commit


class Sink:
    """Takes the results of a query to a target.

    Attributes:
        name: Its name.
        progress: What has been written.
        target: Where to.
        reached: The record up to which it has read and written.
        failed: How often in a row it has failed.
        next_try: When it may be tried again, by the monotonic clock.
        error: Why it does not get on, if that has been reported.
    """

    def __init__(
        self,
        engine: SparkEngine,
        files: ProgressFiles,
        progress: Progress,
        target: SinkTarget | ConsoleSink,
    ) -> None:
        self.name = progress.sink
        self.progress = progress
        self.target = target
        self.reached = -1
        self.failed = 0
        self.next_try = 0.0
        self.error: str | None = None
        self._engine = engine
        self._files = files
        self._is_new = progress.record < 0
        self._group: QueryGroup | None = None
        self._reader: ResultsReader | None = None
        self._plan: Plan | None = None
        # Read, but not written yet: a reader does not read twice.
        self._pending: Commit | None = None

    def catch_up(self, last: int) -> None:
        """Write all commits up to a record.

        Raises:
            Exception: What the target raises; what it has not taken comes again next time.
            DataError: Commits that were not written are not kept any more.
        """
        self._withdraw(last)
        group = self._engine.program.group_of(self.progress.query)
        if self._reader is not None and not self._is_same(group):
            # The query was stopped; what it said until then comes before what it says now.
            self._read(
                last if group is None else self._engine.first_record(group, self.progress.query) - 1
            )
            self._reader = None
        if self._reader is None and group is not None:
            with self._engine.running.changing:
                self._reader = self._opened(group)
        self._read(last)
        self.reached = last

    def _is_same(self, group: QueryGroup | None) -> bool:
        """The query goes on in a group, or one that took its place."""
        if group is None or self._group is None:
            return False
        query = self.progress.query
        return group.numbers_of(query)[0] == self._group.numbers_of(query)[0]

    def _read(self, last: int) -> None:
        """Write what the reader has up to a record."""
        if self._reader is None:
            self._done(last, None)  # Of a query that is stopped there is nothing to write.
            return
        # Of an end of input there are results only if it is the last.
        end = last if self._engine.home.chain.read(last).kind == "flush" else None
        self._deliver(end)
        for commit in self._reader.read(last):
            self._pending = commit
            self._deliver(end)
        self._done(last, end)

    def _deliver(self, end: int | None) -> None:
        """Write the commit that waits, unless that was done before."""
        commit, plan = self._pending, self._plan
        if commit is not None and commit.block is not None:
            assert plan is not None
            if not self._has(commit.number):
                self._write(commit.number, plan, commit.block)
                self._done(commit.number, end)
            elif isinstance(self.target, ConsoleSink) and commit.number != end:
                self.target.pass_over(plan, commit.block)
        self._pending = None

    def _has(self, number: int) -> bool:
        return number <= self.progress.record or number == self.progress.end

    def _write(self, number: int, plan: Plan, block: Block) -> None:
        if isinstance(self.target, ConsoleSink):
            self.target.print(plan, block)
        else:
            self.target.write(number, results_table(plan, block))

    def _done(self, number: int, end: int | None) -> None:
        """Write down that all up to a record is written."""
        before = (self.progress.record, self.progress.end)
        if number == end:
            self.progress.end = end
            number -= 1
        self.progress.record = max(number, self.progress.record)
        if (self.progress.record, self.progress.end) != before:
            self._files.write(self.progress)

    def _withdraw(self, last: int) -> None:
        """Take back the results of an end of input, if more came after it."""
        if self.progress.end is not None and last > self.progress.end:
            self.target.withdraw(self.progress.end)
            self.progress.end = None
            self._files.write(self.progress)

    def _opened(self, group: QueryGroup) -> ResultsReader:
        """A reader of the query's results as it runs in a group."""
        home, query = self._engine.home, self.progress.query
        plan = self._plan = self._engine.program.definition(query).plan
        first = self._engine.first_record(group, self.progress.query)
        start = start_of(home, query, first, has_content=is_relation(plan))
        written = self.progress.record
        if not self._is_new and start.record > max(written + 1, first):
            msg = (
                f"results of the records {written + 1} to {start.record - 1} are not kept any more"
            )
            hint = "Drop the sink, and create it again with another place to write to."
            raise DataError(msg, hint=hint)
        self._group = group
        runs_in = plans_with(home, group, query)
        return ResultsReader(home, query, start, self._fold(plan, group), runs_in)

    def _fold(self, plan: Plan, group: QueryGroup) -> Callable[[], Elements]:
        bound = self._engine.running.pipeline.ledger.plan.groups[group.number]
        node = bound.result(self.progress.query)
        partitions = bound.choices.queue_partitions
        fold = timed_fold_for if isinstance(self.target, ConsoleSink) else fold_for
        return partial(fold, plan, node.arrow_types, node.span, partitions)
