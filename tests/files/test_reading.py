"""CSV and JSON files as columns: what the reference evaluator reads of them, and why not."""

from __future__ import annotations

import csv
import json
import os
import string
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.algebra.types import DATE, TIMESTAMP
from penstock.algebra.values import canonical
from penstock.catalog.definitions import StreamDefinition
from penstock.connectors.connector_list import source_format
from penstock.errors import DataError
from penstock.reference.files import read_rows
from penstock.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.connectors.file_content import FileContent

COLUMNS = (
    "at TIMESTAMP, n INT, big BIGINT, x DOUBLE, ok BOOLEAN, name STRING, d DATE, m DECIMAL(9, 2)"
)
NAMES = ("at", "n", "big", "x", "ok", "name", "d", "m")
TEXTS = st.text(string.ascii_letters + " ,;'\"-é", max_size=6).filter(lambda one: one != "NULL")
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "at": st.datetimes().map(lambda one: one.isoformat(sep=" ")),
    "n": st.integers(-(2**31), 2**31 - 1),
    "big": st.integers(-(2**63), 2**63 - 1),
    "x": st.floats(allow_nan=False),
    "ok": st.booleans(),
    "name": TEXTS,
    "d": st.dates().map(lambda one: one.isoformat()),
    "m": st.decimals(-1000, 1000, places=2).map(lambda one: str(Decimal(one))),
}
ROWS = st.lists(
    st.fixed_dictionaries({name: st.none() | one for name, one in VALUES.items()}), max_size=6
)


def declared(path: Path, form: str, options: str = "", columns: str = COLUMNS) -> StreamDefinition:
    session = Session()
    session.execute(
        f"CREATE STREAM s ({columns}, WATERMARK FOR at AS at)"
        f" USING {form} OPTIONS (path '{path}'{options})"
    )
    found = session.catalog.find("s", "stream")
    assert isinstance(found, StreamDefinition)
    return found


def content(stream: StreamDefinition, path: Path) -> FileContent:
    read = source_format(stream.format).read
    assert read is not None
    return read('stream "s"', path, stream.schema, stream.options)


def rows_of(stream: StreamDefinition, path: Path) -> list[tuple[object, ...]]:
    """The rows that were read, as the reference evaluator holds them."""
    found = content(stream, path)
    assert found.unreadable == ()
    columns = []
    for field in stream.schema:
        column = found.columns[field.name]
        if field.type in (DATE, TIMESTAMP):
            column = column.cast(pa.int32() if field.type == DATE else pa.int64())
        columns.append([canonical(value) for value in column.to_pylist()])
    return list(zip(*columns, strict=True))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ROWS, st.permutations([*NAMES, "more", "other"]), st.booleans())
def test_csv_is_read_as_the_reference_evaluator_reads_it(
    tmp_path: Path, rows: list[dict[str, Any]], order: list[str], has_header: bool
) -> None:
    path = tmp_path / "rows.csv"
    names = order if has_header else list(NAMES)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore", restval="?")
        if has_header:
            writer.writerow({name: name.upper() for name in names})
        writer.writerows(rows)
    stream = declared(path, "csv", "" if has_header else ", header 'false'")
    assert rows_of(stream, path) == read_rows(stream)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(ROWS, st.permutations([*NAMES, "more"]), st.booleans())
def test_json_is_read_as_the_reference_evaluator_reads_it(
    tmp_path: Path, rows: list[dict[str, Any]], order: list[str], spelled_otherwise: bool
) -> None:
    path = tmp_path / "rows.json"
    lines = []
    for number, row in enumerate(rows):
        upper = spelled_otherwise and number % 2
        given_ = {(one.upper() if upper else one): row.get(one, [number]) for one in order}
        lines.append(json.dumps(given_))
    path.write_text("\n".join(lines), "utf-8")
    stream = declared(path, "json")
    assert rows_of(stream, path) == read_rows(stream)


