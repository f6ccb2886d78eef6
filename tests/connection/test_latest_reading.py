"""Questions under `SET isolation = latest`: rows come while they read, and the answer has them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from penstock.catalog.retain_rules import RetainRule
from penstock.connection.questions.one_time_query import asked
from penstock.connection.questions.store_view import RetainedStream
from penstock.errors import Overtaken, PenstockError, Refused
from penstock.operators.block import arriving
from penstock.reference.arrow_rows import arrow_columns
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.session import Session
from penstock.store.sub_windows.retained_rows import RetainedRows
from penstock_fuzz.answers_at import difference
from transactions.packets import DECLARED, SCHEMA, bound, row

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa

    from penstock.operators.block import Block
    from penstock.reference.timeline import Row

SPAN, PARTS = 100, 10
ROWS = 60
"""That come with each state."""


class Coming:
    """Rows of a stream, state by state, and how many states there are to be seen."""

    def __init__(self, states: int) -> None:
        self.random = np.random.default_rng(3)
        self.left = states
        self.rows: list[Row] = []
        self.retained = RetainedRows(SCHEMA)
        self.retained.follow(SPAN, PARTS, None, 0)
        self.watermark = 0
        self.released = 0
        self.views = 0
        for _ in range(4):
            self.come()

    def come(self) -> None:
        """Rows of 33 instants."""
        instants = np.sort(self.random.integers(self.watermark, self.watermark + 33, ROWS))
        rows = [row(int(ts), self.random) for ts in instants]
        self.rows += rows
        self.watermark += 33
        block = arriving(arrow_columns(SCHEMA, rows), np.asarray(instants, np.int64))
        self.retained.take_in(block, self.watermark)
        self.retained.pass_to(self.watermark)

    def view(self) -> ComingView:
        self.views += 1
        stream = RetainedStream(
            "packets",
            bound("SELECT ts FROM packets").unit,  # type: ignore[arg-type]  # it has one
            RetainRule(SPAN),
            True,
            self.retained.since,
            self.watermark,
            self.rows[-1][0],  # type: ignore[arg-type]  # an instant
            self.retained.sub_windows(),
        )
        return ComingView(self, stream)


class ComingView:
    """A view of the rows so far; whoever looks for a newer one lets rows come."""

    is_over = False
    tables: tuple[str, ...] = ()

    def __init__(self, coming: Coming, stream: RetainedStream) -> None:
        self._coming = coming
        self._stream = stream

    def stream(self, name: str) -> RetainedStream:
        assert name == "packets"
        return self._stream

    def newer(self) -> ComingView:
        if self._coming.left == 0:
            return self
        self._coming.left -= 1
        self._coming.come()
        return self._coming.view()

    def release(self) -> None:
        self._coming.released += 1

    def relation(self, name: str, streams: Collection[str]) -> tuple[Block, int]:
        raise AssertionError

    def clock(self, query: str) -> int:
        raise AssertionError

    def result(self, query: str, instant: int) -> tuple[pa.Array, ...]:
        raise AssertionError


def session(isolation: str = "latest") -> Session:
    made = Session()
    made.execute(DECLARED + f"SET isolation = {isolation};")
    return made


QUESTIONS = [
    "SELECT source, SUM(size) AS b, MEDIAN(size) AS m FROM packets [RANGE 87] GROUP BY source",
    "SELECT COUNT(*) AS n, MAX(cost) AS c, MIN(ts) AS since FROM packets [RANGE 100]",
    "SELECT ts, name FROM packets [RANGE 40] WHERE size > 3",
    "SELECT ts, size FROM packets [RANGE 60] ORDER BY size DESC, ts LIMIT 5 OFFSET 2",
    "SELECT COUNT(*) AS n FROM packets [RANGE 3]",
    "SELECT DISTINCT source FROM packets [RANGE 95]",
]


@pytest.mark.parametrize("states", [0, 1, 4, 30])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_that_of_the_state_at_the_end(question: str, states: int) -> None:
    coming = Coming(states)
    answer = asked(question, session(), coming.view(), ())
    assert coming.left == 0
    assert answer.instant == coming.watermark - 1
    plan = session().question(question, ()).plan
    oracle = Oracle(Inputs(streams={"packets": coming.rows}))
    assert difference(oracle, plan, answer.instant, answer.to_arrow()) is None
    # The first is the caller's.
    assert coming.released == coming.views - 1


@pytest.mark.parametrize(
    ("question", "isolation"),
    [
        (QUESTIONS[0], "window"),
        (QUESTIONS[0] + " AS OF 131", "latest"),
        ("SELECT a.ts FROM packets [RANGE 9] a, packets [RANGE 5] b WHERE a.ts = b.ts", "latest"),
    ],
)
def test_other_questions_are_answered_for_the_state_at_the_beginning(
    question: str, isolation: str
) -> None:
    coming = Coming(3)
    answer = asked(question, session(isolation), coming.view(), ())
    assert answer.instant == 131
    assert coming.left == 3


def test_a_question_that_is_overtaken_again_and_again_is_told() -> None:
    with pytest.raises(Overtaken, match="rows came 100 times while the question was being"):
        asked(QUESTIONS[4], session(), Coming(1000).view(), ())


def test_more_than_is_retained_is_refused_as_ever() -> None:
    with pytest.raises(Refused, match=r"\[RANGE 300\] of stream"):
        asked("SELECT ts FROM packets [RANGE 300]", session(), Coming(0).view(), ())


def test_a_damaged_view_is_let_go() -> None:
    coming = Coming(1)
    view = coming.view()
    broken = replace(view.stream("packets"), since=10**6)
    coming.view = lambda: ComingView(coming, broken)  # type: ignore[method-assign]
    with pytest.raises(PenstockError):
        asked(QUESTIONS[0], session(), view, ())
    assert coming.released == 1


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (QUESTIONS[0], "Isolation: latest, merged of the sub-windows of packets"),
        ("SELECT COUNT(*) FROM packets [ROWS 5]", "Isolation: window, as its window [ROWS 5]"),
    ],
)
def test_explain_says_which_isolation_and_why(question: str, says: str) -> None:
    (outcome,) = session().execute(f"EXPLAIN {question}")
    assert outcome.message is not None
    assert says in outcome.message
    (outcome,) = session("window").execute(f"EXPLAIN {question}")
    assert "Isolation" not in (outcome.message or "")
