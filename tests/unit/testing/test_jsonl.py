from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import DataError
from penstock.reference.inputs import RelationChange
from penstock.reference.timeline import Emission
from penstock.testing.engines import CaseAnswer, CaseEngine, OracleEngine
from penstock.testing.jsonl import (
    inputs_of,
    load_json_cases,
    run_json_case,
    same,
    statements_of,
)

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.testing.engines import Question
    from penstock.testing.jsonl import JsonCase

SLIDING: dict[str, Any] = {
    "id": "sliding",
    "ts_unit": "ms",
    "streams": {
        "s": {"schema": [["ts", "int"], ["a", "float"]], "rows": [[1, 10], [2, 19.766661]]}
    },
    "query": "SELECT a FROM s [RANGE 10];",
    "until": 11,
    "initial": [],
    "expect": [
        {"at": 1, "insert": [[10]], "remove": []},
        {"at": 2, "insert": [[19.767]], "remove": []},
        {"at": 11, "insert": [], "remove": [[10.0]]},
    ],
}


class Canned:
    """An engine that sends out one row, whatever it is asked."""

    def answer(self, question: Question) -> CaseAnswer:
        return CaseAnswer([Emission(1, (10.0,))])


def loaded(folder: Path, **changed: object) -> JsonCase:
    file = folder / "cases.jsonl"
    file.write_text("\n" + json.dumps(SLIDING | changed) + "\n")
    (case,) = load_json_cases(file)
    return case


def verdict(folder: Path, engine: CaseEngine | None = None, **changed: object) -> str:
    return run_json_case(loaded(folder, **changed), engine or OracleEngine()).text


def test_every_change_until_the_end_is_compared(tmp_path: Path) -> None:
    assert verdict(tmp_path) == ""
    assert verdict(tmp_path, until=12) == (
        "the first difference is at 12:\n  unexpected  - 19.766661"
    )
    assert verdict(tmp_path, initial=[[None]]) == (
        "the first difference is before all input:\n  missing     null"
    )


def test_rows_are_the_content_at_an_instant(tmp_path: Path) -> None:
    assert verdict(tmp_path, expect=[{"at": 5, "rows": [[19.767], [10]]}]) == ""
    assert verdict(tmp_path, expect=[{"at": 11, "rows": []}]) == (
        "the first difference is at 11:\n  unexpected  19.766661"
    )


def test_what_is_emitted_is_compared_with_insertions(tmp_path: Path) -> None:
    assert verdict(tmp_path, Canned(), expect=[SLIDING["expect"][0]], initial=[]) == ""


def test_rows_of_a_query_that_sends_out_are_what_it_sends_then(tmp_path: Path) -> None:
    query = "RSTREAM(SELECT a FROM s [RANGE 10])"
    two = [{"at": 1, "rows": [[10]]}, {"at": 2, "rows": [[10], [19.767]]}]
    assert verdict(tmp_path, query=query, expect=two) == ""
    wrong = [{"at": 2, "rows": [[10]]}]
    assert "unexpected" in verdict(tmp_path, query=query, expect=wrong)


def test_entries_of_one_instant_add_up(tmp_path: Path) -> None:
    twice = [[1, 10], [1, 20]]
    streams = {"s": {"schema": [["ts", "int"], ["a", "float"]], "rows": twice}}
    entries = [{"at": 1, "insert": [[10]]}, {"at": 1, "insert": [[20]]}]
    assert verdict(tmp_path, streams=streams, expect=entries, until=5) == ""


def test_a_query_that_fails_is_a_failed_case(tmp_path: Path) -> None:
    assert "no column" in verdict(tmp_path, query="SELECT b FROM s;")


def test_a_case_is_declared_in_cql(tmp_path: Path) -> None:
    relation = {"schema": [["k", "str"], ["ok", "bool"]], "changes": [[3, "+", "x", True]]}
    views = [["v", "SELECT a FROM s"]]
    case = loaded(tmp_path, relations={"r": relation}, views=views)
    assert statements_of(case) == [
        "SET integer_division = true;",
        "CREATE STREAM `s` (`ts` BIGINT, `a` DOUBLE, WATERMARK FOR `ts` AS `ts`)"
        " USING memory OPTIONS (time_unit 'ms');",
        "CREATE RELATION `r` (`k` STRING, `ok` BOOLEAN) USING memory;",
        "CREATE VIEW `v` AS SELECT a FROM s;",
    ]
    inputs = inputs_of(case)
    assert inputs.streams == {"s": [(1, 10.0), (2, 19.766661)]}
    assert inputs.relations["r"].changes == [RelationChange(3, "+", ("x", True))]


@pytest.mark.parametrize(
    ("expected", "actual", "agree"),
    [
        (123456, 123457, False),
        (123456.0, 123457.0, True),
        (0.00012345, 0.000123454, True),
        (0.00012345, 0.00012346, False),
        (0.0, 0.0, True),
        (0.0, 1e-9, False),
        ("1", 1, False),
        (None, None, True),
        (None, 0, False),
        (True, True, True),
        (1, True, False),
    ],
)
def test_integers_agree_exactly_and_other_numbers_to_five_digits(
    expected: float | str | None, actual: float | str | None, agree: bool
) -> None:
    assert same(expected, actual) is agree


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: not JSON: "),
        ("[]", "line 1: a case lacks everything\n"),
        ('{"id": "x", "query": ""}', "line 1: a case lacks ts_unit, streams, until, expect\n"),
    ],
)
def test_lines_that_are_no_cases_are_refused(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(line)
    with pytest.raises(DataError) as caught:
        load_json_cases(file)
    assert str(caught.value).startswith(f"{file}: {message}")