PLAIN = "at TIMESTAMP, n INT"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("soon,1", ("line 3", "soon,1", 'column "at": "soon" is no TIMESTAMP')),
        (
            "1412121600,1",
            ("line 3", "1412121600,1", "\"1412121600\" is no TIMESTAMP; OPTIONS (time_unit 's')"),
        ),
        ("1412121600000,1", ("line 3", "1412121600000,1", "(time_unit 'ms') reads it")),
        ("1412121600000000,1", ("line 3", "1412121600000000,1", "(time_unit 'us') reads it")),
        (
            "31.12.2025 23:59,1",
            ("line 3", "31.12.2025 23:59,1", "(timestampFormat 'dd.MM.yyyy HH:mm') reads it"),
        ),
        (
            "01/07/2025,1",
            ("line 3", "01/07/2025,1", "(timestampFormat 'MM/dd/yyyy' or 'dd/MM/yyyy') reads it"),
        ),
        ("1412121600.5,1", ("line 3", "1412121600.5,1", "(time_unit 's') reads it")),
        ("2026-01-01,1.5", ("line 3", "2026-01-01,1.5", 'column "n": "1.5" is no INT')),
        ("2026-01-01", ("line 3", "2026-01-01", "1 value where 2 are expected")),
        ("2026-01-01,1,2", ("line 3", "2026-01-01,1,2", "3 values where 2 are expected")),
    ],
)
def test_a_row_that_cannot_be_read_says_where_why_and_what_would_read_it(
    tmp_path: Path, line: str, said: tuple[str, str, str]
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(f"at,n\n\n{line}\n2026-01-02,3\n")
    found = content(declared(path, "csv", columns=PLAIN), path)
    (one,) = found.unreadable
    assert (one.place, one.text) == said[:2]
    assert said[2] in one.why
    assert (found.rows, found.columns["n"].to_pylist()) == (1, [3])
    assert found.place_of(0) == "line 4"


@pytest.mark.parametrize(
    ("unit", "text"), [("s", "1412121600.5"), ("ms", "1412121600500"), ("us", "1412121600500000")]
)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_numbers_are_times_by_an_option_and_dates_stay_dates(
    tmp_path: Path, form: str, unit: str, text: str
) -> None:
    path = tmp_path / f"rows.{form}"
    rows = {
        "csv": f"at,n\n{text},1\n2014-10-01 00:00:00.5,2\n",
        "json": f'{{"at": {text}, "n": 1}}\n{{"at": "2014-10-01 00:00:00.5", "n": 2}}\n',
    }
    path.write_text(rows[form])
    stream = declared(path, form, f", time_unit '{unit}'", columns=PLAIN)
    micros = 1_412_121_600_500_000
    assert rows_of(stream, path) == [(micros, 1), (micros, 2)] == read_rows(stream)


def test_a_pattern_reads_times(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("at;n\n31.12.2025 23:59;1\n")
    options = ", sep ';', timestampFormat 'dd.MM.yyyy HH:mm'"
    stream = declared(path, "csv", options, columns=PLAIN)
    assert rows_of(stream, path) == [(1_767_225_540_000_000, 1)] == read_rows(stream)
    with pytest.raises(DataError, match="the pattern 'EEE' is not understood"):
        content(declared(path, "csv", ", timestampFormat 'EEE'", columns=PLAIN), path)


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("at,m\n", "", 'has no column "n" in its header'),
        ("at,nn\n", "", 'Did you mean "nn"?'),
        ("2026-01-01\n", ", header 'false'", "has 1 column, 2 are declared"),
        ("at;n\n", "", "Its values are apart by ';': OPTIONS (sep ';')."),
        ('"at"\t"n"\n', "", r"Its values are apart by '\t': OPTIONS (sep '\t')."),
        ("at,n\n", ", sep '|'", "Its values are apart by ',': OPTIONS (sep ',')."),
        ("at,n\n", ", sep '||'", "sep is '||', but must be one sign"),
        ("at,n\n", ", quote '<>'", "quote is '<>', but must be one sign"),
    ],
)
def test_a_file_without_the_columns_is_refused(
    tmp_path: Path, text: str, options: str, said: str
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(text)
    stream = declared(path, "csv", options, columns=PLAIN)
    check = source_format("csv").check
    assert check is not None
    for read in (
        lambda: content(stream, path),
        lambda: check("s", path, stream.schema, stream.options),
    ):
        with pytest.raises(DataError) as caught:
            read()
        assert said in str(caught.value)


def test_tabs_may_be_written_as_a_backslash_and_a_letter(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("\ufeffat\tn\n1970-01-01 00:00:01\t1\n", "utf-8")
    stream = declared(path, "csv", r", sep '\t'", columns=PLAIN)
    assert rows_of(stream, path) == [(1_000_000, 1)] == read_rows(stream)


def test_the_reference_evaluator_reads_folders_and_patterns(tmp_path: Path) -> None:
    for number, name in enumerate(("b.csv", "a.csv", "_hidden.csv", "other.txt")):
        (tmp_path / name).write_text(f"at,n\n1970-01-01 00:00:01,{number}\n")
        os.utime(tmp_path / name, (1000, 1000))
    one = (1_000_000,)
    folder = declared(tmp_path, "csv", columns=PLAIN)
    assert read_rows(folder) == [(*one, 1), (*one, 0), (*one, 3)]
    assert read_rows(declared(tmp_path / "*.csv", "csv", columns=PLAIN)) == [(*one, 1), (*one, 0)]
    with pytest.raises(DataError, match="No such file"):
        read_rows(declared(tmp_path / "*.json", "csv", columns=PLAIN))


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("")
    assert content(declared(path, "csv", columns=PLAIN), path).rows == 0
