"""A query of a home as other programs read it: what each record says, and its content.

Nobody who reads takes the home: its pipeline may run, or have ended.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from penstock.algebra.time import BEGINNING
from penstock.connection.moments import instant_of
from penstock.connectors.zoned_times import with_zone
from penstock.errors import DataError, QueryError, did_you_mean
from penstock.operators.block import Block, empty_block
from penstock.pipeline.bound import bound
from penstock.pipeline.plans import read_plan
from penstock.results.answer_kind import is_relation, require_relation, unit_of
from penstock.results.part_of_results import PartOfResults
from penstock.results.result_tables import results_table
from penstock.results.settling import fold_for
from penstock.spark.groups import first_record_of, plans_with
from penstock.spark.home_view import view_of
from penstock.store.result_reader import ResultsReader, require_kept, start_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.pipeline.bound import BoundGroup
    from penstock.results.settling import Elements
    from penstock.store.layout import Home
    from penstock.store.result_reader import Start

NOTHING_YET = -1
"""The number of the record after which all results come that are kept."""


class PublishedQuery:
    """A query that runs in a home.

    Attributes:
        name: Its name.
        plan: Its logical plan.
        group: The number of its group: a query that is registered anew has another one.

    Raises:
        DataError: There is no home, or it is damaged.
        QueryError: The query does not run in it.
    """

    def __init__(self, home: Home, query: str) -> None:
        self._home = home
        record = home.chain.last()
        if record is None:
            msg = f"{home.path} is no home of a pipeline"
            raise DataError(msg, hint="Name the folder that connect(home=...) was given.")
        self._plan_name = record.plan
        plan = bound(read_plan(home, record.plan))
        found = {
            name: group
            for group in plan.groups.values()
            if group.group.replaces is None
            for name in group.plans
        }
        named = [name for name in found if name.lower() == query.lower()]
        if not named:
            msg = f'query "{query}" does not run in the home {home.path}'
            otherwise = f"Queries that run: {', '.join(sorted(found)) or 'none'}."
            raise QueryError(msg, hint=did_you_mean(query, list(found), otherwise=otherwise))
        self.name = named[0]
        self._bound: BoundGroup = found[self.name]
        self.plan: Plan = self._bound.plans[self.name]
        # The one in which its results began: another query may have taken its place since.
        self.group = self._bound.group.numbers_of(self.name)[0]

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the query, and what marks them."""
        return self._marked(empty_block(self.plan.schema)).schema

    def is_current(self) -> bool:
        """The plan of the home is as it was."""
        record = self._home.chain.last()
        return record is not None and record.plan == self._plan_name

    def newest(self, *, to_the_end: bool) -> int:
        """The newest record whose results are taken.

        Args:
            to_the_end: Whether those of the end of the input are; more may come after it.
        """
        number = self._home.chain.numbers()[-1]
        is_end = self._home.chain.read(number).kind == "flush"
        return number - 1 if is_end and not to_the_end else number

    def is_end(self, number: int) -> bool:
        """A record that is kept, and is one of the end of the input."""
        numbers = self._home.chain.numbers()
        return number in numbers and self._home.chain.read(number).kind == "flush"

    def is_kept(self, number: int) -> bool:
        """The records behind one are kept."""
        return self._home.chain.numbers()[0] <= number + 1

    def require_kept(self, after: int) -> None:
        """See that all results after a record are kept.

        Raises:
            DataError: Some are not.
        """
        start = self._start()
        if after != NOTHING_YET and start.record > max(after + 1, self._first):
            msg = (
                f'results of query "{self.name}" in the records {after + 1} to {start.record - 1}'
                f" of {self._home.path} are not kept any more"
            )
            hint = "Begin anew with what is kept, by a new checkpoint; and read more often."
            raise DataError(msg, hint=hint)

    def reader(self, share: tuple[int, int] = (0, 1)) -> ResultsReader:
        """A reader that begins with the first results that are kept.

        Args:
            share: The number of a share of the rows, and how many shares there are.
        """
        runs_in = plans_with(self._home, self._bound.group, self.name)
        fold = partial(self._fold, *share)
        return ResultsReader(self._home, self.name, self._start(), fold, runs_in)

    def tables(self, reader: ResultsReader, after: int, last: int) -> Iterator[pa.Table]:
        """The results of the records after one, up to another; the reader has not gone beyond."""
        if after != NOTHING_YET:
            for _ in reader.read(after):
                pass
        for commit in reader.read(last):
            if commit.block is not None:
                yield self._marked(commit.block)

    def instant(self, text: str | None) -> int:
        """The instant that a text means; None: the last that is final.

        Raises:
            QueryError: It is not final yet, or the query sends out rows.
            DataError: It is no instant.
        """
        require_relation(self.name, self.plan, "content")
        record = self._home.chain.last()
        clock = BEGINNING if record is None else record.clocks.get(self.name, BEGINNING)
        if text is None:
            return clock - 1 if clock != BEGINNING else BEGINNING
        is_number = text.strip().lstrip("-").isdigit()
        unit = unit_of(self.plan)
        instant = instant_of(int(text) if is_number else text, [unit])
        if instant >= clock:
            msg = f'the result of query "{self.name}" at {unit.format(instant)} may still change'
            known = f"It is final before {unit.format(clock)}."
            raise QueryError(msg, hint="Nothing is final yet." if clock == BEGINNING else known)
        require_kept(self._start(), self.name, instant, unit)
        return instant

    def content(self, instant: int) -> pa.Table:
        """The rows that hold at an instant, as if they had entered then."""
        if instant == BEGINNING:
            return self._marked(empty_block(self.plan.schema))
        view = view_of(self._home)
        try:
            columns = view.result(self.name, instant)
        finally:
            view.release()
        count = len(columns[0]) if columns else 0
        times = np.full(count, instant)
        return self._marked(Block(columns, times, times, np.ones(count, np.int8)))

    def _marked(self, block: Block) -> pa.Table:
        return with_zone(results_table(self.plan, block))

    @cached_property
    def _first(self) -> int:
        return first_record_of(self._home, self._bound.group, self.name)

    def _start(self) -> Start:
        return start_of(self._home, self.name, self._first, has_content=is_relation(self.plan))

    def _fold(self, number: int, shares: int) -> Elements:
        node = self._bound.result(self.name)
        partitions = self._bound.choices.queue_partitions
        fold = fold_for(self.plan, list(node.arrow_types), node.span, partitions)
        return fold if shares == 1 else PartOfResults(fold, number, shares)
