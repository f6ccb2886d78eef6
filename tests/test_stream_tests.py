"""Every case under tests/queries, on the reference evaluator and on the inline engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.testing.engines import engine_called
from penstock.testing.format import load_test
from penstock.testing.runner import run_case

if TYPE_CHECKING:
    from penstock.testing.format import StreamCase

QUERIES = Path(__file__).parent / "queries"
CASES = [
    pytest.param(case, id=f"{path.relative_to(QUERIES)}: {case.title}")
    for path in sorted(QUERIES.rglob("*.stream"))
    for case in load_test(path).cases
]


@pytest.mark.parametrize("engine", ["oracle", "inline"])
@pytest.mark.parametrize("case", CASES)
def test_the_answer_is_the_expected_one(case: StreamCase, engine: str) -> None:
    verdict = run_case(case, engine_called(engine))
    assert verdict.passed, f"{verdict.place}\n{verdict.text}"
