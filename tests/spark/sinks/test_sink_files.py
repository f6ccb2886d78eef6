"""Tables as files: what is written can be read, whatever is in it."""

from __future__ import annotations

import csv
import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.connector_list import CONNECTORS
from penstock.connectors.folder_sink import FolderSink
from penstock.connectors.json import json_lines
from penstock.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pa.table(
    {
        'a "quoted" name': pa.array([1, None, -3], pa.int64()),
        "text": ['x"\n\\\x00é', None, ""],
        "real": [1.5, math.nan, -math.inf],
        "truth": [True, None, False],
        "time": pa.array([0, 1, None], pa.int64()).cast(pa.timestamp("us")),
        "day": pa.array([0, 1, None], pa.int32()).cast(pa.date32()),
        "exact": pa.array([Decimal("1.20"), None, Decimal("-3.00")], pa.decimal128(10, 2)),
    }
)


@given(st.lists(st.one_of(st.none(), st.text(), st.sampled_from('\\"\n\t\x1f')), min_size=1))
def test_any_text_is_json(texts: list[str | None]) -> None:
    (batch,) = pa.table({"a": pa.array(texts, pa.string())}).to_batches()
    lines = bytes(json_lines(batch)).decode().split("\n")
    assert [json.loads(line)["a"] for line in lines[:-1]] == texts
    assert lines[-1] == ""


WRITERS = {
    name: one.sink.write
    for name, one in CONNECTORS.items()
    if one.sink is not None and one.sink.write is not None
}


def test_values_of_all_types(tmp_path: Path) -> None:
    for form in ("json", "csv"):
        sink = FolderSink(tmp_path / form, form, WRITERS[form], {})
        sink.begin()
        sink.write(7, TABLE)
    lines = (tmp_path / "json" / "000000000007.json").read_text().splitlines()
    found = [list(json.loads(line).values()) for line in lines]
    assert found == [
        [1, 'x"\n\\\x00é', 1.5, True, "1970-01-01 00:00:00.000000", "1970-01-01", 1.2],
        [None, None, "NaN", None, "1970-01-01 00:00:00.000001", "1970-01-02", None],
        [-3, "", "-Infinity", False, None, None, -3.0],
    ]
    with (tmp_path / "csv" / "000000000007.csv").open(newline="") as file:
        cells = list(csv.reader(file))
    assert cells[0] == TABLE.column_names
    assert [row[2] for row in cells[1:]] == ["1.5", "NaN", "-Inf"]


def test_a_file_without_rows_and_without_header(tmp_path: Path) -> None:
    sink = FolderSink(tmp_path / "out", "csv", WRITERS["csv"], {"header": "false"})
    sink.begin()
    sink.write(1, TABLE.slice(0, 0))
    assert (tmp_path / "out" / "000000000001.csv").read_text() == ""
    with pytest.raises(DataError, match="there are files"):
        sink.begin()
    sink.withdraw(1)
    assert list((tmp_path / "out").iterdir()) == []
