"""Every case under tests/queries, on the reference evaluator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.streamtest.engines import engine_called
from penstock.streamtest.format import load_test
from penstock.streamtest.runner import run_case

if TYPE_CHECKING:
    from penstock.streamtest.format import Case

QUERIES = Path(__file__).parent / "queries"
CASES = [
    pytest.param(case, id=f"{path.relative_to(QUERIES)}: {case.title}")
    for path in sorted(QUERIES.rglob("*.stream"))
    for case in load_test(path).cases
]


@pytest.mark.parametrize("case", CASES)
def test_the_oracle_gives_the_expected_answer(case: Case) -> None:
    verdict = run_case(case, engine_called("oracle"))
    assert verdict.passed, f"{verdict.place}\n{verdict.text}"
