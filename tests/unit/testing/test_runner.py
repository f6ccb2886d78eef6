from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from penstock.algebra.time import BEGINNING
from penstock.reference.timeline import Bag, Emission, Timeline
from penstock.testing.engines import CaseAnswer, CaseEngine, OracleEngine
from penstock.testing.format import parse_test
from penstock.testing.runner import run_case

if TYPE_CHECKING:
    from penstock.testing.engines import Question

SHARED = """\
CREATE STREAM s (ts BIGINT, a INT, WATERMARK FOR ts AS ts);

rows s
ts | a
 1 | 10
 2 | 20

case x

"""
QUERY = """\
query
SELECT a FROM s [RANGE 10];

"""
ISTREAM = """\
query
ISTREAM(SELECT a FROM s [RANGE 10]);

"""
ORACLE = OracleEngine()


class Canned:
    """An engine that has its answer ready."""

    def __init__(self, result: Timeline | list[Emission], failures: int = 0) -> None:
        self.prepared = CaseAnswer(result, failures)

    def answer(self, question: Question) -> CaseAnswer:
        return self.prepared


def verdict(text: str, engine: CaseEngine = ORACLE) -> str:
    """What is wrong with the only case of a file; nothing if it passes."""
    (case,) = parse_test(text, "x.stream").cases
    return run_case(case, engine).text


@pytest.mark.parametrize(
    "expectations",
    [
        "snapshots\n@1   10\n@2   20\n     10\n@11  20\n@12  (empty)\n",
        "snapshots\n@2 10\n@2 20\n@start (empty)\n",
        "changes\n@1 + 10\n@2 + 20\n@11 - 10\n@12 - 20\n",
        "failures 0\n",
    ],
)
def test_right_expectations_hold(expectations: str) -> None:
    assert verdict(SHARED + QUERY + expectations) == ""


def test_a_wrong_snapshot() -> None:
    text = verdict(SHARED + QUERY + "snapshots\n@1  10\n@2  10\n    10\n@12  20\n")
    assert text == (
        "line 13, snapshots: the first difference is at 2:\n"
        "  missing     10\n"
        "  unexpected  20\n"
        "1 more instant differs: 12"
    )


def test_changes_are_listed_completely() -> None:
    text = verdict(SHARED + QUERY + "changes\n@1 + 10\n@2 + 20\n@11 - 10\n   - 20\n")
    assert text == (
        "line 13, changes: the first difference is at 11:\n"
        "  missing     - 20\n"
        "1 more instant differs: 12"
    )


def test_every_wrong_block_of_a_case_is_reported() -> None:
    text = verdict(SHARED + QUERY + "snapshots\n@1  11\n\nchanges\n@1 + 11\n\nfailures 3\n")
    assert [line for line in text.split("\n") if line.startswith("line")] == [
        "line 13, snapshots: the first difference is at 1:",
        "line 16, changes: the first difference is at 1:",
        "line 19, failures: expected 3 failed expressions, counted 0",
    ]


def test_what_is_sent_out_is_compared_as_bags_unless_in_order() -> None:
    engine = Canned([Emission(5, (2,)), Emission(5, (1,))])
    assert verdict(SHARED + ISTREAM + "emits\n@5  1\n    2\n", engine) == ""
    assert verdict(SHARED + ISTREAM + "emits in order\n@5  2\n    1\n", engine) == ""
    assert verdict(SHARED + ISTREAM + "emits in order\n@5  1\n    2\n", engine) == (
        "line 13, emits: the first difference is at 5:\n"
        "  missing     1, as row 1\n"
        "  missing     2, as row 2\n"
        "  unexpected  2, as row 1\n"
        "  unexpected  1, as row 2"
    )


def test_nothing_is_an_answer_too() -> None:
    assert verdict(SHARED + ISTREAM + "emits\n(none)\n", Canned([])) == ""
    assert verdict(SHARED + ISTREAM + "emits\n", Canned([])) == ""
    nothing = Timeline([BEGINNING], [Counter()])
    assert verdict(SHARED + QUERY + "changes\n(none)\n", Canned(nothing)) == ""


def test_snapshots_without_instants_test_nothing_and_fail() -> None:
    assert verdict(SHARED + QUERY + "snapshots\n") == (
        "line 13, snapshots: no instant is given;"
        " list some, or let --update fill in all that matter"
    )


def test_a_block_must_suit_the_kind_of_the_result() -> None:
    assert verdict(SHARED + QUERY + "emits\n@1 10\n") == (
        "line 13, emits: the result of this query is a relation,"
        " expected a block snapshots or changes"
    )
    assert verdict(SHARED + ISTREAM + "changes\n@1 + 10\n") == (
        "line 13, changes: the result of this query is a stream, expected a block emits"
    )


def test_an_error_is_compared_in_full() -> None:
    query = "query\nSELECT b FROM s;\n\n"
    right = (
        'error\nline 1, column 8: stream "s" has no column "b"\n'
        '  SELECT b FROM s;\n         ^\n  Did you mean "a"?\n'
    )
    wrong = right.replace('"b"', '"c"')
    assert verdict(SHARED + query + wrong).startswith(
        "line 13, error: the text differs (- expected, + computed):\n"
        '- line 1, column 8: stream "s" has no column "c"\n'
        '+ line 1, column 8: stream "s" has no column "b"\n'
    )


def test_an_error_that_does_not_come() -> None:
    assert verdict(SHARED + QUERY + "error\nno such luck\n") == (
        "line 13, error: this error was expected, and there was none:\nno such luck"
    )


def test_an_error_that_nobody_expected() -> None:
    text = verdict(SHARED + "query\nSELECT b FROM s;\n\nchanges\n")
    assert text.startswith("line 10, query: an error was not expected:\n  line 1, column 8: ")


