"""Every case under tests/queries on Spark, many of them on one pipeline."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.connection.questions.one_time_query import OneTimeQuery
from penstock.planner.physical.building import Choices
from penstock.reference.oracle import Oracle
from penstock.results.answer_kind import unit_of
from penstock.spark.home_view import view_of
from penstock.testing.format import load_test
from penstock.testing.spark import SparkCaseEngine
from penstock.testing.together import AT_ONCE, run_together
from penstock_fuzz.answers_at import difference, instants_worth_asking, moment_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.spark.pipeline import Pipeline
    from penstock.testing.format import StreamCase
    from penstock.testing.spark import SparkQuestion

QUERIES = Path(__file__).parents[1] / "queries"
CASES = [case for path in sorted(QUERIES.rglob("*.stream")) for case in load_test(path).cases]


def sets(case: StreamCase) -> bool:
    """A case with a setting: those share no pipeline with others, and few with each other."""
    return any(re.search(r"^\s*SET\b", one.text, re.IGNORECASE) for one in case.setup)


WITHOUT = [case for case in CASES if not sets(case)]
# Three cases in ten expect an error, and never get to a pipeline.
PIPELINES = -(-len(WITHOUT) * 7 // (10 * AT_ONCE))
TOGETHER = [
    [case for case in CASES if sets(case)],
    # Cases of one file in different pipelines: they have much in common.
    *(WITHOUT[number::PIPELINES] for number in range(PIPELINES)),
]


WRONG: list[str] = []
"""Answers to one-time questions that are not those of the oracle."""


def ask(pipeline: Pipeline, asked: Sequence[SparkQuestion]) -> None:
    """Ask each query once more, about two instants, of what the pipeline retains."""
    view = view_of(pipeline.home, pipeline.ledger.plan, pipeline.ledger.record.plan)
    for one in asked:
        plan, oracle = one.question.plan, Oracle(one.question.inputs)
        question = view.plan.session.question(one.running.text)
        choices = Choices.of(one.running.tactics)
        for instant in instants_worth_asking(oracle, plan, 2, one.question.text):
            moment = replace(question, as_of=moment_of(instant, unit_of(plan)))
            answer = OneTimeQuery(moment, view, (), choices, None).answer()
            fault = difference(oracle, plan, instant, answer.to_arrow())
            WRONG.extend([f"{one.question.text}: {fault}"] if fault else [])
    view.release()


@pytest.fixture(scope="module")
def engine() -> SparkCaseEngine:
    return SparkCaseEngine(settings=("SET retain = unbounded",), look=ask)


@pytest.mark.parametrize(
    "cases",
    [
        # Two processes share the pipelines (conftest.py).
        pytest.param(cases, id=f"half {number % 2}: pipeline {number}")
        for number, cases in enumerate(TOGETHER)
    ],
)
def test_the_answers_are_the_expected_ones(
    cases: Sequence[StreamCase], engine: SparkCaseEngine
) -> None:
    WRONG.clear()
    verdicts = run_together(cases, engine)
    assert not WRONG, "\n\n".join(WRONG)
    failed = [f"{one.place}: {one.title}\n{one.text}" for one in verdicts if not one.passed]
    assert not failed, "\n\n".join(failed)
