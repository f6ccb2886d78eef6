"""A one-time query: a question, a view of the store, and the answer for one instant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING, INFINITY
from penstock.algebra.windows import Since
from penstock.binder.windows import instant_in
from penstock.connection.questions.answer_order import first_rows, in_order, unordered
from penstock.connection.questions.coverage import covered, require_history, start_of_all
from penstock.connection.questions.evaluation import Evaluation
from penstock.connection.questions.latest_reading import LatestReading
from penstock.connection.questions.one_time_answer import OneTimeAnswer
from penstock.connection.questions.piece_work import OwnReader
from penstock.errors import PenstockError, QueryError, SourceText
from penstock.operators.block import Block, concatenated
from penstock.planner.merged_queries import MergedQuery, NotMerged, merged_query
from penstock.planner.optimizing import plans_to_run
from penstock.planner.physical.building import Choices
from penstock.results.answer_kind import unit_of
from penstock.session import BoundQuestion

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.algebra.orders import Sort
    from penstock.algebra.plan import Plan
    from penstock.connection.questions.piece_work import PieceReader
    from penstock.connection.questions.store_view import StoreView
    from penstock.session import Session


def asked(
    text: str,
    session: Session,
    view: StoreView,
    tables: Collection[str],
    reader: PieceReader | None = None,
) -> OneTimeAnswer:
    """The answer of a question.

    Args:
        text: The question, with or without AS OF.
        session: The catalog and the settings.
        view: What can be read.
        tables: The queries whose results are read as they are.
        reader: Whoever reads pieces; None: this process.

    Raises:
        PenstockError: The question is at fault, or cannot be answered.
    """
    question, settings = session.question(text, tables), session.settings
    choices = Choices.of(settings.tactics)
    asking = OneTimeQuery(question, view, tables, choices, settings.store.ask_limit, reader)
    return asking.answer_latest() if settings.isolation == "latest" else asking.answer()


def reading_note(
    plan: Plan,
    session: Session,
    view: StoreView,
    reader: PieceReader | None = None,
) -> str:
    """The rows that a question would read now, and who would read them; a line for EXPLAIN."""
    settings, question = session.settings, BoundQuestion(plan, None, SourceText(""), ())
    choices = Choices.of(settings.tactics)
    if settings.isolation == "latest" and isinstance(merged_query(plan), MergedQuery):
        # Sub-windows are read one by one, by who asks.
        reader = None
    asking = OneTimeQuery(question, view, (), choices, settings.store.ask_limit, reader)
    return asking.reading_note()


class OneTimeQuery:
    """A question that is asked of a view of the store.

    Args:
        question: What is asked.
        view: What can be read.
        tables: The queries whose results it reads as they are.
        choices: How its operators run.
        limit: The bytes that it may read of a stream; None: any number.
        reader: Whoever reads pieces; None: this process.
    """

    def __init__(
        self,
        question: BoundQuestion,
        view: StoreView,
        tables: Collection[str],
        choices: Choices,
        limit: int | None,
        reader: PieceReader | None = None,
    ) -> None:
        self._question = question
        self._view = view
        self._choices = choices
        self._limit = limit
        self._reader = reader or OwnReader()
        nodes = different_nodes(question.plan)
        self._streams = {one.name for one in nodes if isinstance(one, st.Stream)}
        relations = {one.name for one in nodes if isinstance(one, st.Relation)}
        self._tables = relations & set(tables)
        self._relations = relations - self._tables

    def answer(self) -> OneTimeAnswer:
        """The answer.

        Raises:
            PenstockError: The instant is not final, not enough is retained for it, or more would
                be read than is allowed.
        """
        plan = self._question.plan
        evaluation, instant, sort = self._evaluation()
        columns = evaluation.columns()
        columns = columns if sort is None else in_order(plan, sort, columns)
        table = pa.table(list(columns), names=list(plan.schema.names))
        return OneTimeAnswer(table, plan, instant)

    def reading_note(self) -> str:
        """The rows that would be read of each stream now, and who would; a line for EXPLAIN."""
        try:
            evaluation, instant, _ = self._evaluation()
            direct = evaluation.by_pieces()
        except PenstockError as error:
            return f"Question: refused now: {error.message}"
        at = "" if instant == BEGINNING else f" at {unit_of(self._question.plan).format(instant)}"
        if direct is None:
            return f"Question{at}: as a continuous query, in the asking process"
        parts = [
            f"{one.rows:,} rows of {one.stream} in {len(one.pieces)} of {one.known} pieces"
            f" {self._reader.place(one.rows)}"
            for one in direct.readings.values()
        ]
        return f"Question{at}: {'; '.join(parts) or 'no rows of streams, in the asking process'}"

    def _evaluation(self) -> tuple[Evaluation, int, Sort | None]:
        """The evaluation of the question, the instant it is about, and the order of its answer.

        Raises:
            PenstockError: The instant is not final, or not enough is retained for it.
        """
        try:
            instant = self._instant()
            wanted, sort = unordered(self._question.plan)
            stretches = covered(wanted, instant, self._view)
            wanted = self._with_retained(wanted, instant)
            contents = {name: self._content(name, wanted, instant) for name in self._tables}
            for name in self._relations:
                contents[name], since = self._view.relation(name, self._streams)
                require_history(wanted, instant, stretches, name, since)
        except PenstockError as error:
            raise error.locate(self._question.source) from None
        clock = INFINITY if self._view.is_over or self._clock is None else self._clock
        evaluation = Evaluation(
            wanted, instant, stretches, contents, self._choices, self._limit, clock, self._reader
        )
        return evaluation, instant, sort

    def answer_latest(self) -> OneTimeAnswer:
        """The answer for the state at the end of reading, where it can be merged.

        Raises:
            PenstockError: As for `answer`; or the state changed each time before it was read.
        """
        plan = self._question.plan
        merged = merged_query(plans_to_run({"question": first_rows(plan)})["question"])
        is_settled = self._question.as_of is not None or self._view.is_over
        if is_settled or self._tables or isinstance(merged, NotMerged):
            return self.answer()
        try:
            wanted, sort = unordered(plan)
            reading = LatestReading(merged, wanted, self._view, self._choices, self._limit)
            columns, instant = reading.answer()
        except PenstockError as error:
            raise error.locate(self._question.source) from None
        columns = columns if sort is None else in_order(plan, sort, columns)
        table = pa.table(list(columns), names=list(plan.schema.names))
        return OneTimeAnswer(table, plan, instant)

    @property
    def _clock(self) -> int | None:
        """The instant before which all is final; None if only relations are read."""
        clocks = [self._view.stream(name).watermark for name in self._streams]
        clocks += [self._view.clock(name) for name in self._tables]
        return min(clocks, default=None)

    def _instant(self) -> int:
        """The instant that is asked about.

        Raises:
            QueryError: It is not final yet.
        """
        moment, clock = self._question.as_of, self._clock
        is_final = clock is None or self._view.is_over
        if moment is None:
            if is_final:
                return self._last()
            assert clock is not None
            return clock if clock == BEGINNING else clock - 1
        unit = unit_of(self._question.plan)
        instant = instant_in(moment, unit)
        if is_final or clock is None or instant < clock:
            return instant
        msg = f"the answer at {unit.format(instant)} may still change"
        known = (
            "Nothing is final yet."
            if clock == BEGINNING
            else f"It is final before {unit.format(clock)}."
        )
        raise QueryError(msg, hint=known, at=moment.span)

    def _last(self) -> int:
        """The instant of the last row or change that came, at the end of the input."""
        latest = [self._view.stream(name).latest for name in self._streams]
        if latest or not self._relations:
            return max(latest, default=INFINITY - 1)
        changes = [self._view.relation(name, ())[0].ts for name in self._relations]
        return max(int(ts.max()) if len(ts) else BEGINNING for ts in changes)

    def _with_retained(self, plan: Plan, instant: int) -> Plan:
        """The plan in which a stream without a window is all that is retained of it."""
        if isinstance(plan, st.Stream):
            start = start_of_all(self._view.stream(plan.name), instant)
            return plan if start == BEGINNING else st.Window(plan, Since(start))
        if isinstance(plan, st.Window) and _is_plain(plan.child):
            return plan
        return plan.rebuild(tuple(self._with_retained(one, instant) for one in plan.children))

    def _content(self, query: str, plan: Plan, instant: int) -> Block:
        """The content of a query as the changes of a relation: what it holds, and held before."""
        now = _rows(self._view.result(query, instant), BEGINNING, 1)
        if not isinstance(plan, st.RelationToStream) or instant == BEGINNING:
            return now
        before = self._view.result(query, instant - 1)
        return concatenated(
            [
                _rows(before, BEGINNING, 1),
                _rows(before, instant, -1),
                _rows(self._view.result(query, instant), instant, 1),
            ]
        )


def _is_plain(plan: Plan) -> bool:
    """The rows of a declared stream as they came, some of them, or with other columns."""
    while isinstance(plan, op.Filter | op.Map | op.Alias | op.Group):
        plan = plan.child
    return isinstance(plan, st.Stream | op.OnArrival)


def _rows(columns: tuple[pa.Array, ...], instant: int, sign: int) -> Block:
    length = len(columns[0])
    return Block(
        columns,
        np.full(length, instant, np.int64),
        np.full(length, INFINITY, np.int64),
        np.full(length, sign, np.int8),
    )
