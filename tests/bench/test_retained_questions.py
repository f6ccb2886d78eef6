"""The benchmark of questions: its answers are DuckDB's, and it says what it promises."""

from __future__ import annotations

import json

from penstock_bench.catching_up import QUERIES as LATE
from penstock_bench.retained_questions import QUESTIONS, report


def test_the_last_line_has_every_question_with_both_times() -> None:
    lines: list[str] = []
    report(450_000, lines.append)
    found = json.loads(lines[-1])
    assert found["benchmark"] == "ask"
    assert set(QUESTIONS) <= set(found)
    assert all(found["catching_up"][one]["cpu_seconds"] > 0 for one in LATE)
    assert all(found[one]["seconds"] > 0 and found[one]["duckdb_seconds"] > 0 for one in QUESTIONS)
