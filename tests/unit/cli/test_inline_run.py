"""`penstock run` in its own process: chosen where it is enough, and as exact as the oracle."""

from __future__ import annotations

import datetime
import os
import random
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow.csv as pcsv
import pyarrow.json as pj
import pyarrow.parquet as pq
import pytest

from penstock import connect_inline
from penstock.store.layout import Home

ROOT = Path(__file__).parents[3]
DECLARED = """
CREATE STREAM rides (at TIMESTAMP, km DOUBLE, city STRING, WATERMARK FOR at AS at)
USING csv OPTIONS (path '{path}'{options});
"""
QUERY = "SELECT city, COUNT(*) AS n, MAX(km) AS far FROM rides [RANGE 10 MINUTES] GROUP BY city"


def penstock(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "penstock", "run", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=120,
    )


def rows(number: int) -> list[str]:
    draw = random.Random(number)
    times = sorted(draw.sample(range(86_400), 400))
    start = datetime.datetime.fromisoformat("2026-01-01")
    moments = [start + datetime.timedelta(seconds=at) for at in times]
    return [f"{draw.random():.3f},{draw.choice('abc')},x,{at}" for at in moments]


def put(folder: Path, files: list[list[str]], seed: int) -> None:
    """Files whose names and times say nothing of the times within."""
    folder.mkdir()
    names = [f"{number}.csv" for number in range(len(files))]
    random.Random(seed).shuffle(names)
    for name, lines in zip(names, files, strict=True):
        (folder / name).write_text("\n".join(["km,city,more,at", *lines, ""]))
        os.utime(folder / name, (1000, 1000))


def declared(path: Path, options: str = "") -> str:
    return DECLARED.format(path=path, options=options)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ("", ("--intervals",)),
        (", maxFilesPerTrigger '1'", ()),
        (", maxFilesPerTrigger '3'", ("--at", "2026-01-01 12:00:00")),
    ],
)
def test_a_backlog_in_any_order_is_answered_as_the_oracle_answers_the_whole(
    tmp_path: Path, options: str, shown: tuple[str, ...]
) -> None:
    lines = rows(7)
    whole = tmp_path / "whole.csv"
    whole.write_text("\n".join(["km,city,more,at", *lines, ""]))
    # Neighbouring files overlap.
    parts = [lines[start : start + 50 : 2] for start in range(0, 400, 50)]
    parts += [lines[start + 1 : start + 50 : 2] for start in range(0, 400, 50)]
    put(tmp_path / "parts", parts, 3)
    found = penstock("-e", declared(tmp_path / "parts", options) + QUERY, *shown)
    expected = penstock("--engine", "oracle", "-e", declared(whole) + QUERY, *shown)
    assert found.stdout == expected.stdout
    assert (found.returncode, found.stderr.count("\n")) == (0, 1), "no row is late"
    assert found.stderr.startswith("running in this process, because there is little to read: 16 f")


def test_files_of_a_pattern_are_read_by_the_names_in_their_headers(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("city,km,at\na,1,2026-01-01\n")
    (tmp_path / "2.csv").write_text("at,city,km\n2026-01-02,b,2\n")
    (tmp_path / "notes.txt").write_text("nothing\n")
    text = declared(tmp_path / "*.csv") + QUERY
    found = penstock("-e", text)
    assert found.stdout == penstock("--engine", "oracle", "-e", text).stdout
    assert "b | 1 | 2.0" in found.stdout
    assert found.stderr.count("\n") == 1


def test_a_stream_without_rows_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "rides.csv").write_text("at,km,city\n")
    for path, why in (
        ("empty", "there is no file in {0}/empty"),
        ("empty/*.csv", "there is no file {0}/empty/*.csv"),
        ("rides.csv", "{0}/rides.csv has none"),
    ):
        found = penstock("-e", declared(tmp_path / path) + QUERY)
        said = f'warning: stream "rides" brought no rows: {why.format(tmp_path)}\n'
        assert (found.returncode, found.stderr.endswith(said)) == (0, True), found.stderr


def test_relations_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "rides.csv").write_text("at,km,city\n2026-01-01 00:00:00,1,a\n")
    (tmp_path / "names.json").write_text('{"city": "a", "name": "Ashford"}\n')
    text = declared(tmp_path / "rides.csv") + (
        "CREATE RELATION names (city STRING, name STRING)"
        f" USING json OPTIONS (path '{tmp_path}/names.json');"
        "SELECT name, km FROM rides [NOW] r, names WHERE r.city = names.city"
    )
    found = penstock("-e", text)
    assert found.stdout == penstock("--engine", "oracle", "-e", text).stdout
    assert "Ashford" in found.stdout


