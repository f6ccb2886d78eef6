"""Rows of files come to the lanes that the router sends them to, as they are declared."""

from __future__ import annotations

import datetime
import os
import re
import tempfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra.expressions import Cast, Column, Expression
from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Field,
    Schema,
    decimal,
    to_arrow,
)
from penstock.catalog.definitions import StreamDefinition
from penstock.connectors.file_content import BrokenFileError
from penstock.errors import DataError
from penstock.files.folders import Folder
from penstock.lane_host.arrivals import Arrivals, arrivals
from penstock.lane_host.deliveries import Deliveries, Delivery
from penstock.lane_host.row_slots import slots_for
from penstock.operators.block import arriving
from penstock.pipeline.file_rows import file_rows
from penstock.pipeline.pieces import whole_piece
from penstock.planner.partition.partitioning import Route

FIRST = datetime.datetime.fromisoformat("1900-01-01T00:00")
LAST = datetime.datetime.fromisoformat("2200-01-01T00:00")
VALUES: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "i": (INT, st.integers(-(2**31), 2**31 - 1)),
    "b": (BIGINT, st.integers(-(2**63), 2**63 - 1)),
    "d": (DOUBLE, st.floats()),
    "s": (STRING, st.text(max_size=5)),
    "f": (BOOLEAN, st.booleans()),
    "t": (TIMESTAMP, st.datetimes(FIRST, LAST)),
    "y": (DATE, st.dates()),
    "m": (decimal(18, 4), st.decimals(-1000, 1000, places=4).map(Decimal)),
}
SCHEMA = Schema((Field("ts", BIGINT), *(Field(name, type_) for name, (type_, _) in VALUES.items())))
STREAM = StreamDefinition(
    "s", SCHEMA, "ts", TimeUnit.TICK, format="parquet", options={"path": "in"}
)
KEYS: list[tuple[Expression, ...]] = [
    *((Column(name, type_),) for name, (type_, _) in VALUES.items()),
    (Cast(Column("i", INT), BIGINT), Column("s", STRING)),
    (Cast(Column("b", BIGINT), DOUBLE),),
]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(0, 12))
    columns = {"ts": pa.array(range(rows), pa.int64())}
    for name, (type_, values) in VALUES.items():
        found = draw(st.lists(st.none() | values, min_size=rows, max_size=rows))
        columns[name] = pa.array(found, to_arrow(type_))
    return pa.table(columns)


