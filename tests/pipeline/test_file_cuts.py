"""Files that are cut while the intake is held down: each row once, in order, none made late."""

from __future__ import annotations

import random
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.algebra.time import BEGINNING, INFINITY
from penstock.catalog.definitions import StreamDefinition
from penstock.files.backlog import Backlog
from penstock.files.folders import Folder, folder_of
from penstock.lane_host.row_slots import OPENING
from penstock.pipeline import file_cuts
from penstock.pipeline import pieces as pieces_module
from penstock.pipeline.file_cuts import FileCuts
from penstock.pipeline.file_rows import FileRows
from penstock.pipeline.files_read import KnownFiles
from penstock.pipeline.pieces import ALL_ROWS, pieces_between, whole_piece
from penstock.pipeline.row_division import DeliveryDivision
from penstock.runtime.lateness import watermark_after
from penstock.session import Session
from penstock.store.inserted_rows import bring
from penstock.store.layout import Home
from penstock.store.records import FilesRead

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SLACK = 3
LIMITS: list[list[int | None]] = [[1], [7], [1, 3, 100, None]]


def declared(folder: Path | None, form: str = "csv") -> StreamDefinition:
    session = Session()
    using = "" if folder is None else f"USING {form} OPTIONS (path '{folder}')"
    session.execute(f"CREATE STREAM s (ts BIGINT, n INT, WATERMARK FOR ts AS ts - {SLACK}) {using}")
    found = session.catalog.find("s", "stream")
    assert isinstance(found, StreamDefinition)
    return found


def some_rows(draw: random.Random, files: int) -> list[list[tuple[int | None, int]]]:
    """Rows out of order, some without time; each file later than the one before, about."""
    numbers = iter(range(10_000))
    return [
        [
            (None if draw.random() < 0.05 else 20 * file + draw.randint(-10, 30), next(numbers))
            for _ in range(draw.choice([0, 1, 5, 40]))
        ]
        for file in range(files)
    ]


def taken_in(
    stream: StreamDefinition,
    home: Home,
    limits: list[int | None],
    draw: random.Random,
    bound: int | None = None,
) -> tuple[list[int], set[int]]:
    """The rows in the order they are taken in, and those that are late."""
    read, watermark, latest = FilesRead(), BEGINNING, BEGINNING
    order: list[int] = []
    late: set[int] = set()
    cuts: FileCuts | None = None
    while True:
        if cuts is None or draw.random() < 0.3:
            # As a process that is started again would see it.
            folder, rows = folder_of(home, stream), FileRows(stream, (DIVISION,), 1)
            known = KnownFiles(home, read)
            backlog = Backlog(folder, known, stream)
            backlog.look()
            groups = partial(rows.group_rows, folder)
            cuts = FileCuts(backlog, partial(rows.event_times, folder), groups)
        share = cuts.next_share(draw.choice(limits), bound)
        if share is None:
            return order, late
        taken = share.start, share.stop
        pieces = [whole_piece(stream.name, share.names, taken)]
        if taken != ALL_ROWS and not folder.is_inserted and draw.random() < 0.7:
            most = draw.randint(1, 4)
            pieces = pieces_between(stream, folder, share.names[0], taken, most)
        read_pieces = [rows.read(folder, piece) for piece in pieces]
        tables = [table for one in read_pieces for _, table in rows.shares(one)]
        if bound is not None:
            assert sum(map(len, tables)) <= bound
        hold = cuts.hold
        for table in tables:
            # What was inserted together with others knows which of them were before it.
            known_opening = OPENING in table.column_names
            opening = table[OPENING].to_pylist() if known_opening else [BEGINNING] * len(table)
            columns = table["_ts"].to_pylist(), table["int_0"].to_pylist(), opening
            for ts, n, at in zip(*columns, strict=True):
                order.append(n)
                if ts is not None and ts < max(watermark, at):
                    late.add(n)
                latest = latest if ts is None else max(latest, ts)
        watermark = max(watermark, watermark_after(latest, SLACK, hold))
        read = cuts.backlog.known.after(1, share.read_to_the_end, share.begun)
        cuts.backlog.known.note(read, share.read_to_the_end)


DIVISION = DeliveryDivision(0, 1, None)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path / "home")
    made.open()
    yield made
    made.close()