def test_late_rows_say_by_how_much() -> None:
    with connect_inline() as db:
        db.execute("CREATE STREAM s (at TIMESTAMP, k INT, WATERMARK FOR at AS at)")
        db.query("SELECT k FROM s [NOW]")
        db.insert("s", [("2026-01-01 01:00:00", 1)])
        db.insert("s", [("2026-01-01 00:00:00", 2), ("2026-01-01 00:30:00", 3)])
        assert db.late("s").to_arrow()["_reason"].to_pylist() == [
            "late by 1 hour: before the watermark 2026-01-01 01:00:00",
            "late by 30 minutes: before the watermark 2026-01-01 01:00:00",
        ]
        assert db.progress()["streams"]["s"]["late_by"] == timedelta(hours=1)


def test_what_could_not_be_read_ends_with_an_exit_code_and_a_line(tmp_path: Path) -> None:
    path = tmp_path / "rides.csv"
    path.write_text("at,km,city\n2026-01-01,1,a\n2026-01-02,far,b\n2026-01-03,3,c\n")
    found = penstock("-e", declared(path) + QUERY)
    assert found.returncode == 0
    assert (
        f'unreadable: column "km": "far" is no DOUBLE: 2026-01-02,far,b  ({path}, line 3)'
        in found.stderr
    )
    strict = penstock("-e", declared(path) + QUERY, "--most-unreadable", 0.1)
    assert strict.returncode == 1
    assert strict.stdout == found.stdout
    assert 'failed: 1 of 3 rows of stream "rides" could not be read\n' in strict.stderr
    path.write_text("at,km,city\n1412121600,1,a\n")
    none = penstock("-e", declared(path) + QUERY)
    assert none.returncode == 1
    assert "OPTIONS (time_unit 's') reads it" in none.stderr
    assert 'failed: 1 of 1 row of stream "rides" could not be read\n' in none.stderr


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("{declared}{query}", ["--home", "{folder}/home"], "on Spark, because --home is given"),
        ("{declared}{query}", ["--engine", "inline"], "in this process, as --engine says"),
        ("{declared}{query}", ["--engine", "spark"], "on Spark, as --engine says"),
        (
            "{declared}CREATE QUERY q AS {query}; CREATE SINK s FROM q USING csv"
            " OPTIONS (path '{folder}/out')",
            [],
            "in this process, because there is little to read: 1 file, 11 bytes"
            " (--engine spark: on Spark)",
        ),
        (
            "{declared}CREATE QUERY q AS {query}; CREATE SINK s FROM q USING kafka"
            " OPTIONS (topic 't', kafka.bootstrap.servers 'nowhere')",
            [],
            'on Spark, because sink "s" (kafka) is written by Spark',
        ),
        ("{orc}{query}", [], 'on Spark, because stream "rides" (orc) is read by Spark'),
    ],
)
def test_a_dry_run_says_where_it_would_run(
    tmp_path: Path, text: str, arguments: list[str], said: str
) -> None:
    (tmp_path / "rides.csv").write_text("at,km,city\n")
    words = {
        "declared": declared(tmp_path / "rides.csv"),
        "orc": declared(tmp_path / "rides.csv").replace("csv OPTIONS", "orc OPTIONS"),
        "query": QUERY,
        "folder": tmp_path,
    }
    given = [one.format(**words) for one in arguments]
    found = penstock("--check", "-e", text.format(**words), *given)
    assert (found.stdout, found.returncode) == (f"1 query could run {said}\n", 0), found.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("{gone}{query}", [], "the path {folder}/gone.csv does not exist"),
        ("{other}{query}", [], '{folder}/other.csv has no column "km" in its header'),
        ("{gone}{query}", ["--engine", "spark"], "the path {folder}/gone.csv does not exist"),
        (
            "{fine}CREATE QUERY q AS {query}; CREATE SINK s FROM q USING csv"
            " OPTIONS (path '{folder}')",
            [],
            "there are files in {folder} already",
        ),
        ("{fine}{query}", ["--home", "{folder}/other.csv/home"], "cannot be written"),
        (
            "{orc}{query}",
            ["--engine", "inline"],
            '--engine inline cannot run this: stream "rides" (orc) is read by Spark',
        ),
    ],
)
def test_what_cannot_run_is_refused_before_anything_starts(
    tmp_path: Path, text: str, arguments: list[str], said: str
) -> None:
    (tmp_path / "fine.csv").write_text("at,km,city\n")
    (tmp_path / "other.csv").write_text("at,miles,city\n")
    words = {
        **{one: declared(tmp_path / f"{one}.csv") for one in ("fine", "gone", "other")},
        "orc": declared(tmp_path / "fine.csv").replace("csv OPTIONS", "orc OPTIONS"),
        "query": QUERY,
        "folder": tmp_path,
    }
    given = [one.format(**words) for one in arguments]
    # A dry run refuses the same; it is asked where the file is missing.
    for more in ([], ["--check"])[: 1 + text.startswith("{gone}")]:
        found = penstock("-e", text.format(**words), *given, *more)
        assert found.returncode == 2
        assert said.format(**words) in found.stderr
        assert "Traceback" not in found.stderr


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT kms FROM rides [NOW]", 'Did you mean "km"?'),
        ("SELECT km FROM rides [NOW]", "rides.csv does not exist"),
    ],
)
def test_a_mistake_is_found_before_anything_is_loaded_that_runs_queries(
    tmp_path: Path, statement: str, said: str
) -> None:
    text = declared(tmp_path / "rides.csv") + statement
    program = (
        "import atexit, sys; from penstock.cli.app import main;"
        "atexit.register(lambda: print({'numba', 'pandas', 'pyspark'} & set(sys.modules)));"
        f"sys.argv = ['penstock', 'run', '-e', {text!r}]; main()"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert said in found.stderr
    assert found.stdout == "set()\n"


def test_explain_says_which_sinks_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "rides.csv").write_text("at,km,city\n")
    (tmp_path / "new").mkdir()
    text = declared(tmp_path / "rides.csv") + f"CREATE QUERY q AS {QUERY};"
    for name, folder in (("good", tmp_path / "new"), ("full", tmp_path)):
        text += f"CREATE SINK {name} FROM q USING csv OPTIONS (path '{folder}');"
    text += f"CREATE SINK odd FROM q USING csv OPTIONS (path '{tmp_path}/new', sep ';');"
    found = subprocess.run(
        [sys.executable, "-P", "-m", "penstock", "explain", "-e", text],
        capture_output=True,
        text=True,
        check=False,
    )
    warnings = [one for one in found.stderr.splitlines() if one.startswith("warning")]
    assert (found.returncode, warnings) == (
        0,
        [
            f"warning: there are files in {tmp_path} already",
            'warning: sink "odd": csv has no option "sep"',
        ],
    )


