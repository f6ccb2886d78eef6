"""A backlog of files: whatever their order and their times, none makes rows of another late."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.definitions import StreamDefinition
from penstock.files.backlog import Backlog
from penstock.files.earliest_rows import earliest_row
from penstock.files.folders import declared_folder
from penstock.session import Session

if TYPE_CHECKING:
    import random
    from pathlib import Path

    import pytest


def declared(folder: Path, form: str = "csv", options: str = "") -> StreamDefinition:
    session = Session()
    session.execute(
        "CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts - 1)"
        f" USING {form} OPTIONS (path '{folder}'{options})"
    )
    found = session.catalog.find("s", "stream")
    assert isinstance(found, StreamDefinition)
    return found


def put(folder: Path, name: str, times: list[int], age: float = 1000.0) -> None:
    path = folder / name
    path.write_text("ts,k\n" + "".join(f"{at},1\n" for at in times))
    os.utime(path, (age, age))


def batches(stream: StreamDefinition) -> list[tuple[list[str], int]]:
    """What is read together, and what holds the watermark meanwhile."""
    backlog = Backlog(declared_folder(stream), frozenset[str](), stream)
    backlog.look()
    found = []
    while names := backlog.next_files(look=False):
        found.append((names, backlog.hold))
    return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 50), max_size=4), min_size=1, max_size=7),
    st.integers(1, 3),
    st.randoms(),
)
def test_the_watermark_does_not_pass_rows_of_files_that_wait(
    tmp_path_factory: pytest.TempPathFactory,
    files: list[list[int]],
    at_once: int,
    order: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("in")
    for number, times in enumerate(files):
        put(folder, f"{number}.csv", times, 1000.0 + order.choice([0, 0, 1, 2]))
    stream = declared(folder, options=f", maxFilesPerTrigger '{at_once}'")
    found = batches(stream)
    assert sorted(name for names, _ in found for name in names) == sorted(
        f"{number}.csv" for number in range(len(files))
    )
    for place, (_, hold) in enumerate(found):
        later = [int(name.split(".")[0]) for names, _ in found[place + 1 :] for name in names]
        assert hold == min((at for one in later for at in files[one]), default=INFINITY)


def test_what_fits_into_one_batch_is_not_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("no column of ours\n")
    put(tmp_path, "b.csv", [1])
    os.utime(tmp_path / "a.csv", (1000, 1000))
    assert batches(declared(tmp_path)) == [(["a.csv", "b.csv"], INFINITY)]


def test_what_cannot_be_read_comes_first_and_holds_all(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", [5])
    put(tmp_path, "b.csv", [3])
    (tmp_path / "z.csv").write_text("other,columns\n1,2\n")
    stream = declared(tmp_path, options=", maxFilesPerTrigger '1'")
    assert batches(stream) == [(["z.csv"], 3), (["b.csv"], 5), (["a.csv"], INFINITY)]
    assert earliest_row(stream, tmp_path / "z.csv") == BEGINNING


def test_the_earliest_row_of_parquet_files(tmp_path: Path) -> None:
    pq.write_table(pa.table({"ts": [7, None, 4], "k": [1, 1, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"k": [1]}), tmp_path / "b.parquet")
    stream = declared(tmp_path, "parquet")
    assert earliest_row(stream, tmp_path / "a.parquet") == 4
    assert earliest_row(stream, tmp_path / "b.parquet") == BEGINNING
