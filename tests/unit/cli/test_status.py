"""`penstock status`: what it prints for people and programs, and what it loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from docs.pages import ROOT, fences, settle
from penstock.cli.status import page, status
from penstock.observe.facts import DiskUse, SourceFacts
from penstock.observe.observation import Observer
from penstock.observe.status import read_status, write_status
from store.driving import Driver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from typer.testing import Result

    from penstock.observe.facts import Facts

STATEMENTS = (
    "CREATE STREAM cars (lane INT, speed DOUBLE, passed TIMESTAMP, "
    "WATERMARK FOR passed AS passed - INTERVAL 5 SECONDS)",
    "CREATE QUERY congested AS SELECT lane, AVG(speed) AS average FROM cars [RANGE 15 MINUTES] "
    "GROUP BY lane HAVING AVG(speed) < 15",
    "CREATE QUERY traffic AS select count(*) as n from cars [range 1 minute]",
)
COMMAND = """
import sys, typer
from penstock.cli.status import status
app = typer.Typer(pretty_exceptions_enable=False)
app.command()(status)
try:
    app()
finally:
    heavy = {"pyspark", "numba", "penstock.operators.join.join"} & set(sys.modules)
    print("loaded", sorted(heavy), file=sys.stderr)
"""
NOON = 1_714_564_800
"""Of the first of May 2024."""


def call(*arguments: str | Path) -> Result:
    command = typer.Typer()
    command.command()(status)
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[Driver]:
    with Driver(tmp_path / "highway", STATEMENTS, ["congested", "traffic"], lanes=2) as made:
        for number, start in enumerate((0, 60, 70)):
            at = [NOON + start + second for second in range(20)]
            made.batch(
                {
                    "cars": [
                        {"lane": n % 5, "speed": 10.0 + n, "passed": one * 1_000_000}
                        for n, one in enumerate(at)
                    ]
                },
                {"cars": {"logOffset": number}},
            )
        made.write_status(
            seconds={
                "job": 0.182,
                "commit": 0.004,
                "restore": 0,
                "operators": 0.121,
                "write": 0.02,
            },
            errors=[(time.time() - 90.0, "no space left on /data")],
        )
        yield made


def test_people_get_plain_tables_where_there_is_no_terminal(driver: Driver) -> None:
    done = call("--home", driver.home.path)
    assert done.exit_code == 0
    assert "\x1b" not in done.stdout
    assert f"state    running, process {os.getpid()}\n" in done.stdout
    # Nothing is cut off, and square brackets are no marks.
    assert "select count(*) as n from cars [range 1 minute]\n" in done.stdout
    assert (
        "cars    timestamp    60     4      0     0  0.629/s  2024-05-01 12:01:24  " in done.stdout
    )
    assert "no space left on /data" in done.stdout
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())


def test_a_terminal_gets_what_fits(driver: Driver) -> None:
    console = Console(width=80, force_terminal=True, color_system=None)
    text = page(Observer(driver.home).look(), console)
    assert max(map(len, text.splitlines())) <= 80
    assert "congested" in text


def test_files_are_counted_where_tasks_read_them(driver: Driver) -> None:
    sources = (SourceFacts("a", None, 1, 0), SourceFacts("b", None, 2_000))
    facts = replace(Observer(driver.home).look(), sources=sources)
    text = page(facts, Console(width=10_000, highlight=False, markup=False))
    assert "stream  read up to\na       1 file, 0 waiting\nb       2,000 files\n" in text


def test_sinks_and_paused_streams_are_shown(driver: Driver) -> None:
    known = read_status(driver.home)
    assert known is not None
    known.sinks = {
        "to_disk": {
            "query": "traffic", "format": "parquet", "record": 3, "commits": 2, "results": 1_500,
            "way": "tasks", "error": None,
        },
        "to_kafka": {
            "query": "traffic", "format": "kafka", "record": 5, "commits": 0, "results": 0,
            "way": None, "error": "nobody listens",
        },
    }  # fmt: skip
    known.waiting_for, known.paused = ["to_disk"], {"cars": (9_000_000, "trucks")}
    write_status(driver.home, known)
    facts = Observer(driver.home).look()
    text = page(replace(facts, process=7), Console(width=10_000, highlight=False, markup=False))
    assert "waits    for sink to_disk: no rows are taken in until it is nearer\n" in text
    assert "paused   cars: 9,000,000 of its rows wait in lanes until trucks has come as far" in text
    lines = [line.split() for line in text.splitlines() if line.startswith("to_")]
    assert lines == [
        ["to_disk", "traffic", "parquet", "3", "2", "1,500", "tasks", "waited", "for"],
        ["to_kafka", "traffic", "kafka", "5", "0", "0", "-", "fails:", "nobody", "listens"],
    ]
    metrics = call("--home", driver.home.path, "--format", "prometheus").stdout
    assert 'penstock_stream_paused_rows{stream="cars"} 9000000\n' in metrics
    told = [line for line in metrics.splitlines() if line.startswith("penstock_sink_")]
    assert [line.split()[-1] for line in told if "to_disk" in line] == ["3", "2", "1500", "1", "0"]
    assert [line.split()[-1] for line in told if "to_kafka" in line] == ["5", "0", "0", "0", "1"]


def test_programs_get_json(driver: Driver) -> None:
    found = json.loads(call("--home", driver.home.path, "--format", "json").stdout)
    assert found["record"] == driver.ledger.record.number
    assert found["streams"][0]["rows"] == 60
    assert [one["name"] for one in found["queries"]] == ["congested", "traffic"]
    assert found["sources"] == [
        {
            "stream": "cars",
            "offset": {"logOffset": 2},
            "files_read": None,
            "files_waiting": None,
        }
    ]
    assert found["commit_age"] >= 0
    assert found["streams"][0]["values"]["lane"] == 5
    aggregate = next(one for one in found["operators"] if one["label"].startswith("Aggregate"))
    assert aggregate["rate"] > 0
    assert aggregate["selectivity"] == aggregate["rows_out"] / aggregate["rows_in"]
    assert aggregate["withdrawn_share"] == aggregate["withdrawn"] / aggregate["rows_out"]


def test_conditions_are_shown_with_their_selectivities(driver: Driver) -> None:
    found = json.loads(call("--home", driver.home.path, "--format", "json").stdout)
    filters = [one for one in found["operators"] if one["label"].startswith("Filter")]
    (having,) = found["conditions"]
    assert having["condition"] == filters[0]["predicate"]
    assert having["condition"].startswith("((SELECT AVG(cars.speed) FROM cars [RANGE 15 MINUTES]")
    assert having["held"] == sum(one["rows_out"] for one in filters)
    assert having["selectivity"] == having["held"] / having["asked"]
    metrics = call("--home", driver.home.path, "--format", "prometheus").stdout
    assert f'of="rows"}} {having["asked"]}\n' in metrics


def test_joins_are_shown_with_what_they_use(tmp_path: Path) -> None:
    streams = [f"CREATE STREAM {name} (k INT, at BIGINT, WATERMARK FOR at AS at)" for name in "abc"]
    windows = [f"{name} [RANGE 50] {name}" for name in "abc"]
    three = f"{windows[0]} JOIN {windows[1]} ON a.k = b.k JOIN {windows[2]} ON b.k = c.k"
    without = "NOT EXISTS (SELECT * FROM b [RANGE 50] b WHERE b.k = a.k)"
    queries = [
        "SET joins = multiway",
        f"CREATE QUERY triples AS SELECT a.at FROM {three}",
        f"CREATE QUERY alone AS SELECT q.at FROM (SELECT a.k, a.at FROM {windows[0]}"
        f" WHERE {without}) AS q JOIN {windows[2]} ON q.k = c.k",
    ]
    with Driver(tmp_path, [*streams, *queries], ["triples", "alone"], lanes=2) as driver:
        driver.batch(
            {
                name: [{"k": at % 7 + first, "at": at} for at in range(200)]
                for name, first in (("a", 0), ("b", 3), ("c", 0))
            }
        )
        driver.write_status()
        text = call("--home", tmp_path).stdout
        found = json.loads(call("--home", tmp_path, "--format", "json").stdout)
        metrics = call("--home", tmp_path, "--format", "prometheus").stdout
    joins = text.partition("\nIn use\n")[2].partition("\n\n")[0]
    assert "a.k = b.k = c.k  fifo + fifo + fifo  a: b c; b: a c; c: a b        0\n" in joins
    assert "AntiJoin" in joins
    assert "Join a.k = c.k             hashed + fifo       -" in joins
    probed = next(one for one in found["operators"] if one["probes"])
    assert [one["target"] for one in probed["probes"] if one["origin"] == "a"] == ["b", "c"]
    assert probed["probes"][0]["probes"] > 0
    assert probed["reordered"] == 0
    assert "penstock_operator_reordered_total{" in metrics
    (negated,) = (one for one in found["conditions"] if one["condition"].startswith("NOT EXISTS"))
    assert negated["selectivity"] == pytest.approx(3 / 7, rel=0.1)
    (equal,) = (one for one in found["conditions"] if one["of_pairs"])
    assert equal["condition"] == "(a [RANGE 50].k = c [RANGE 50].k)"
    assert equal["selectivity"] == pytest.approx(1 / 7, rel=0.1)
    assert f'condition="{equal["condition"]}",of="pairs"}}' in metrics


def test_prometheus_gets_its_format(driver: Driver) -> None:
    done = call("--home", driver.home.path, "--format", "prometheus")
    assert 'penstock_stream_rows_total{stream="cars"} 60\n' in done.stdout


def test_a_stopped_pipeline_has_a_status_too(driver: Driver) -> None:
    driver.flush()
    driver.close()
    done = call("--home", driver.home.path)
    assert "state    stopped\n" in done.stdout
    assert "(flush)" in done.stdout


def test_a_missing_home_is_a_sentence(tmp_path: Path) -> None:
    done = call("--home", tmp_path / "nowhere")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == (
        f"there is no folder {tmp_path}/nowhere\n"
        "  Name the home that the pipeline was started with.\n"
    )
    assert call("--home", tmp_path).exit_code == 1
    assert "is not the home of a pipeline" in call("--home", tmp_path).stderr
    assert not list(tmp_path.iterdir())


def test_prometheus_is_not_for_watching(driver: Driver) -> None:
    done = call("--home", driver.home.path, "--format", "prometheus", "--watch")
    assert done.exit_code == 2
    assert "leave out --watch" in done.stderr


def test_watching_goes_on_until_interrupted_and_loads_no_operators(driver: Driver) -> None:
    command = [sys.executable, "-P", "-c", COMMAND, "--home", str(driver.home.path)]
    with subprocess.Popen(
        [*command, "--format", "json", "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        driver.batch({"cars": [{"lane": 1, "speed": 9.0, "passed": (NOON + 99) * 1_000_000}]})
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert second["record"] == first["record"] + 1
    assert process.returncode == 130
    assert errors == "loaded []\n"


def test_the_page_shows_what_is_printed(driver: Driver) -> None:
    """The example in docs/users/operations.md; what differs from run to run is given."""
    facts = Observer(driver.home).look()
    shown = page(_settled(facts), Console(width=10_000, highlight=False, markup=False))
    operations = ROOT / "docs" / "users" / "operations.md"
    (fence,) = [
        one
        for one in fences(operations)
        if one.section == "Watching a pipeline" and one.lines[0].startswith("home ")
    ]
    settle(operations, {fence.place: fence.lines}, {fence.place: shown.splitlines()})


def _settled(facts: Facts) -> Facts:
    return replace(
        facts,
        home="/data/highway",
        process=4711,
        committed_at=facts.seen_at - 1.5,
        errors=tuple((facts.seen_at - 90.0, text) for _, text in facts.errors),
        operators=tuple(
            replace(one, seconds=0.04 + one.number / 50, state_bytes=230 * one.state_rows)
            for one in facts.operators
        ),
        retained=tuple(replace(one, unsealed_bytes=9_900) for one in facts.retained),
        disk={kind: DiskUse(one.files, 2_300 * one.files) for kind, one in facts.disk.items()},
    )
