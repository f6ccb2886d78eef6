"""Questions on trial: asked between feeds, and compared with the oracle's answer at the instant."""

from __future__ import annotations

import pickle
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.algebra import operators as op
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.algebra.time import BEGINNING
from penstock.connection.questions.one_time_query import OneTimeQuery
from penstock.connection.questions.piece_work import OwnReader
from penstock.errors import QueryError, Refused
from penstock.planner.physical.building import Choices
from penstock.reference.oracle import Oracle
from penstock.results.answer_kind import unit_of
from penstock.testing.inline import QUERY
from penstock_fuzz.answers_at import difference, instants_worth_asking, moment_of
from penstock_fuzz.check import tolerance_for
from penstock_fuzz.draw import Draw
from penstock_fuzz.trial import late_rows

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from penstock.algebra.plan import Plan
    from penstock.connection.questions.piece_work import Columns, PieceWork
    from penstock.connection.questions.store_view import StoreView
    from penstock.session import BoundQuestion, Session
    from penstock.store.sub_windows.piece import Piece
    from penstock_fuzz.trial import Trial

MOST_INSTANTS = 40
"""So many instants of a trial are worth a question."""
OTHER_INSTANTS = 10
"""And so many at which rows came, whatever they change."""
KEPT = f"SELECT * FROM {QUERY}"
"""The result of the query that runs, read as a table."""


class WrongAnswer(AssertionError):
    """An answer that is not the oracle's; a trial fails by it."""


@dataclass(frozen=True)
class Retaining:
    """The retention of a trial's streams, as settings."""

    settings: tuple[str, ...]


def retaining_of(trial: Trial, plan: Plan) -> Retaining:
    """The retention of the streams of a trial; shrinking the query does not change it."""
    draw = _draw(trial, "retention")
    steps = draw.pick(0, 0, 2, 5, 20, 100)
    parts = f"SET retain_parts = {draw.pick(1, 2, 7, 60)}"
    micros = unit_of(plan).micros
    if not steps or _reads_all(plan):
        text = "unbounded"
    elif micros is None:
        text = str(steps)
    else:
        text = f"'{steps * micros / 1e6:f} seconds'"
    return Retaining((f"SET retain = {text}", parts))


def _reads_all(plan: Plan) -> bool:
    """A stream has no window: in a question it is what is retained, so that has to be all."""
    if isinstance(plan, st.Stream):
        return True
    below = plan.child if isinstance(plan, st.Window) else None
    while isinstance(below, op.Filter | op.Map | op.Alias | op.Group):
        below = below.child
    return not isinstance(below, st.Stream) and any(map(_reads_all, plan.children))


def _draw(trial: Trial, what: object) -> Draw:
    return Draw(f"{zlib.crc32(trial.script.encode())} {trial.partitions} {what}")


class Asking:
    """The questions of one trial: those that the query itself is, and those about its result.

    Args:
        trial: Its input, which is fed in part so far.
        plan: The query.
        counts: What came of questions so far; it is added to.
    """

    def __init__(self, trial: Trial, plan: Plan, counts: Counter[str]) -> None:
        inputs = trial.inputs(late_rows(trial))
        self.retaining = retaining_of(trial, plan)
        self._trial = trial
        self._plan = plan
        self._oracle = Oracle(inputs)
        self._tolerance = tolerance_for(plan, inputs)
        known = instants_worth_asking(self._oracle, plan, MOST_INSTANTS, trial.script)
        rows = {
            stream.time_of(row)
            for stream in trial.streams.values()
            for row in range(len(stream.rows))
        }
        # Also before anything shows, as windows may begin later.
        first = _draw(trial, "instants").some(sorted(rows), OTHER_INSTANTS) if rows else []
        self._instants = sorted({*known, *first})
        self._counts = counts

    def ask(self, view: StoreView, session: Session, tables: Sequence[str], turn: object) -> None:
        """Ask what a view can answer; it is released by the caller.

        Raises:
            WrongAnswer: An answer is not that of the oracle.
        """
        draw = _draw(self._trial, f"turn {turn}")
        question = session.question(self._trial.query)
        last = _last_final(self._plan, view)
        known = [one for one in self._instants if last is None or one <= last]
        for instant in draw.some(known, 2) if known else ():
            self._compare(_about(question, instant), view, session, (), instant)
        if last is not None and last > BEGINNING:
            self._compare(question, view, session, (), last)
        if known and QUERY in tables:
            self._ask_result(view, session, tables, draw.pick(*known))

    def _ask_result(
        self, view: StoreView, session: Session, tables: Sequence[str], instant: int
    ) -> None:
        try:
            question = session.question(KEPT, tables)
        except QueryError:
            # Two of its columns have one name.
            return
        if view.is_over or instant < view.clock(QUERY):
            self._compare(_about(question, instant), view, session, tables, instant)

    def _compare(
        self,
        question: BoundQuestion,
        view: StoreView,
        session: Session,
        tables: Sequence[str],
        instant: int,
    ) -> None:
        choices = Choices.of(session.settings.tactics)
        asking = OneTimeQuery(question, view, tables, choices, None, SentWork())
        try:
            answer = asking.answer_latest() if question.as_of is None else asking.answer()
        except Refused as refused:
            self._require_reason(view, refused)
            self._counts["refused"] += 1
            return
        except QueryError:
            if not tables:
                raise
            self._counts["not kept"] += 1
            return
        is_same_instant = question.as_of is not None or answer.instant == instant
        fault = difference(
            self._oracle, self._plan, instant, answer.to_arrow(), self._tolerance,
            in_order=not tables,
        )  # fmt: skip
        if fault is not None or not is_same_instant:
            what = "the result kept of it" if tables else "the question"
            msg = f"{what}, {self.retaining.settings}, {fault or f'is about {answer.instant}'}"
            raise WrongAnswer(msg)
        self._counts["of results" if tables else "answers"] += 1

    def _require_reason(self, view: StoreView, refused: Refused) -> None:
        """See that rows are missing indeed."""
        nodes = different_nodes(self._plan)
        streams = [view.stream(one.name) for one in nodes if isinstance(one, st.Stream)]
        is_split = any(isinstance(one, op.Split) for one in nodes)
        if not is_split and all(one.is_whole for one in streams):
            msg = f"refused, though no row is missing: {refused}"
            raise WrongAnswer(msg)


class SentWork(OwnReader):
    """Reads pieces as tasks of a job do: what they are to do is sent to them."""

    def read(self, work: PieceWork, pieces: Sequence[Piece]) -> list[Columns]:
        """The columns that come of pieces, in two portions."""
        sent = [pickle.dumps((work, pieces[start::2])) for start in range(2)]
        return [one for text in sent for work, own in [pickle.loads(text)] for one in work.of(own)]


def _about(question: BoundQuestion, instant: int) -> BoundQuestion:
    return replace(question, as_of=moment_of(instant, unit_of(question.plan)))


def _last_final(plan: Plan, view: StoreView) -> int | None:
    """The last instant that is final; None if all are."""
    if view.is_over:
        return None
    names = {one.name for one in different_nodes(plan) if isinstance(one, st.Stream)}
    # Without streams, more changes may come at any instant.
    clock = min((view.stream(name).watermark for name in names), default=BEGINNING)
    return max(clock - 1, BEGINNING)