@pytest.mark.parametrize("seed", range(12))
def test_rows_of_inserts_are_late_however_they_are_cut(home: Home, seed: int) -> None:
    draw = random.Random(seed)
    stream = declared(None)
    files = some_rows(draw, 6)
    for rows in files:
        ts, n = ([row[i] for row in rows] for i in (0, 1))
        bring(home, "s", pa.table({"ts": pa.array(ts, pa.int64()), "n": pa.array(n, pa.int32())}))
    whole = taken_in(stream, home, [None], draw)
    for limits in LIMITS:
        assert taken_in(stream, home, limits, draw) == whole
    assert whole[0] == list(range(sum(map(len, files))))


@pytest.mark.parametrize("seed", range(12))
def test_no_row_of_a_backlog_is_late_however_it_is_cut(
    home: Home, tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    folder = tmp_path / "in"
    folder.mkdir()
    files = some_rows(draw, 5)
    draw.shuffle(files)
    for number, rows in enumerate(files):
        lines = ["ts,n", *(f"{'' if ts is None else ts},{n}" for ts, n in rows), "1x,0"]
        (folder / f"{number}.csv").write_text("\n".join(lines) + "\n")
    stream = declared(folder)
    for limits in LIMITS:
        order, late = taken_in(stream, home, limits, draw)
        readable = [n for n in order if n is not None]
        assert sorted(readable) == sorted(n for rows in files for _, n in rows)
        assert len(order) - len(readable) == len(files)
        assert late == set()


@pytest.mark.parametrize("inserts", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_files_with_many_rows_are_cut_at_groups_of_rows(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, *, inserts: bool
) -> None:
    monkeypatch.setattr(file_cuts, "COUNTED_BYTES", 0)
    monkeypatch.setattr(pieces_module, "LEAST_BYTES", 1)
    draw = random.Random(seed)
    folder = tmp_path / "in"
    folder.mkdir()
    files = some_rows(draw, 5)
    if inserts:
        monkeypatch.setattr(pq, "write_table", partial(pq.write_table, row_group_size=4))
    else:
        draw.shuffle(files)
    for number, rows in enumerate(files):
        ts, n = ([row[i] for row in rows] for i in (0, 1))
        table = pa.table({"ts": pa.array(ts, pa.int64()), "n": pa.array(n, pa.int32())})
        if inserts:
            bring(home, "s", table)
        else:
            pq.write_table(table, folder / f"{number}.parquet", row_group_size=4)
    stream = declared(None if inserts else folder, "parquet")
    whole = taken_in(stream, home, [None], draw)
    for bound in (40, 11, 3):
        order, late = taken_in(stream, home, [None], draw, bound)
        assert late == whole[1]
        assert sorted(order) == list(range(sum(map(len, files))))
        if inserts:
            assert order == whole[0]


def test_a_file_with_many_bytes_is_cut_though_its_rows_are_few(tmp_path: Path) -> None:
    texts = [f"{number} " + "x" * 20_000 for number in range(100)]
    table = pa.table({"ts": list(range(100)), "t": texts})
    pq.write_table(
        table, tmp_path / "1.parquet", row_group_size=10, compression="none", use_dictionary=False
    )
    session = Session()
    session.execute(
        "CREATE STREAM s (ts BIGINT, t STRING, WATERMARK FOR ts AS ts)"
        f" USING parquet OPTIONS (path '{tmp_path}', maxBytesPerTrigger '500k')"
    )
    stream = session.catalog.find("s", "stream")
    assert isinstance(stream, StreamDefinition)
    home = Home(tmp_path / "home")
    folder, rows = folder_of(home, stream), FileRows(stream, (), 1)
    backlog = Backlog(folder, KnownFiles(home, FilesRead()), stream)
    backlog.look()
    groups = partial(rows.group_rows, folder)
    cuts = FileCuts(backlog, partial(rows.event_times, folder), groups)
    found = []
    while (share := cuts.next_share(None, 1_000_000)) is not None:
        found.append((share.start, share.stop))
    assert found == [(start, start + 20) for start in range(0, 80, 20)] + [(80, None)]


def test_a_file_that_cannot_be_read_counts_as_one_row(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1")
    session = Session()
    session.execute(
        "CREATE STREAM s (ts BIGINT, WATERMARK FOR ts AS ts)"
        f" USING parquet OPTIONS (path '{tmp_path}')"
    )
    stream = session.catalog.find("s", "stream")
    assert isinstance(stream, StreamDefinition)
    found = FileRows(stream, (), 1).event_times(Folder("s", tmp_path), path.name)
    assert np.array_equal(found, [INFINITY])