def test_a_home_says_who_has_it(tmp_path: Path) -> None:
    (tmp_path / "rides.csv").write_text("at,km,city\n")
    home = Home(tmp_path / "home")
    home.open()
    found = penstock("-e", declared(tmp_path / "rides.csv") + QUERY, "--home", home.path)
    home.close()
    assert found.returncode == 2
    assert f"uses the home {home.path}: process {os.getpid()}, since 20" in found.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_line(tmp_path: Path, number: signal.Signals) -> None:
    # More than can be read before a signal comes.
    path = tmp_path / "rides.csv"
    path.write_text("km,city,more,at\n" + "\n".join(rows(1) * 2000) + "\n")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "penstock", "run", "-e", declared(path) + QUERY],
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("running in this process")
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (128 + number, "stopped.\n")


def test_sinks_that_need_no_spark_are_written_in_this_process(tmp_path: Path) -> None:
    path = tmp_path / "rides.csv"
    path.write_text("at,km,city\n2026-01-01,1,a\n2026-01-02,2,b\n2026-01-03,3,a\n")
    declaration = declared(path) + f"CREATE QUERY q AS {QUERY};"
    sinks = "".join(
        f"CREATE SINK {kind} FROM q USING {kind} OPTIONS (path '{tmp_path}/{kind}');"
        for kind in ("csv", "json", "parquet")
    )
    shown = penstock("-e", declaration).stdout
    console = "CREATE SINK screen FROM q USING console"
    found = penstock("-e", declaration + sinks + console, "--engine", "inline")
    assert (found.returncode, found.stderr) == (0, "running in this process, as --engine says\n")
    assert found.stdout == shown.replace("q:", "screen:", 1)
    wanted = pq.read_table(tmp_path / "parquet").to_pylist()
    assert len(wanted) == len(
        [line for line in shown.splitlines() if "  + " in line or "  - " in line]
    )
    for kind, read in (("csv", pcsv.read_csv), ("json", pj.read_json)):
        files = sorted((tmp_path / kind).iterdir())
        found_rows = [row for one in files for row in read(str(one)).to_pylist()]
        assert [(row["city"], row["n"], row["_sign"]) for row in found_rows] == [
            (row["city"], row["n"], row["_sign"]) for row in wanted
        ]
    again = penstock("-e", declaration + sinks, "--engine", "inline")
    assert (again.returncode, again.stdout) == (2, "")
    assert f"there are files in {tmp_path}/csv already" in again.stderr


def test_a_dropped_sink_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "rides.csv"
    path.write_text("at,km,city\n2026-01-01,1,a\n")
    out = tmp_path / "out"
    text = f"CREATE SINK s FROM q USING csv OPTIONS (path '{out}'); DROP SINK s;"
    found = penstock("-e", f"{declared(path)}CREATE QUERY q AS {QUERY}; {text}")
    assert (found.returncode, out.exists()) == (0, False)
    assert found.stdout.startswith("q: ")
