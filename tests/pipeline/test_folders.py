"""Which streams are folders, which files they have, and which of them come next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from penstock.catalog.definitions import StreamDefinition
from penstock.errors import DataError, UnknownName
from penstock.files.folders import (
    MOST_BYTES,
    MOST_FILES,
    MOST_INSERTED_BYTES,
    MOST_INSERTS,
    Folder,
    declared_folder,
    folder_of,
    is_folder,
)
from penstock.pipeline.bound import bound
from penstock.pipeline.plans import PipelinePlan
from penstock.store.layout import Home

if TYPE_CHECKING:
    from pathlib import Path


def declared(how: str) -> StreamDefinition:
    statement = f"CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts) {how}"
    found = bound(PipelinePlan((statement,))).session.catalog.find("s", "stream")
    assert isinstance(found, StreamDefinition)
    return found


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("", True),
        ("USING memory", True),
        ("OPTIONS (idle_timeout '5 seconds', time_unit 'ms')", True),
        ("OPTIONS (reader 'spark')", False),
        ("USING parquet OPTIONS (path 'in')", True),
        ("USING parquet OPTIONS (path '/a/b', maxFilesPerTrigger '3')", True),
        ("USING parquet OPTIONS (path 'file:///a/b')", True),
        ("USING parquet OPTIONS (path '/a/b', READER 'Spark')", False),
        ("USING parquet OPTIONS (path '/a/*/b')", False),
        ("USING parquet OPTIONS (path 'hdfs://host/a')", False),
        ("USING parquet OPTIONS (path 's3a://bucket/a')", False),
        ("USING parquet OPTIONS (path '/a', latestFirst 'true')", False),
        ("USING csv OPTIONS (path '/a')", True),
        ("USING csv OPTIONS (path '/a', header 'false', sep ';')", True),
        ("USING csv OPTIONS (path '/a', multiLine 'true')", False),
        ("USING json OPTIONS (path '/a', timestampFormat 'dd.MM.yyyy')", True),
        ("USING orc OPTIONS (path '/a')", False),
        ("USING rate", False),
    ],
)
def test_who_reads_a_stream_is_seen_in_its_declaration(how: str, expected: bool) -> None:
    assert is_folder(declared(how)) is expected


def test_only_spark_may_be_asked_to_read() -> None:
    with pytest.raises(UnknownName, match='there is no reader "duckdb"'):
        is_folder(declared("USING parquet OPTIONS (path '/a', reader 'duckdb')"))


def put(folder: Path, name: str, age: float, size: int = 10) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (age, age))


def names(folder: Folder, *known: str) -> list[str]:
    return [one.name for one in folder.new_files(set(known))]


def test_files_come_by_age_and_then_by_name(tmp_path: Path) -> None:
    for name, age in [("c", 1), ("b", 2), ("a", 2), ("d", 1.5)]:
        put(tmp_path, name, age)
    assert names(Folder("s", tmp_path)) == ["c", "d", "a", "b"]
    assert names(Folder("s", tmp_path), "d", "a") == ["c", "b"]


def test_what_is_hidden_or_in_other_folders_is_no_file(tmp_path: Path) -> None:
    for name in ("_SUCCESS", ".a.crc", "plain", "day=1/hour=2/x", "day=1/_tmp", "other/y"):
        put(tmp_path, name, 1)
    assert names(Folder("s", tmp_path)) == ["day=1/hour=2/x", "plain"]


def test_a_path_may_be_a_file(tmp_path: Path) -> None:
    put(tmp_path, "one", 1)
    put(tmp_path, "two", 1)
    folder = Folder("s", tmp_path / "one")
    assert names(folder) == ["one"]
    assert names(folder, "one") == []
    assert folder.path_of("one") == tmp_path / "one"


def test_a_micro_batch_reads_at_least_a_file_and_not_too_much(tmp_path: Path) -> None:
    for number, size in enumerate([50, 10, 10, 10, 10]):
        put(tmp_path, f"{number}", number, size)
    waiting = Folder("s", tmp_path).new_files(())
    assert Folder("s", tmp_path, 3, 1000).share(waiting) == 3
    assert Folder("s", tmp_path, 9, 25).share(waiting) == 1
    assert Folder("s", tmp_path, 9, 25).share(waiting[1:]) == 2
    assert Folder("s", tmp_path, 9, 1000).share(waiting) == 5
    assert Folder("s", tmp_path).share([]) == 0


def test_a_pattern_chooses_files_of_a_folder(tmp_path: Path) -> None:
    for number, name in enumerate(("c1.csv", "a2.csv", "a2.txt", "_a3.csv")):
        put(tmp_path, name, number)
    (tmp_path / "day=1").mkdir()
    put(tmp_path / "day=1", "a4.csv", 9)

    def names(pattern: str) -> list[str]:
        stream = declared(f"USING csv OPTIONS (path '{tmp_path}/{pattern}')")
        assert is_folder(stream)
        return [one.name for one in declared_folder(stream).new_files(())]

    assert names("*.csv") == ["c1.csv", "a2.csv"]
    assert names("[ab]?.*") == ["a2.csv", "a2.txt"]
    assert names("x*") == []
    for of_spark in ("*/a4.csv", "{a2,c1}.csv", "[^a]*"):
        assert not is_folder(declared(f"USING csv OPTIONS (path '{tmp_path}/{of_spark}')"))
    with pytest.raises(DataError, match=r"a2.txt cannot be read: Not a directory"):
        names("a2.txt/*")


def test_a_misspelt_path_is_recognised(tmp_path: Path) -> None:
    put(tmp_path, "NAB_nyc_taxi.csv", 0)
    with pytest.raises(DataError) as caught:
        declared_folder(declared(f"USING csv OPTIONS (path '{tmp_path}/NAB_ncy_taxi.csv')"))
    assert caught.value.hint == 'Did you mean "NAB_nyc_taxi.csv"?'
    with pytest.raises(DataError) as caught:
        declared_folder(declared(f"USING csv OPTIONS (path '{tmp_path}/else/where')"))
    assert caught.value.hint == "Make the folder, or see the path that is declared."


def test_a_folder_that_goes_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=f'stream "s": {tmp_path}/gone cannot be read: No such'):
        Folder("s", tmp_path / "gone").new_files(())


def test_limits_are_those_of_the_options(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    (tmp_path / "in").mkdir()

    def folder(options: str = "") -> Folder:
        path = f"path '{tmp_path}/in'"
        return folder_of(home, declared(f"USING parquet OPTIONS ({path}{options})"))

    assert folder() == Folder("s", tmp_path / "in", MOST_FILES, MOST_BYTES)
    assert folder(", maxFilesPerTrigger '7'").most_files == 7
    assert folder(", maxBytesPerTrigger '3mb'").most_bytes == 3 << 20
    with pytest.raises(DataError, match='maxFilesPerTrigger is "many", not a number'):
        folder(", maxFilesPerTrigger 'many'")
    with pytest.raises(DataError, match=r'stream "s": the path .*/no does not exist'):
        folder_of(home, declared(f"USING parquet OPTIONS (path '{tmp_path}/no')"))
    inserted = Folder("s", home.incoming("s"), MOST_INSERTS, MOST_INSERTED_BYTES, is_inserted=True)
    assert folder_of(home, declared("")) == inserted
