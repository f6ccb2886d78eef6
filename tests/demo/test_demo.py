"""The demonstration on Spark: its queries answer what the oracle says, and its picture shows it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import penstock
from penstock.algebra.streams import RelationToStream
from penstock.catalog.definitions import QueryDefinition
from penstock.cli.demo import demo
from penstock.demo.board import Board, seconds_of
from penstock.demo.driving import Demonstration
from penstock.demo.highway import ACCIDENT, STATIONS, HighwayTraffic, traffic
from penstock.demo.live import console, page
from penstock.demo.plot import write_picture
from penstock.demo.scenario import TRIP
from penstock.reference.inputs import Inputs
from penstock.reference.oracle import Oracle
from penstock.spark.spark_engine import spark_engine

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from penstock.algebra.plan import Plan
    from penstock.connection.connection import Connection
    from penstock.reference.timeline import Row, Timeline

MASTER = "local[2,4]"
ROWS = 1500
"""The oracle takes its time."""
FEEDING = 3.0
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # TIMESTAMPs have no time zone

Change = tuple[Any, ...]
Pixels = np.ndarray[Any, np.dtype[np.float32]]


@pytest.fixture(scope="module")
def made() -> HighwayTraffic:
    return traffic(ROWS, 1)


@pytest.fixture(scope="module")
def db() -> Iterator[Connection]:
    with penstock.connect(MASTER) as opened:
        yield opened


@pytest.fixture(scope="module")
def demonstration(db: Connection, made: HighwayTraffic) -> Demonstration:
    """A demonstration that has come to its end."""
    found = Demonstration(db)
    looks: list[object] = []
    found.drive(made, lambda: looks.append(page(found)), FEEDING)
    assert looks
    return found


def oracle_of(made: HighwayTraffic, stations: Container[int]) -> Oracle:
    """The oracle on the rows of some stations."""
    rows: list[Row] = [
        tuple(map(number_of, row.values()))
        for row in made.rows.to_pylist()
        if row["station"] in stations
    ]
    return Oracle(Inputs({"vehicles": rows}))


def number_of(value: Any) -> Any:
    """An instant as the oracle counts it; anything else as it is, rounded if it is computed."""
    if isinstance(value, datetime):
        return round((value - EPOCH).total_seconds() * 1e6)
    return round(value, 6) if isinstance(value, float) else value


def plan_of(db: Connection, query: str) -> Plan:
    definition = spark_engine(db).program.session.catalog.get(query)
    assert isinstance(definition, QueryDefinition)
    return definition.plan


def shown(tables: Iterable[pa.Table]) -> Counter[Change]:
    rows = [row for table in tables for row in table.to_pylist()]
    return Counter(tuple(map(number_of, row.values())) for row in rows)


def changes(timeline: Timeline) -> Counter[Change]:
    found: Counter[Change] = Counter()
    for change in timeline.changes():
        for sign, bag in (("-", change.removed), ("+", change.inserted)):
            for row, copies in bag.items():
                found[(*map(number_of, row), change.at, sign)] += copies
    return found


@pytest.mark.parametrize("query", ["congested", "speeds", "crawling"])
def test_relations_change_as_the_oracle_says(
    db: Connection, demonstration: Demonstration, made: HighwayTraffic, query: str
) -> None:
    oracle = oracle_of(made, range(1, STATIONS + 1))
    expected = changes(oracle.timeline(plan_of(db, query)))
    assert len(expected) >= 10
    assert shown(db[query].changes()) == expected


def test_trips_are_those_of_the_oracle(
    db: Connection, demonstration: Demonstration, made: HighwayTraffic
) -> None:
    plan = plan_of(db, "trips")
    assert isinstance(plan, RelationToStream)
    # Other stations do not pass WHERE, but the oracle would make all pairs first.
    sent = oracle_of(made, TRIP).emissions(plan)
    expected = Counter((*map(number_of, one.row), one.at) for one in sent)
    assert shown(db["trips"].emissions()) == expected
    assert demonstration.board.trips == expected.total() > ROWS / 25


def test_all_rows_are_taken_in_and_none_is_late(
    db: Connection, demonstration: Demonstration, made: HighwayTraffic
) -> None:
    facts = db.progress()["streams"]["vehicles"]
    assert (facts["rows"], facts["late"], facts["aside"]) == (len(made.rows), 0, 0)
    assert demonstration.rows == len(made.rows)


def test_the_board_finds_the_accident_and_nothing_else(demonstration: Demonstration) -> None:
    board = demonstration.board
    found = {one[0]: one[1:] for one in board.all_congestions()}
    # With so few rows, the end of the queue may be missed.
    assert {11, 12} <= set(found) <= set(ACCIDENT.jams())
    begins, ends = found[ACCIDENT.station]
    assert ACCIDENT.begins < begins < ACCIDENT.begins + 900
    assert ACCIDENT.ends < ends < ACCIDENT.ends + 900
    assert [seconds_of(one.at) for one in board.events] == sorted(
        seconds_of(one.at) for one in board.events
    )


def test_the_page_shows_every_station(demonstration: Demonstration) -> None:
    where = console()
    with where.capture() as captured:
        where.print(page(demonstration))
    text = captured.get()
    assert text.splitlines()[1].split() == ["station", *map(str, range(1, 21))]
    assert "station 12 flows again" in text or "station 8 flows again" in text


def test_the_picture_shows_speeds_and_congestions(
    demonstration: Demonstration, tmp_path: Path
) -> None:
    pixels, empty = (picture(one, tmp_path) for one in (demonstration.board, Board()))
    assert pixels.shape == empty.shape
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 100
    assert green(pixels) > 0.2
    assert green(empty) < 0.05, "the colour bar"
    assert black(pixels) > black(empty) + 500, "outlines"


def picture(board: Board, folder: Path) -> Pixels:
    from matplotlib.image import imread

    path = folder / "picture.png"
    write_picture(board, path)
    assert path.read_bytes().startswith(b"\x89PNG\r\n")
    assert path.stat().st_size < 200_000
    found: Pixels = imread(path)
    return found


def green(pixels: Pixels) -> float:
    is_green = (pixels[..., 1] > pixels[..., 0] + 0.2) & (pixels[..., 1] > pixels[..., 2] + 0.2)
    return float(is_green.mean())


def black(pixels: Pixels) -> int:
    return int((pixels[..., :3].max(axis=2) < 0.05).sum())


def application() -> typer.Typer:
    found = typer.Typer()
    found.command()(demo)
    return found


def test_the_command_says_what_it_found(db: Connection, tmp_path: Path) -> None:
    # In the process of the other tests: Spark has been started.
    out, home = tmp_path / "out.png", tmp_path / "home"
    options = [
        "--rows",
        "2000",
        "--seconds",
        "1",
        "--out",
        str(out),
        "--home",
        str(home),
        "--master",
        MASTER,
    ]
    answer = CliRunner().invoke(application(), options)
    assert answer.exit_code == 0, answer.output
    assert "Stations with a queue in the truth: 8, 9, 10, 11, 12." in answer.output
    assert f"./penstock status --home {home}" in answer.output
    assert out.read_bytes().startswith(b"\x89PNG\r\n")
    again = CliRunner().invoke(application(), options)
    assert "is not an empty folder" in str(again.exception)


def test_there_must_be_a_place_for_the_picture(tmp_path: Path) -> None:
    answer = CliRunner().invoke(application(), ["--out", str(tmp_path / "none" / "out.png")])
    assert "there is no folder" in str(answer.exception)


def test_ctrl_c_ends_it_cleanly(tmp_path: Path) -> None:
    out = tmp_path / "out.png"
    code = "import typer; from penstock.cli.demo import demo; typer.run(demo)"
    command = [sys.executable, "-P", "-c", code, "--rows", "5000", "--out", str(out)]
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(
        [*command, "--master", MASTER],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        assert running.stdout is not None
        line = next(one for one in running.stdout if "rows, " in one)
        assert "a second" in line
        # The whole group, as a terminal does.
        os.killpg(running.pid, signal.SIGINT)
        rest, _ = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 130
    assert "interrupted: the pipeline has been stopped" in rest
    assert "Traceback" not in rest
    assert "\tat " not in rest, "Java's"
    assert not out.exists()
    assert not list(tmp_path.glob("penstock-*/records")), "the temporary home is gone"
