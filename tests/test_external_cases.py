"""The cases in ../shared/cases, which others wrote, on the reference evaluator and inline.

They are read where they lie and are no part of the repository. Cases that cannot pass yet are
listed in docs/known_gaps.md, one row of a table each, the id in backticks first: a listed case
that passes fails here, so that the list stays true.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.testing.engines import engine_called
from penstock.testing.jsonl import load_json_cases, run_json_case

if TYPE_CHECKING:
    from penstock.testing.jsonl import JsonCase

ROOT = Path(__file__).parents[1]
FOLDER = ROOT.parent / "shared" / "cases"
KNOWN_GAPS = ROOT / "docs" / "known_gaps.md"

if not FOLDER.is_dir():
    pytest.skip(f"there are no external cases here: no folder {FOLDER}", allow_module_level=True)

CASES = [case for path in sorted(FOLDER.glob("*.jsonl")) for case in load_json_cases(path)]


def known_gaps() -> set[str]:
    """The ids in the first column of the tables of docs/known_gaps.md."""
    text = KNOWN_GAPS.read_text("utf-8") if KNOWN_GAPS.is_file() else ""
    return set(re.findall(r"^\| *`([^`]+)`", text, re.MULTILINE))


@pytest.mark.parametrize("engine", ["oracle", "inline"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_the_answer_is_that_of_others(case: JsonCase, engine: str) -> None:
    verdict = run_json_case(case, engine_called(engine))
    if case.title in known_gaps():
        assert not verdict.passed, f"{case.title} passes: take it out of {KNOWN_GAPS}"
        pytest.xfail(f"listed in {KNOWN_GAPS.name}")
    assert verdict.passed, f"{verdict.place}\n{case.content['query']}\n{verdict.text}"