@st.composite
def all_deliveries(draw: st.DrawFn) -> Deliveries:
    tasks = draw(st.integers(1, 3))
    several = []
    for _ in range(draw(st.integers(1, 2))):
        lanes = draw(st.integers(1, 5))
        if lanes == 1:
            several.append(Delivery(None, 1, draw(st.integers(0, tasks - 1))))
        else:
            several.append(Delivery(Route(draw(st.none() | st.sampled_from(KEYS))), lanes))
    most = max(one.lanes for one in several)
    return Deliveries(tasks, -(-most // tasks) * tasks, {"s": several})


def rows_of(table: pa.Table) -> list[str]:
    """The rows as texts, in which NaN is NaN."""
    return [repr(row) for row in table.to_pylist()]


@settings(max_examples=150, deadline=None)
@given(st.lists(tables(), min_size=1, max_size=3), all_deliveries())
def test_every_lane_gets_its_rows_in_order(several: list[pa.Table], made: Deliveries) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder = Folder("s", Path(path))
        for number, table in enumerate(several):
            pq.write_table(table, folder.path / f"{number}.parquet")
        names = [f"{number}.parquet" for number in range(len(several))]
        reader = file_rows(made, STREAM)
        read = reader.read(folder, whole_piece("s", names))
        found = {
            part: (task, table)
            for task in range(made.tasks)
            for part, table in reader.shares(read, task)
        }
    # All lanes at once get what each task gets for its own.
    assert {part: rows_of(table) for part, table in reader.shares(read)} == {
        part: rows_of(table) for part, (_, table) in found.items()
    }
    whole = pa.concat_tables(several).combine_chunks()
    columns = tuple(one.chunk(0) if one.num_chunks else pa.array([], one.type) for one in whole)
    block = arriving(columns, np.zeros(len(whole), np.int64))
    slots = slots_for([STREAM]).streams["s"]
    expected = {}
    for number, delivery in enumerate(made.of_stream["s"]):
        for lane, share in delivery.shares(block, SCHEMA):
            code = number * made.width + lane
            if len(share):
                table = pa.table(list(share.columns), names=SCHEMA.names)
                expected[f"rows {code} s"] = code % made.tasks, rows_of(table)
    shown = {}
    for part, (task, table) in found.items():
        columns = arrivals(table, slots, 0).block.columns
        shown[part] = task, rows_of(pa.table(list(columns), names=SCHEMA.names))
    assert {part: (task, _plain(rows)) for part, (task, rows) in shown.items()} == {
        part: (task, _plain(rows)) for part, (task, rows) in expected.items()
    }


def _plain(rows: list[str]) -> list[str]:
    """There is one zero for queries."""
    return [row.replace("'d': -0.0", "'d': 0.0") for row in rows]


def brought_by(path: Path, table: pa.Table, *fields: Field, within: str = "") -> Arrivals:
    """What comes of a file, as a stream with an event time and some more columns has it."""
    schema = Schema((Field("ts", BIGINT), *fields))
    stream = StreamDefinition("s", schema, "ts", TimeUnit.TICK, format="parquet")
    file = path / within / "a.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file)
    return taken_in(path, f"{within}a.parquet", stream=stream)


def taken_in(folder: Path, *names: str, stream: StreamDefinition) -> Arrivals:
    """What one lane gets of files, all of it at once."""
    made = Deliveries(1, 1, {"s": [Delivery(None, 1)]})
    reader = file_rows(made, stream)
    parts = dict(reader.shares(reader.read(Folder("s", folder), whole_piece("s", names))))
    return arrivals(pa.concat_tables(parts.values()), slots_for([stream]).streams["s"], BEGINNING)


def read(path: Path, table: pa.Table, *fields: Field, within: str = "") -> pa.Table:
    """The rows of a file."""
    found = brought_by(path, table, *fields, within=within)
    return pa.table(list(found.block.columns), names=["ts", *(one.name for one in fields)])


def refusal(path: Path, table: pa.Table, *fields: Field, within: str = "") -> str:
    """Why a file is not taken in."""
    (row,) = brought_by(path, table, *fields, within=within).aside["unreadable"].to_pylist()
    assert row["_position"] == f"{path}/{within}a.parquet"
    text: str = row["_raw"]
    return text


def test_other_widths_and_units_are_read_as_declared(tmp_path: Path) -> None:
    moment = datetime.datetime.fromisoformat("2026-01-31T12:30")
    table = pa.table(
        {
            "TS": pa.array([7], pa.int32()),
            "n": pa.array([3], pa.int16()),
            "x": pa.array([1.5], pa.float32()),
            "t": pa.array([moment], pa.timestamp("ms", "UTC")),
            "w": pa.array(["a"]).dictionary_encode(),
            "m": pa.array([Decimal("1.5")], pa.decimal128(5, 1)),
            "unasked": ["?"],
        }
    )
    fields = [
        Field("n", BIGINT),
        Field("x", DOUBLE),
        Field("t", TIMESTAMP),
        Field("w", STRING),
        Field("m", decimal(10, 3)),
        Field("missing", STRING),
    ]
    assert read(tmp_path, table, *fields).to_pylist() == [
        {
            "ts": 7,
            "n": 3,
            "x": 1.5,
            "t": moment,
            "w": "a",
            "m": Decimal("1.500"),
            "missing": None,
        }
    ]


def test_old_timestamps_of_spark_are_read(tmp_path: Path) -> None:
    moment = datetime.datetime.fromisoformat("2500-01-01T00:00")
    stream = StreamDefinition(
        "s", Schema((Field("at", TIMESTAMP),)), "at", TimeUnit.TIMESTAMP, format="parquet"
    )
    table = pa.table({"at": pa.array([moment], pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    made = Deliveries(1, 1, {"s": [Delivery(None, 1)]})
    reader = file_rows(made, stream)
    read = reader.read(Folder("s", tmp_path), whole_piece("s", ["a.parquet"]))
    (rows,) = dict(reader.shares(read)).values()
    found = arrivals(rows, slots_for([stream]).streams["s"], 0).block.columns[0]
    assert found.to_pylist() == [moment]


def test_folders_say_columns(tmp_path: Path) -> None:
    fields = [Field("day", DATE), Field("n", INT), Field("name", STRING)]
    within = "day=2026-01-31/N=4/name=a%2Fb/"
    found = read(tmp_path, pa.table({"ts": [1, 2]}), *fields, within=within)
    day = datetime.date(2026, 1, 31)
    assert found.to_pylist() == [{"ts": ts, "day": day, "n": 4, "name": "a/b"} for ts in (1, 2)]
    table = pa.table({"ts": [1]})
    nothing = read(tmp_path, table, Field("day", DATE), within="day=__HIVE_DEFAULT_PARTITION__/")
    assert nothing.to_pylist() == [{"ts": 1, "day": None}]
    soon = refusal(tmp_path, table, Field("day", DATE), within="day=soon/")
    assert soon.endswith('"day" is declared DATE, but its folder says "soon"')


def test_a_file_with_another_kind_of_column_or_value_says_which(tmp_path: Path) -> None:
    text = refusal(tmp_path, pa.table({"ts": [1], "n": ["one"]}), Field("n", INT))
    assert re.match(r'stream "s", file .*a.parquet, column "n": declared INT, but string', text)
    large = refusal(tmp_path, pa.table({"ts": [1], "n": [2**40]}), Field("n", INT))
    assert large.endswith('column "n": declared INT, but a value that came does not fit')


def test_a_broken_file_is_a_row_that_cannot_be_read(tmp_path: Path) -> None:
    whole = tmp_path / "a.parquet"
    pq.write_table(pa.table({"ts": list(range(1000)), "i": list(range(1000))}), whole)
    content = whole.read_bytes()
    (tmp_path / "b.parquet").write_text("this is not Parquet")
    # The end says that all is there, but pages are not what was written.
    (tmp_path / "c.parquet").write_bytes(content[:40] + bytes(200) + content[240:])
    (tmp_path / "d.parquet").write_bytes(content[:-9])
    for name in "bcd":
        os.utime(tmp_path / f"{name}.parquet", (1, 1))
    found = taken_in(tmp_path, *(f"{name}.parquet" for name in "abcda"), stream=STREAM)
    assert len(found.block) == 2000
    assert found.aside.keys() == {"unreadable"}
    aside = found.aside["unreadable"].to_pylist()
    assert [row["_position"] for row in aside] == [f"{tmp_path}/{one}.parquet" for one in "bcd"]
    assert all("cannot be read as Parquet: " in row["_raw"] for row in aside)
    assert all(row["ts"] is None and row["i"] is None for row in aside)


def test_a_file_that_may_not_be_complete_is_not_given_up(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("PAR1 and then")
    wanted = r'stream "s", file .*/a.parquet cannot be read as Parquet'
    with pytest.raises(BrokenFileError, match=wanted):
        taken_in(tmp_path, "a.parquet", stream=STREAM)


def test_rows_without_time_say_where_they_stand(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": [1, None, 3, None], "i": [1, 2, 3, 4]}), tmp_path / "a.parquet")
    found = taken_in(tmp_path, "a.parquet", stream=STREAM)
    assert len(found.block) == 2
    aside = found.aside["no event time"].to_pylist()
    assert [(row["i"], row["_position"], row["_raw"]) for row in aside] == [
        (2, f"{tmp_path}/a.parquet, row 2", None),
        (4, f"{tmp_path}/a.parquet, row 4", None),
    ]
    brought = replace(STREAM, format=None, options={})
    found = taken_in(tmp_path, "a.parquet", stream=brought)
    assert found.aside["no event time"]["_position"].to_pylist() == [
        "insert, row 2",
        "insert, row 4",
    ]
    (tmp_path / "b.parquet").write_text("damaged")
    os.utime(tmp_path / "b.parquet", (1, 1))
    with pytest.raises(DataError, match=r"b.parquet cannot be read as Parquet"):
        taken_in(tmp_path, "b.parquet", stream=brought)
