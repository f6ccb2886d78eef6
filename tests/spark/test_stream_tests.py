"""Every case under tests/queries on Spark, all on one session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.testing.format import load_test
from penstock.testing.runner import run_case
from penstock.testing.spark import SparkEngine

if TYPE_CHECKING:
    from penstock.testing.format import Case

QUERIES = Path(__file__).parents[1] / "queries"
CASES = [
    pytest.param(case, id=f"{path.relative_to(QUERIES)}: {case.title}")
    for path in sorted(QUERIES.rglob("*.stream"))
    for case in load_test(path).cases
]


@pytest.fixture(scope="module")
def engine() -> SparkEngine:
    return SparkEngine()


@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_the_expected_one(case: Case, engine: SparkEngine) -> None:
    verdict = run_case(case, engine)
    assert verdict.passed, f"{verdict.place}\n{verdict.text}"
