from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.errors import DataError
from penstock.testing.format import parse_test, with_blocks

if TYPE_CHECKING:
    from penstock.testing.blocks import TextBlock

TEXT = """\
# Two cases over one stream.

CREATE STREAM s (
  ts BIGINT, a INT,
  WATERMARK FOR ts AS ts);
set integer_division = true;

rows s
ts | a
# late
 1 | 10

case one row

query
SELECT a
FROM s;

snapshots
@1  10

changes

case a bad statement
day 2024-01-31

statement
DROP STREAM t;

error
there is no stream called "t"
  Known: s.
"""


def summary(blocks: tuple[TextBlock, ...]) -> list[tuple[str, str, int, int]]:
    return [(block.kind, block.argument, block.first, block.last) for block in blocks]


def fault_of(text: str) -> str:
    with pytest.raises(DataError) as caught:
        parse_test(text, "x.stream")
    return str(caught.value)


def test_a_file_is_cut_into_cases_and_blocks_with_line_numbers() -> None:
    first, second = parse_test(TEXT, "x.stream").cases
    assert (first.title, first.line, first.place) == ("one row", 13, "x.stream:13")
    assert summary(first.setup) == [("cql", "", 3, 5), ("cql", "", 6, 6), ("rows", "s", 8, 11)]
    assert summary((first.subject,)) == [("query", "", 15, 17)]
    assert summary(first.expectations) == [("snapshots", "", 19, 20), ("changes", "", 22, 22)]
    assert summary(second.setup[3:]) == [("day", "2024-01-31", 25, 25)]
    assert summary((second.subject,)) == [("statement", "", 27, 28)]
    assert second.expectations[0].text == 'there is no stream called "t"\n  Known: s.'


def test_what_precedes_the_first_case_belongs_to_every_case() -> None:
    first, second = parse_test(TEXT, "x.stream").cases
    assert first.setup == second.setup[:3]


def test_comments_are_left_out_of_rows_and_kept_in_cql() -> None:
    case = parse_test(TEXT, "x.stream").cases[0]
    assert case.setup[2].text == "ts | a\n 1 | 10"
    assert case.setup[2].body[1].number == 11
    query = TEXT.replace("SELECT a\n", "SELECT a\n#1\n")
    assert parse_test(query, "x.stream").cases[0].subject.text == "SELECT a\n#1\nFROM s;"


def test_replacing_blocks_leaves_every_other_line_alone() -> None:
    test = parse_test(TEXT, "x.stream")
    snapshots, changes = test.cases[0].expectations
    text = with_blocks(
        test.source,
        {snapshots: ["snapshots", "@1  11", "@2  12"], changes: ["changes", "(none)"]},
    )
    assert text == TEXT.replace("@1  10\n", "@1  11\n@2  12\n").replace(
        "changes\n", "changes\n(none)\n"
    )
    assert with_blocks(test.source, {}) == TEXT


CASE = "case x\nquery\nSELECT 1;\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "row s\n",
            'x.stream: line 1, column 1: a block cannot begin with "row"\n'
            "  row s\n  ^^^^^\n"
            '  Did you mean "rows"?',
        ),
        (
            f"{CASE}  error\nno\n",
            'x.stream: line 4, column 3: a block cannot begin with "error"\n'
            "    error\n    ^^^^^\n"
            "  A block begins in the first column.",
        ),
        (
            "INSERT INTO s;\n",
            'x.stream: line 1, column 1: a block cannot begin with "INSERT"\n'
            "  INSERT INTO s;\n  ^^^^^^^^^^^^^^\n"
            "  A block begins with CREATE, SET, DROP, case, day, rows, query, statement, snapshots,"
            " changes, emits, error, warning, failures, plan.",
        ),
        (
            "rows s and t\n",
            'x.stream: line 1, column 1: "rows" takes one name: rows STREAM or rows RELATION\n'
            "  rows s and t\n  ^^^^^^^^^^^^",
        ),
        (
            "case x\nquery SELECT 1;\n",
            'x.stream: line 2, column 1: "query" takes nothing behind it on the line\n'
            "  query SELECT 1;\n  ^^^^^^^^^^^^^^^",
        ),
        (
            "case x\nquery\nSELECT 1\n",
            "x.stream: line 3, column 1: the CQL that begins here has no end\n"
            "  SELECT 1\n  ^^^^^^^^\n"
            "  Put a semicolon at the end of its last line.",
        ),
        (
            "# nothing\n",
            "x.stream has no case\n  A case begins with a line such as: case WHAT IT SHOWS",
        ),
        (
            "query\nSELECT 1;\n\nerror\nno\n\ncase x\n",
            'x.stream: line 1, column 1: "query" stands before the first case,'
            " where only shared parts may stand\n"
            "  query\n  ^^^^^\n"
            "  Put a line such as this before it: case WHAT IT SHOWS",
        ),
        (
            "case x\n",
            "x.stream: line 1, column 1: this case has 0 queries, expected one query or statement\n"
            "  case x\n  ^^^^^^",
        ),
        (
            CASE,
            "x.stream: line 2, column 1: nothing is expected of this query\n"
            "  query\n  ^^^^^\n"
            "  Put one of these after it:"
            " snapshots, changes, emits, error, warning, failures, plan.",
        ),
        (
            f"case x\nemits\n@1 2\n\n{CASE[7:]}",
            'x.stream: line 2, column 1: "emits" stands before the query it belongs to\n'
            "  emits\n  ^^^^^",
        ),
        (
            f"{CASE}rows s\nts\n",
            'x.stream: line 4, column 1: "rows" stands after the query, expected before it\n'
            "  rows s\n  ^^^^^^",
        ),
        (
            "case x\nstatement\nDROP STREAM s;\nemits\n@1 2\n",
            'x.stream: line 4, column 1: "emits" is for a query;'
            " of a statement only an error can be expected\n"
            "  emits\n  ^^^^^",
        ),
        (
            f"{CASE}failures 1\nerror\nno\n",
            "x.stream: line 5, column 1: an error comes alone,"
            " and each other kind of expectation at most once in a case\n"
            "  error\n  ^^^^^",
        ),
        (
            f"{CASE}failures 1\n{CASE}failures 1\n",
            "x.stream: line 5, column 1: the case in line 1 has the same title\n  case x\n  ^^^^^^",
        ),
        (
            f"{CASE}snapshots\n@now  1\n",
            "x.stream: line 5, column 1: this is no instant,"
            " expected @ and a whole number, a date and time, or @start\n"
            "  @now  1\n  ^^^^^^^",
        ),
        (
            f"{CASE}snapshots\n@1  1\nchanges\n@1 + 1\n",
            "x.stream: line 6, column 1: expected @, an instant and a row;"
            " or, indented, another row of the instant above\n"
            "  changes\n  ^^^^^^^\n"
            "  An empty line ends a block.",
        ),
        (
            f"{CASE}changes\n@1 1\n",
            "x.stream: line 5, column 1: expected + or - and a row, separated by a space\n"
            "  @1 1\n  ^^^^\n"
            "  An empty line ends a block.",
        ),
    ],
)
def test_mistakes_in_a_file_are_pointed_at(text: str, message: str) -> None:
    assert fault_of(text) == message
