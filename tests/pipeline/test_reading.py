"""Files that are read in pieces: each lane gets what it would get if its task read all of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra.expressions import Column
from penstock.algebra.time import BEGINNING, TimeUnit
from penstock.algebra.types import BIGINT, Field, Schema
from penstock.catalog.definitions import StreamDefinition
from penstock.files.folders import Folder
from penstock.lane_host.deliveries import Deliveries, Delivery
from penstock.pipeline import pieces, reading
from penstock.pipeline.file_rows import FileRows, file_rows
from penstock.pipeline.pieces import FilePiece, cost_of, pieces_of, whole_piece
from penstock.pipeline.reading import DividedReading, FileReading, FoundRows, read_whole
from penstock.planner.partition.partitioning import Route
from penstock.store.layout import Home

SCHEMA = Schema((Field("ts", BIGINT), Field("k", BIGINT), Field("n", BIGINT)))
STREAM = StreamDefinition("s", SCHEMA, "ts", TimeUnit.TICK, format="parquet")
FILES = st.lists(
    st.lists(st.tuples(st.none() | st.integers(0, 99), st.none() | st.integers(0, 5)), max_size=20),
    min_size=1,
    max_size=6,
)


def put(folder: Path, files: list[list[tuple[int | None, int | None]]], group: int = 3) -> None:
    """Files with small groups of rows; rows are numbered through all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for number, rows in enumerate(files):
        ts, keys = zip(*rows, strict=True) if rows else ((), ())
        numbers = range(count, count + len(rows))
        count += len(rows)
        table = pa.table([pa.array(one, pa.int64()) for one in (ts, keys, numbers)], SCHEMA.names)
        pq.write_table(table, folder / f"{number}.parquet", row_group_size=group)


def break_second_group(path: Path) -> None:
    """Overwrite pages of a file with groups of rows; its end is as it was."""
    start = pq.read_metadata(path).row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 30] = bytes(30)
    path.write_bytes(bytes(content))
    os.utime(path, (1, 1))


def reader(tasks: int, lanes: int) -> FileRows:
    """Two deliveries: one by key, one to a single lane."""
    several = [Delivery(Route((Column("k", BIGINT),)), lanes), Delivery(None, 1, tasks - 1)]
    width = -(-lanes // tasks) * tasks
    return file_rows(Deliveries(tasks, width, {"s": several}), STREAM)


def shown(found: FoundRows) -> dict[str, object]:
    tables = {
        name: [{key: one for key, one in row.items() if one is not None} for row in rows]
        for name, rows in ((name, one.to_pylist()) for name, one in found.parts.items())
    }
    return {"rows": tables, "latest": found.latest}


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "LEAST_BYTES", 1)
    monkeypatch.setattr(pieces, "FILE_BYTES", 1)


def divided(folder: Path, most: int, home: Home) -> FileReading:
    """A reading of all files of a folder, in about as many pieces."""
    home.segments.mkdir(parents=True, exist_ok=True)
    names = sorted(one.name for one in folder.iterdir())
    within = Folder("s", folder)
    cut = pieces_of(STREAM, within, {one: cost_of(within, one) for one in names}, most)
    return FileReading.begin(7, "divided", {"s": str(folder)}, cut)


def whole(folder: Path) -> FileReading:
    names = sorted(one.name for one in folder.iterdir())
    return FileReading.begin(7, "whole", {"s": str(folder)}, [whole_piece("s", names)])


