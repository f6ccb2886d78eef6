"""Folders of Parquet files that tasks read, on a real Spark: beside other sources, and broken."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.connection.connection import Connection

STREAM = "CREATE STREAM {name} (ts BIGINT, k BIGINT, WATERMARK FOR ts AS ts) USING {format}"
COUNTED = (
    "CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM s [UNBOUNDED] WHERE k >= 0 GROUP BY k"
)


@pytest.fixture
def opening(tmp_path: Path) -> Iterator[Callable[..., Connection]]:
    """Opens the home of this test; closed when the test has ended."""
    opened: list[Connection] = []

    def open_home(reading: str = "auto") -> Connection:
        settings = {"spark.penstock.reading": reading}
        opened.append(penstock.connect("local[2,4]", tmp_path / "home", 2, settings=settings))
        return opened[-1]

    yield open_home
    for one in opened:
        if not one.is_closed:
            one.close()


def put(folder: Path, number: int, *keys: int, age: int | None = None) -> None:
    """A file that appears whole: rows of one instant, and one behind them that nobody counts."""
    folder.mkdir(parents=True, exist_ok=True)
    draft, path = folder / f".{number}", folder / f"{number}.{folder.name}"
    rows = pa.table({"ts": [10 * number] * len(keys) + [10 * number + 1], "k": [*keys, None]})
    if folder.name == "csv":
        csv.write_csv(rows, draft)
    else:
        pq.write_table(rows, draft)
    changed = 1000 + (number if age is None else age)
    os.utime(draft, (changed, changed))
    draft.rename(path)


def declare(name: str, folder: Path) -> str:
    """A stream of the files in a folder that is called like their format."""
    folder.mkdir(parents=True, exist_ok=True)
    return f"{STREAM.format(name=name, format=folder.name)} OPTIONS (path '{folder}');"


def counts(db: Connection, query: str = "counted") -> dict[object, object]:
    db.wait_idle()
    found = db[query].snapshot().to_pydict()
    return dict(zip(found["k"], found["n"], strict=True))


def test_a_join_of_files_that_tasks_and_that_spark_read(
    opening: Callable[[], Connection], tmp_path: Path
) -> None:
    db = opening()
    by_spark = declare("c", tmp_path / "csv").replace("');", "', reader 'spark');")
    db.execute(declare("s", tmp_path / "parquet") + by_spark)
    db.execute(
        "CREATE QUERY counted AS SELECT s.k, COUNT(*) AS n"
        " FROM s [UNBOUNDED], c [UNBOUNDED] WHERE s.k = c.k GROUP BY s.k"
    )
    for number in range(5):
        put(tmp_path / "parquet", number, 1, number)
        put(tmp_path / "csv", number, 1, number)
        expected = {0: 1, **dict.fromkeys(range(2, number + 1), 1)}
        ones = number + 1 + (number > 0)
        assert counts(db) == {**expected, 1: ones * ones}


def test_no_file_is_read_twice_after_a_restart(
    opening: Callable[[], Connection], tmp_path: Path
) -> None:
    folder = tmp_path / "parquet"
    for number in range(100):
        put(folder, number, number % 3)
    db = opening()
    db.execute(declare("s", folder) + COUNTED)
    assert counts(db) == {0: 34, 1: 33, 2: 33}
    db.close()
    again = opening()
    put(folder, 100, 7)
    # Older than all that was read, and yet new.
    put(folder, 101, 8, age=-5)
    assert counts(again) == {0: 34, 1: 33, 2: 33, 7: 1, 8: 1}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_backlog_makes_no_row_late_whatever_its_order_and_its_ages(
    opening: Callable[[], Connection], tmp_path: Path, form: str
) -> None:
    folder = tmp_path / form
    # Neighbouring files overlap: each has a row that is later than the first of the next.
    for name, number in enumerate([4, 1, 6, 3, 0, 5, 2]):
        put(folder, number, 1, age=name % 2)
        (folder / f"{number}.{form}").rename(folder / f"z{name}.{form}")
    db = opening()
    one_by_one = declare("s", folder).replace("');", "', maxFilesPerTrigger '1');")
    db.execute(
        one_by_one + "CREATE QUERY counted AS SELECT k, COUNT(*) AS n FROM s [RANGE 1000]"
        " WHERE k IS NOT NULL GROUP BY k;"
    )
    assert counts(db) == {1: 7}
    facts = db.progress()["streams"]["s"]
    assert (facts["rows"], facts["late"], facts["aside"]) == (14, 0, 0)
    assert facts["watermark"] == facts["latest"] == 61


def test_a_broken_file_is_kept_by_name_and_the_others_go_on(
    opening: Callable[[], Connection], tmp_path: Path
) -> None:
    folder = tmp_path / "parquet"
    db = opening()
    db.execute(declare("s", folder) + COUNTED)
    put(folder, 1, 1)
    assert counts(db) == {1: 1}
    # It is not given up before it is some seconds old.
    (folder / "2.parquet").write_text("not Parquet at all")
    put(folder, 3, 1)
    assert counts(db) == {1: 2}
    facts = db.progress()["streams"]["s"]
    assert (facts["rows"], facts["aside"]) == (5, 1)
    (aside,) = db.late("s").to_pylist()
    assert aside["_position"] == f"{folder}/2.parquet"
    assert "cannot be read as Parquet" in aside["_raw"]
    db.close()
    again = opening()
    put(folder, 4, 1)
    assert counts(again) == {1: 3}
    assert again.late("s").num_rows == 1


def test_a_file_that_is_being_written_is_read_when_it_is_complete(
    opening: Callable[[], Connection], tmp_path: Path
) -> None:
    folder = tmp_path / "parquet"
    put(folder, 1, 1)
    whole = (folder / "1.parquet").read_bytes()
    (folder / "2.parquet").write_bytes(whole[:-20])
    db = opening()
    db.execute(declare("s", folder) + COUNTED)
    time.sleep(1.0)
    (folder / "2.parquet").write_bytes(whole)
    assert counts(db) == {1: 2}
    assert db.progress()["streams"]["s"]["aside"] == 0


def test_who_reads_files_is_said_and_makes_no_difference(
    opening: Callable[..., Connection], tmp_path: Path
) -> None:
    folder = tmp_path / "parquet"
    number = 0
    expected: dict[object, object] = {}
    for way, why in {
        "auto": "divided, each by one task, as all run on this machine",
        "job": 'job, as spark.penstock.reading is "job"',
        "whole": 'whole, as spark.penstock.reading is "whole"',
    }.items():
        db = opening(way)
        if not number:
            db.execute(declare("s", folder) + COUNTED)
        for _ in range(3):
            number += 1
            put(folder, number, number % 2, 7)
            expected[number % 2] = (number + number % 2) // 2
            expected[7] = number
        assert counts(db) == expected
        assert f"Files: {why}" in db["counted"].explain()
        left = [one.suffix for one in spark_engine(db).home.segments.iterdir()]
        assert {".rows", ".taken"}.isdisjoint(left)
        db.close()


def test_a_file_with_another_kind_of_column_is_kept_by_name(
    opening: Callable[[], Connection], tmp_path: Path
) -> None:
    folder = tmp_path / "parquet"
    db = opening()
    db.execute(declare("s", folder) + COUNTED)
    put(folder, 1, 1)
    pq.write_table(pa.table({"ts": ["now"], "k": [1]}), folder / "2.parquet")
    put(folder, 3, 1)
    assert counts(db) == {1: 2}
    (aside,) = db.late("s").to_pylist()
    assert aside["_position"] == f"{folder}/2.parquet"
    assert aside["_raw"].endswith('column "ts": declared BIGINT, but string came')


def test_a_file_that_goes_away_before_it_is_read_is_not_missed(
    opening: Callable[[], Connection], tmp_path: Path
) -> None:
    folder = tmp_path / "parquet"
    put(folder, 1, 1)
    # Listed, and not there.
    (folder / "2.parquet").symlink_to(tmp_path / "nowhere.parquet")
    put(folder, 3, 1)
    db = opening()
    db.execute(declare("s", folder) + COUNTED)
    assert counts(db) == {1: 2}


def test_what_appears_is_read_at_once(opening: Callable[[], Connection], tmp_path: Path) -> None:
    folder = tmp_path / "parquet"
    db = opening()
    db.execute(declare("s", folder) + COUNTED)
    for number in range(3):
        put(folder, number, 1)
        deadline = time.monotonic() + 60
        while db.progress()["streams"]["s"]["rows"] < 2 * (number + 1):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    assert counts(db) == {1: 3}
