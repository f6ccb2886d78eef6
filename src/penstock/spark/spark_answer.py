"""The results of a query of a pipeline, read from the records of its home."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.algebra.time import BEGINNING
from penstock.results.answer_kind import is_relation
from penstock.results.settling import ChangingContent
from penstock.spark.groups import plans_with
from penstock.store.result_reader import ResultsReader, content_at, start_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.pipeline.plans import QueryGroup
    from penstock.results.settling import Elements
    from penstock.spark.spark_engine import SparkEngine
    from penstock.store.result_reader import Commit, Start


class SparkReader:
    """A reader of records, up to the newest one there is."""

    def __init__(self, engine: SparkEngine, reader: ResultsReader) -> None:
        self._engine = engine
        self._reader = reader

    @property
    def fold(self) -> Elements:
        """All that was read, folded."""
        return self._reader.fold

    def read(self) -> Iterator[Commit]:
        """The commits since the last call that say something."""
        return self._reader.read(self._engine.position)

    def catch_up(self) -> None:
        """Take in all that is there, whatever is left of it."""
        self._reader.catch_up(self._engine.position)


class SparkAnswer:
    """The results of a query as it runs in a group.

    Attributes:
        plan: The query's plan.
        shape: Types and span of its rows, and into how many parts that time is divided.
    """

    def __init__(self, engine: SparkEngine, query: str, group: QueryGroup, plan: Plan) -> None:
        self.plan = plan
        self._engine = engine
        self._query = query
        self._group = group
        # At once: when the query runs no more, nobody can say what its results were.
        bound = engine.running.pipeline.ledger.plan.groups[group.number]
        node = bound.result(query)
        self.shape = (list(node.arrow_types), node.span, bound.choices.queue_partitions)

    @property
    def run(self) -> int:
        """The number of the group that it began in."""
        return self._group.numbers_of(self._query)[0]

    @property
    def clock(self) -> int:
        """Results for instants before this are final."""
        return self._engine.running.record.clocks.get(self._query, BEGINNING)

    @property
    def earliest(self) -> int:
        """Of instants before this nothing is kept."""
        clock = self.start().clock
        return clock if clock == BEGINNING else clock - 1

    @property
    def is_over(self) -> bool:
        """The query has left its group."""
        now = self._engine.program.group_of(self._query)
        return now is None or now.numbers_of(self._query)[0] != self.run

    def content(self) -> ChangingContent:
        """An empty content of the query, if its result is a relation."""
        return ChangingContent(*self.shape)

    def reader(self, fold: Callable[[], Elements]) -> SparkReader:
        """A reader that begins with the first results that are kept."""
        return SparkReader(self._engine, self.records(fold))

    def records(self, fold: Callable[[], Elements]) -> ResultsReader:
        """The same, for who knows up to which record to read."""
        home = self._engine.home
        runs_in = plans_with(home, self._group, self._query)
        return ResultsReader(home, self._query, self.start(), fold, runs_in)

    def content_at(self, instant: int, last: int | None = None) -> tuple[pa.Array, ...]:
        """The rows that hold at an instant, which is final and kept, by the records up to one."""
        home = self._engine.home
        newest = self._engine.position if last is None else last
        return content_at(home, self.start(), newest, self._query, instant, self.content())

    def start(self) -> Start:
        """The place where the results begin that are kept."""
        first = self._engine.first_record(self._group, self._query)
        has_content = is_relation(self.plan)
        return start_of(self._engine.home, self._query, first, has_content=has_content)