def test_a_statement_can_be_the_one_under_test() -> None:
    text = verdict(SHARED + "statement\nCREATE STREAM s (ts BIGINT);\n\nerror\nno\n")
    assert text.startswith("line 13, error: the text differs (- expected, + computed):\n- no\n")


def test_a_crash_shows_its_traceback() -> None:
    class Crashing:
        def answer(self, question: Question) -> CaseAnswer:
            raise ZeroDivisionError

    text = verdict(SHARED + QUERY + "changes\n", Crashing())
    assert text.startswith("crashed\nTraceback (most recent call last):\n")
    assert text.endswith("ZeroDivisionError")


RELATION = """\
CREATE RELATION r (k INT, x STRING);

rows r
x | k
+ a | 1
@5 + b | 2
   - a | 1

case x

rows r
@9 - 2 | b

query
SELECT x, k FROM r;

"""


def test_relations_have_initial_content_and_changes_and_cases_add_to_them() -> None:
    changes = "changes\n@start + a | 1\n@5 - a | 1\n   + b | 2\n@9 - b | 2\n"
    assert verdict(RELATION + changes) == ""
    assert verdict(RELATION + changes.replace("@start ", "")) == ""
    assert verdict(RELATION + "snapshots\n@start a | 1\n@4 a | 1\n@5 b | 2\n@9 (empty)\n") == ""
    assert verdict(RELATION + changes.replace("@start + a | 1\n", "")) == (
        "line 17, changes: the first difference is before all input:\n  unexpected  + a | 1"
    )


MOMENTS = """\
CREATE STREAM s (ts TIMESTAMP, a INT, WATERMARK FOR ts AS ts);

day 1993-11-03

rows s
ts | a
05:00:08 | 1
1993-11-04 00:00:00 | 2

case x

query
SELECT a, ts FROM s;

"""


def test_moments_of_a_given_day_are_written_without_it() -> None:
    assert verdict(MOMENTS + "changes\n@05:00:08 + 1 | 05:00:08\n"
                   "@1993-11-04 00:00:00 + 2 | 1993-11-04 00:00:00\n") == ""  # fmt: skip
    assert verdict(MOMENTS + "snapshots\n@05:00  (empty)\n@06:00  1 | 05:00:08\n") == ""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            " 2 | 20",
            " 2 | x",
            "x.stream: line 6, column 2: 'x' is not a value of type INT\n   2 | x\n   ^^^^^",
        ),
        (
            "ts | a",
            "ts | b",
            'x.stream: line 4, column 1: this is not a header for stream "s",'
            " expected its columns, in any order\n"
            "  ts | b\n  ^^^^^^\n  For example: ts | a",
        ),
        (
            "rows s",
            "rows t",
            'x.stream: line 3, column 1: there is no stream or relation called "t"\n'
            "  rows t\n  ^^^^^^\n  CREATE it above.",
        ),
        (
            "@1 + 10",
            "@1 + 10 | 11",
            "x.stream: line 14, column 1: 2 values, expected 1: a\n  @1 + 10 | 11\n  ^^^^^^^^^^^^",
        ),
        (
            "@1 + 10",
            "@00:01 + 10",
            "x.stream: line 14, column 1: the instants of this query are not written like @00:01,"
            " expected a whole number\n"
            "  @00:01 + 10\n  ^^^^^^^^^^^",
        ),
    ],
)
def test_rows_that_do_not_fit_are_pointed_at(old: str, new: str, message: str) -> None:
    assert verdict((SHARED + QUERY + "changes\n@1 + 10\n").replace(old, new)) == message


def test_a_failing_declaration_is_reported_with_its_line_in_the_file() -> None:
    text = verdict("# first\n\nCREATE STREEM s (ts BIGINT);\n\ncase x\n" + QUERY + "changes\n")
    assert text.startswith("x.stream: line 3, column ")


def test_plans_and_warnings_are_compared_line_by_line() -> None:
    query = "query\nSELECT DISTINCT a FROM s [RANGE 10] OUTPUT [RANGE 5];\n\n"
    warning = "OUTPUT over DISTINCT may hold a row twice: withdrawals do not shorten it\n"
    assert verdict(f"{SHARED}{query}warning\n{warning}") == ""
    assert verdict(f"{SHARED}{QUERY}warning\n{warning}") == (
        f"line 13, warning: the text differs (- expected, + computed):\n- {warning.strip()}"
    )
    plan = (
        "plan\nMap a = s.a\n  Alias s\n    Window [RANGE 10]\n      Stream s (ts BIGINT, a INT)\n"
    )
    assert verdict(SHARED + QUERY + plan) == ""
    assert verdict(SHARED + QUERY + plan.replace("10", "11")) == (
        "line 13, plan: the text differs (- expected, + computed):\n"
        "  Map a = s.a\n"
        "    Alias s\n"
        "-     Window [RANGE 11]\n"
        "+     Window [RANGE 10]\n"
        "        Stream s (ts BIGINT, a INT)"
    )


def test_failed_expressions_are_counted() -> None:
    assert verdict(SHARED + ISTREAM + "failures 2\n", Canned([], failures=2)) == ""
    assert verdict(SHARED + ISTREAM + "failures 0\n", Canned([], failures=2)) == (
        "line 13, failures: expected 0 failed expressions, counted 2"
    )


def test_the_noise_of_floating_point_is_no_change() -> None:
    stream = SHARED.replace("a INT", "a DOUBLE")
    bags: list[Bag] = [Counter(), Counter([(0.3,)]), Counter([(0.1 + 0.2,)])]
    engine = Canned(Timeline([BEGINNING, 1, 2], bags))
    assert verdict(stream + QUERY + "changes\n@1 + 0.3\n", engine) == ""
