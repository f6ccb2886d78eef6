"""A query that runs in a connection, and how to read what it answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import pyarrow as pa

from penstock.algebra.time import BEGINNING
from penstock.connection.answers import (
    changes_table,
    elements_table,
    emissions_table,
    require_relation,
    require_stream,
    unit_of,
)
from penstock.connection.engines.local.results import ChangingRows, Outcomes, SentRows
from penstock.connection.showing import as_html, as_text
from penstock.connection.statements import refuse_replan
from penstock.errors import QueryError, count
from penstock.operators.block import empty_block
from penstock.planner.explain.explain import Explaining
from penstock.planner.physical.in_use import described_use
from penstock.planner.statistics.measuring import measured, selectivity_of

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.connection.engines.local.batch import Batch
    from penstock.operators.block import Block

SUMMED = (
    "rows_in", "rows_out", "withdrawn", "waiting", "state_rows", "state_bytes", "seconds",
)  # fmt: skip
"""What reports of several lanes count together."""


@dataclass(eq=False, repr=False)
class Query:
    """A running query.

    It is a relation, whose content changes, or with ISTREAM, DSTREAM or RSTREAM a stream of rows.
    Results are final for all instants before its `clock`; nothing else is ever shown but by
    `elements()`.

    Attributes:
        name: Its name in the catalog.
        text: The query as written.
        plan: Its logical plan.
        warnings: What its author should know.
        batch: The operators that compute it.
        failed_before: Failures before the connection was restored.
    """

    name: str
    text: str
    plan: Plan
    warnings: tuple[str, ...]
    batch: Batch
    failed_before: Counter[str] = field(default_factory=Counter)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of its columns."""
        return self.plan.schema.names

    @property
    def clock(self) -> int | None:
        """Results for instants before this are final; None as long as no instant is.

        It is the least watermark of the query's streams. A TIMESTAMP counts microseconds.
        """
        clock = self._running().batch.clock(self.name)
        return None if clock == BEGINNING else clock

    @property
    def failures(self) -> dict[str, int]:
        """How often expressions failed, and gave NULL, by function."""
        now = self._running().batch.failures(self.name).by_function
        return dict(self.failed_before + now)

    def current(self) -> pa.Table:
        """The rows that hold at the last final instant, `clock` - 1, in the order of their values.

        Raises:
            QueryError: The query sends out rows; it has no content.
        """
        return pa.table(list(self._changing("current").current()), names=list(self.columns))

    def changes(self) -> pa.Table:
        """How the content changed since this was last called, up to the last final instant.

        Of each instant the net change: `_sign` is `+` for a row that enters at `_at`, `-` for
        one that leaves. What the query held before all input enters at NULL.

        Raises:
            QueryError: The query sends out rows; it has no content.
            DataError: More changes came than are kept, and the oldest are lost.
        """
        block = self._changing("changes").changes.take(self._empty)
        return changes_table(self.plan, block)

    def emissions(self) -> pa.Table:
        """The rows that were sent out since this was last called, each with its instant `_at`.

        Raises:
            QueryError: The query is a relation; it sends out nothing.
            DataError: More rows came than are kept, and the oldest are lost.
        """
        require_stream(self.name, self.plan, "emissions")
        outcomes = self._outcomes
        assert isinstance(outcomes, SentRows)
        return emissions_table(self.plan, outcomes.sent.take(self._empty))

    def elements(self) -> pa.Table:
        """The results since this was last called, as they came: rows with their validity.

        A row is valid from `_ts` to before `_te`, NULL if it has no end. `_sign` is `-` where a
        row withdraws the part from `_ts` on of an earlier one. With several lanes, elements
        may begin after the clock.

        Raises:
            DataError: More elements came than are kept, and the oldest are lost.
        """
        return elements_table(self.plan, self._outcomes.elements.take(self._empty))

    def replan(self) -> NoReturn:
        """Refused: only a pipeline on Spark plans queries anew while they run.

        Raises:
            NotSupported: Always.
        """
        refuse_replan()

    def explain(self) -> str:
        """The plan, what was measured of it, what it shares, its key, and what joins use now."""
        batch = self.batch
        lanes = [lane.reports() for lane in batch.lanes.lanes]
        gone = batch.plans.keys() - batch.outcomes.keys() - {self.name}
        text = Explaining(batch.plans, batch.choices, measured(lanes), gone=gone).text(self.name)
        below = sorted(batch.graph.below(batch.graph.results[self.name]))
        own = [[reports[number] for number in below] for reports in lanes]
        return "\n".join([text, *described_use(own, batch.choices.strategy)])

    def operators(self) -> pa.Table:
        """What each operator below the query has done, and what it remembers, in all lanes.

        `withdrawn` of the rows out withdraw others; `selectivity` is rows out for each row in that
        was looked at. Queries that were registered together share operators; shared ones count for
        each.
        """
        batch = self._running().batch
        numbers = sorted(batch.graph.below(batch.graph.results[self.name]))
        lanes = [lane.reports() for lane in batch.lanes.lanes]
        rows = []
        for number in numbers:
            reports = [lane[number] for lane in lanes]
            row: dict[str, object] = {"operator": reports[0].label}
            sums = {name: sum(getattr(one, name) for one in reports) for name in SUMMED}
            row |= {name: sums[name] for name in SUMMED if name != "waiting"}
            rows.append({**row, "selectivity": selectivity_of(sums)})
        return pa.Table.from_pylist(rows)

    def __repr__(self) -> str:
        """Name and state; of a relation also the first rows."""
        if not self._is_running:
            return f'query "{self.name}", dropped'
        outcomes = self._outcomes
        if isinstance(outcomes, ChangingRows):
            return f"{self._headline()}\n{as_text(self.current())}"
        return self._headline()

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        if self._is_running and isinstance(self._outcomes, ChangingRows):
            return f"<p>{self._headline()}</p>{as_html(self.current())}"
        return f"<p>{self!r}</p>"

    def _headline(self) -> str:
        outcomes = self._outcomes
        if isinstance(outcomes, ChangingRows):
            what = count(len(outcomes), "row")
        else:
            unread = outcomes.sent if isinstance(outcomes, SentRows) else outcomes.elements
            what = f"{count(len(unread), 'row')} sent out and not read"
        clock = self.clock
        when = "nothing final yet" if clock is None else f"clock {unit_of(self.plan).format(clock)}"
        return f'query "{self.name}": {what}, {when}'

    @property
    def _is_running(self) -> bool:
        return self.name in self.batch.outcomes

    def _running(self) -> Query:
        if not self._is_running:
            msg = f'query "{self.name}" runs no more'
            raise QueryError(msg, hint="It was dropped or replaced, or its connection is closed.")
        return self

    @property
    def _outcomes(self) -> Outcomes:
        return self._running().batch.outcomes[self.name]

    @property
    def _empty(self) -> Block:
        return empty_block(self.plan.schema)

    def _changing(self, what: str) -> ChangingRows:
        require_relation(self.name, self.plan, what)
        outcomes = self._outcomes
        assert isinstance(outcomes, ChangingRows)
        return outcomes