@pytest.mark.usefixtures("small_pieces")
@settings(max_examples=60, deadline=None)
@given(FILES, st.integers(1, 4), st.integers(2, 5), st.integers(1, 9), st.booleans(), st.data())
def test_pieces_bring_each_lane_what_the_whole_does(
    files: list[list[tuple[int | None, int | None]]],
    tasks: int,
    lanes: int,
    most: int,
    is_damaged: bool,
    data: st.DataObject,
) -> None:
    with tempfile.TemporaryDirectory() as path:
        folder, home = Path(path) / "in", Home(Path(path) / "home")
        put(folder, files)
        if is_damaged and len(files[0]) > 3:
            break_second_group(folder / "0.parquet")
        plan = divided(folder, most, home)
        plan = FileReading.from_json(plan.to_json())
        found = {"s": reader(tasks, lanes)}
        order = data.draw(st.permutations(range(tasks)))
        for task in order:
            part = DividedReading(home, plan, found)
            part.help(task, tasks)
            assert shown(part.found(task, tasks)) == shown(read_whole(whole(folder), found, task))
        read = list(home.segments.glob("*.rows"))
        assert len(read) == len(plan.pieces), "a piece was read twice, or its draft is left"
        plan.remove(home)
        assert list(home.segments.iterdir()) == []


@pytest.mark.usefixtures("small_pieces")
def test_large_files_are_cut_between_their_groups_and_small_ones_go_together(
    tmp_path: Path,
) -> None:
    put(tmp_path, [[(1, 1)] * 2, [(1, 1)] * 2, [(1, number) for number in range(90)], [(1, 1)] * 2])
    within = Folder("s", tmp_path)
    costs = {f"{number}.parquet": cost_of(within, f"{number}.parquet") for number in range(4)}
    found = pieces_of(STREAM, within, costs, 8)
    assert found[0] == FilePiece("s", ("0.parquet", "1.parquet"))
    cut = [one.groups for one in found[1:-1]]
    assert all(one is not None for one in cut)
    assert len(cut) > 4
    starts, stops = zip(*(one for one in cut if one), strict=True)
    assert (starts[0], *stops) == (*starts, 30)
    assert found[-1] == FilePiece("s", ("3.parquet",))
    # What is missing costs little, and whoever reads it says so.
    assert cost_of(within, "none.parquet") == pieces.FILE_BYTES


TAKER = """
import os, signal, sys, time
from pathlib import Path
from penstock.pipeline.reading import DividedReading, FileReading
from penstock.store.layout import Home
part = DividedReading(Home(Path(sys.argv[1])), FileReading.from_json(sys.argv[2]), {})
assert part._take(0)
print("taken", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_what_a_reader_does_not_bring_another_reads(
    tmp_path: Path, ending: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PATIENCE", 0.5 if ending is signal.SIGSTOP else 600.0)
    put(tmp_path / "in", [[(4, 1), (2, 3)], [(7, 3)]])
    home = Home(tmp_path / "home")
    plan = divided(tmp_path / "in", 1, home)
    command = [sys.executable, "-P", "-c", TAKER, str(home.path), plan.to_json()]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"taken\n"
        os.kill(process.pid, ending)
        if ending is signal.SIGKILL:
            process.wait()
        part = DividedReading(home, plan, {"s": reader(2, 2)})
        part.help(0, 2)
        assert not list(home.segments.glob("*.rows"))
        assert shown(part.found(0, 2)) == shown(
            read_whole(whole(tmp_path / "in"), {"s": reader(2, 2)}, 0)
        )
        process.kill()


def test_a_reader_that_fails_gives_its_piece_back(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "0.parquet").write_text("PAR1 and then")
    home = Home(tmp_path / "home")
    part = DividedReading(home, divided(tmp_path / "in", 1, home), {"s": reader(1, 2)})
    with pytest.raises(Exception, match="cannot be read as Parquet"):
        part.help(0, 1)
    assert list(home.segments.iterdir()) == []
    put(tmp_path / "in", [[(4, 1)]])
    part.help(0, 1)
    assert part.found(0, 1).latest == {"s": 4}


def test_rows_without_time_have_no_latest_instant(tmp_path: Path) -> None:
    put(tmp_path / "in", [[(None, 1)]])
    assert read_whole(whole(tmp_path / "in"), {"s": reader(1, 2)}, 0).latest == {"s": BEGINNING}
