"""Questions in company: what they declare is named apart, and nothing else changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError, PenstockError
from penstock.reference.inputs import Inputs
from penstock.session import Session
from penstock.testing.company import named_apart, settings_of
from penstock.testing.engines import CaseAnswer, OracleEngine, Question
from penstock.testing.format import load_test
from penstock.testing.runner import CaseRun, asking
from penstock.testing.together import run_all, run_together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.testing.format import StreamCase

QUERIES = Path(__file__).parents[2] / "queries"

DECLARED = "CREATE STREAM s (ts BIGINT, s INT, WATERMARK FOR ts AS ts);"


def question(text: str, *statements: str) -> Question:
    session = Session()
    for statement in statements:
        session.execute(statement)
    plan = session.bind(text).plan
    return Question(plan, Inputs({}, {}), statements, text)


def test_names_have_the_prefix_wherever_they_are_used() -> None:
    made = named_apart(question("SELECT `s`.s, 's' AS t FROM s [RANGE 5]", DECLARED), "q7_")
    assert made.statements == ("CREATE STREAM q7_s (ts BIGINT, q7_s INT, WATERMARK FOR ts AS ts);",)
    assert made.text == "SELECT `q7_s`.q7_s, 's' AS t FROM q7_s [RANGE 5]"


def test_units_of_time_are_no_names() -> None:
    declared = "CREATE STREAM seconds (ts TIMESTAMP, k INT, WATERMARK FOR ts AS ts);"
    made = named_apart(question("SELECT k FROM seconds [RANGE 5 SECONDS]", declared), "q1_")
    assert made.text == "SELECT k FROM q1_seconds [RANGE 5 SECONDS]"


@pytest.mark.parametrize(
    ("statements", "settings"),
    [
        ((DECLARED,), ()),
        (("SET integer_division = true;", DECLARED), ("SET integer_division = true;",)),
        ((DECLARED, "SET integer_division = true;"), None),
    ],
)
def test_settings_that_come_first_can_be_shared(
    statements: tuple[str, ...], settings: tuple[str, ...] | None
) -> None:
    assert settings_of(question("SELECT s FROM s [NOW]", *statements)) == settings


def test_all_stream_tests_without_settings_fit_into_one_catalog() -> None:
    session = Session()
    taken = 0
    for path in sorted(QUERIES.rglob("*.stream")):
        for case in load_test(path).cases:
            asked = CaseRun(case.title, case.place, asking(case)).question
            if asked is None or settings_of(asked) != ():
                continue
            made = named_apart(asked, f"q{taken}_")
            for statement in made.statements:
                session.execute(statement)
            assert session.bind(made.text).plan.schema.types == asked.plan.schema.types
            taken += 1
    assert taken > 500


@dataclass
class Together(OracleEngine):
    """The reference evaluator, as an engine that is asked many questions at once."""

    spoil: Callable[[CaseAnswer], CaseAnswer | PenstockError] = lambda answer: answer
    asked: list[int] = field(default_factory=list)

    def answers(self, questions: Sequence[Question]) -> list[CaseAnswer | PenstockError]:
        self.asked.append(len(questions))
        return [self.spoil(self.answer(one)) for one in questions]


def some_cases() -> Sequence[StreamCase]:
    cases = load_test(QUERIES / "windows" / "rows.stream").cases
    return [case for case in cases if case.expectations[0].kind != "error"]


def test_questions_are_asked_together() -> None:
    engine = Together()
    assert all(verdict.passed for verdict in run_all(some_cases(), engine))
    assert engine.asked == [len(some_cases())]


def test_a_case_that_passes_only_alone_has_failed() -> None:
    engine = Together(spoil=lambda _: DataError("spoilt"))
    texts = [verdict.text for verdict in run_together(some_cases(), engine)]
    assert all(text.startswith("passes alone, but not in company of others:") for text in texts)
    assert "spoilt" in texts[0]


def test_a_crash_of_all_together_is_a_failure() -> None:
    def crash(_: CaseAnswer) -> CaseAnswer:
        msg = "all are down"
        raise RuntimeError(msg)

    first, *others = run_together(some_cases(), Together(spoil=crash))
    assert "crashed together" in first.text
    assert "all are down" in first.text
    assert all(verdict.passed for verdict in others)
