"""Every case under tests/queries on Spark, many of them on one pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.testing.format import load_test
from penstock.testing.spark import SparkCaseEngine
from penstock.testing.together import AT_ONCE, run_together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.testing.format import StreamCase

QUERIES = Path(__file__).parents[1] / "queries"
CASES = [case for path in sorted(QUERIES.rglob("*.stream")) for case in load_test(path).cases]
PIPELINES = -(-len(CASES) // AT_ONCE)


@pytest.fixture(scope="module")
def engine() -> SparkCaseEngine:
    return SparkCaseEngine()


@pytest.mark.parametrize(
    "cases",
    [
        # Cases of one file in different pipelines: they have much in common. Two processes share
        # the pipelines (conftest.py).
        pytest.param(CASES[number::PIPELINES], id=f"half {number % 2}: pipeline {number}")
        for number in range(PIPELINES)
    ],
)
def test_the_answers_are_the_expected_ones(
    cases: Sequence[StreamCase], engine: SparkCaseEngine
) -> None:
    verdicts = run_together(cases, engine)
    failed = [f"{one.place}: {one.title}\n{one.text}" for one in verdicts if not one.passed]
    assert not failed, "\n\n".join(failed)
