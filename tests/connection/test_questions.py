"""One-time questions: at every instant that is covered, the answer of the continuous query."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.algebra import streams as st
from penstock.algebra.plan import different_nodes
from penstock.connection.engines.local.local_engine import LocalEngine
from penstock.connection.engines.local.local_view import LocalView
from penstock.connection.questions.one_time_query import OneTimeQuery
from penstock.errors import PenstockError
from penstock.planner.merged_queries import MergedQuery, merged_query
from penstock.planner.physical.building import Choices
from penstock.reference.arrow_rows import stream_table
from penstock.reference.inputs import RelationHistory
from penstock.reference.oracle import Oracle
from penstock.results.answer_kind import unit_of
from penstock.store.sub_windows.retained_rows import pieces_of
from penstock.store.sub_windows.sub_window import SubWindow
from penstock.testing.format import load_test
from penstock.testing.inline import changes_table, refuse_bad_inputs
from penstock.testing.setup import set_up
from penstock_fuzz.answers_at import difference, in_time_order, instants_worth_asking, moment_of

if TYPE_CHECKING:
    from penstock.algebra.plan import Plan
    from penstock.connection.connection import Connection
    from penstock.connection.questions.store_view import RetainedStream
    from penstock.testing.format import StreamCase
    from penstock.testing.setup import Setup

QUERIES = Path(__file__).parents[1] / "queries"
FILES = sorted(QUERIES.rglob("*.stream"))
INSTANTS = 6
SUB_WINDOWS = 4
"""Of a window, so that some of them are whole, and some at its edges."""


def fed(setup: Setup, plan: Plan) -> Connection:
    """A connection that retains everything, with the input of a case, which has ended."""
    db = penstock.connect_inline()
    db.execute("SET retain = unbounded")
    for text in setup.statements:
        # What is written where does not matter to questions.
        if " SINK " not in text:
            db.execute(text)
    engine = db.engine
    assert isinstance(engine, LocalEngine)
    nodes = different_nodes(plan)
    relations = {one.name: one.schema for one in nodes if isinstance(one, st.Relation)}
    for name, schema in relations.items():
        history = setup.inputs.relations.get(name, RelationHistory())
        engine.feeding.update(name, changes_table(schema, history))
    streams = [one for one in nodes if isinstance(one, st.Stream)]
    for name, rows in in_time_order(setup.inputs, streams).items():
        engine.feeding.insert(name, stream_table(engine.feeding.intakes[name].schema, rows))
    db.finish()
    return db


def faults_of(case: StreamCase) -> list[str]:
    """What is wrong with the answers to questions about the query of a case."""
    try:
        setup = set_up(case)
        plan = setup.session.bind(case.subject.text).plan
        refuse_bad_inputs(plan, setup.inputs)
        oracle = Oracle(setup.inputs)
        instants = instants_worth_asking(oracle, plan, INSTANTS, case.title)
    except PenstockError:
        # The case is about what is refused.
        return []
    db = fed(setup, plan)
    assert isinstance(db.engine, LocalEngine)
    session = setup.session
    question = session.question(case.subject.text)
    choices = Choices.of(session.settings.tactics)
    view, found = LocalView(db.engine), []
    for instant in instants:
        moment = moment_of(instant, unit_of(plan))
        query = OneTimeQuery(replace(question, as_of=moment), view, (), choices, None)
        answers = [query.answer()]
        if isinstance(merged_query(plan), MergedQuery):
            cut = CutView(db.engine, instant, plan)
            answers.append(OneTimeQuery(question, cut, (), choices, None).answer_latest())
        faults = [difference(oracle, plan, instant, one.to_arrow()) for one in answers]
        found += [f"{case.place} {case.title}: {one}" for one in faults if one is not None]
    return found


class CutView(LocalView):
    """The rows as they are in a home in which an instant is the last final one, in sub-windows."""

    is_over = False

    def __init__(self, engine: LocalEngine, instant: int, plan: Plan) -> None:
        super().__init__(engine)
        self._instant = instant
        merged = merged_query(plan)
        assert isinstance(merged, MergedQuery)
        self._length = max(merged.span // SUB_WINDOWS, 1)

    def stream(self, name: str) -> RetainedStream:
        whole = super().stream(name)
        pieces = [
            one
            for sub_window in whole.sub_windows
            for one in pieces_of(sub_window.table(), self._length)
        ]
        cut = tuple(SubWindow.numbered(number, self._length, [one]) for number, one in pieces)
        return replace(whole, watermark=self._instant + 1, sub_windows=cut)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(QUERIES)))
def test_the_answer_at_an_instant_is_that_of_the_continuous_query(path: Path) -> None:
    cases = [one for one in load_test(path).cases if one.subject.kind == "query"]
    found = [fault for case in cases for fault in faults_of(case)]
    assert found == []
