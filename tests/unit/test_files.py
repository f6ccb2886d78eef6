"""Rows from CSV and JSON files: typed as declared, or refused with line and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.catalog.definitions import StreamDefinition
from penstock.errors import DataError
from penstock.reference.files import read_rows
from penstock.session import Session

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = "at TIMESTAMP, n BIGINT, x DOUBLE, ok BOOLEAN, name STRING"


def source(path: Path, form: str, header: str = "") -> StreamDefinition:
    session = Session()
    session.execute(
        f"CREATE STREAM s ({COLUMNS}, WATERMARK FOR at AS at)"
        f" USING {form} OPTIONS (path '{path}'{header})"
    )
    found = session.catalog.find("s", "stream")
    assert isinstance(found, StreamDefinition)
    return found


def test_csv_columns_are_found_by_the_header_and_empty_fields_are_null(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(
        "name,n,OK,at,x,more\n"
        "ann,1,true,1970-01-01 00:00:01,2.5,?\n"
        '"b, c",,,1970-01-01T00:00:02Z,nan,?\n\n'
    )
    first, second = read_rows(source(path, "csv"))
    assert first == (1_000_000, 1, 2.5, True, "ann")
    assert second[:2] == (2_000_000, None)
    assert second[3:] == (None, "b, c")


def test_csv_without_a_header_goes_by_position(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("1970-01-01,7,1,false,z\n")
    assert read_rows(source(path, "csv", ", header 'false'")) == [(0, 7, 1.0, False, "z")]


def test_json_has_an_object_per_line_and_missing_keys_are_null(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('{"at": "1970-01-01", "N": 3, "x": 1, "name": "a"}\n\n{"at": "1970-01-02"}\n')
    assert read_rows(source(path, "json")) == [
        (0, 3, 1.0, None, "a"),
        (86_400_000_000, None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("form", "text", "said"),
    [
        ("csv", "at,n,x,ok,nam\n", 'has no column "name"'),
        ("csv", "at,n,x,ok,name\n1970-01-01,one,,,\n", 'line 2, column "n": one is not a value'),
        ("csv", "at,n,x,ok,name\n1970-01-01,1\n", "line 2: 2 values, expected 5"),
        ("json", "{\n", "line 1: not JSON"),
        ("json", "[1]\n", "line 1: expected an object"),
        ("json", '{"n": 1.5}\n', 'line 1, column "n": 1.5 is not a value of type BIGINT'),
        ("json", '{"n": true}\n', 'line 1, column "n": true is not a value of type BIGINT'),
        ("json", '{"ok": 1}\n', 'line 1, column "ok": 1 is not a value of type BOOLEAN'),
        ("json", '{"at": "soon"}\n', 'line 1, column "at": soon is not a value of type TIMESTAMP'),
    ],
)
def test_a_row_that_does_not_fit_is_refused(
    tmp_path: Path, form: str, text: str, said: str
) -> None:
    path = tmp_path / "rows"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_rows(source(path, form))
    assert said in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file or directory"):
        read_rows(source(tmp_path / "none.csv", "csv"))


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="cannot read"):
        read_rows(source(path, "csv"))
