"""Work of lanes as people see it: in status, Prometheus and EXPLAIN; settings without effect."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from rich.console import Console

import penstock
from docs.pages import ROOT
from penstock.catalog.setting_notes import notes_on_settings
from penstock.catalog.settings import Settings
from penstock.cli.work_tables import charts, intake, latencies, queues
from penstock.connection.engines.local.local_engine import LocalEngine
from penstock.observe.status import Status
from penstock.observe.work_facts import work_facts
from penstock.observe.work_metrics import work_metrics
from penstock.scheduling.chart_text import time_text
from penstock.scheduling.work_notes import notes_on_work
from penstock.session import Session

if TYPE_CHECKING:
    from penstock.connection.connection import Connection

ALLOWED = {"q": 1e-6}


@pytest.fixture(scope="module")
def db() -> Connection:
    """Lanes with a budget, and a query that allows less than its work takes."""
    made = penstock.connect_inline(lanes=2)
    made.execute(
        "SET lane_budget = '1 ms'; SET scheduler = chain; SET latency = '0.001 ms';"
        "CREATE STREAM s (ts BIGINT, v INT, WATERMARK FOR ts AS ts);"
        "CREATE QUERY q AS SELECT v, COUNT(*) AS n FROM s [RANGE 90] WHERE v > 3 GROUP BY v"
    )
    for ts in range(150):
        made.insert("s", [(ts, i % 9) for i in range(1000)])
    return made


@pytest.fixture(scope="module")
def reports(db: Connection) -> dict[str, dict[str, Any]]:
    assert isinstance(db.engine, LocalEngine)
    (batch,) = db.engine.feeding.batches
    return {f"0.0.{n}": lane.work_report() for n, lane in enumerate(batch.lanes.lanes)}


@pytest.fixture(scope="module")
def status(reports: dict[str, dict[str, Any]]) -> Status:
    return Status(os.getpid(), True, 0.0, 0.0, 3, work=reports, held_back=7, intake=2048, one_in=4)


def test_explain_of_a_query_shows_queues_latencies_and_its_measured_chart(db: Connection) -> None:
    lines = db["q"].explain().splitlines()
    (queued,) = [one for one in lines if one.startswith("Queues by chain: ")]
    words = queued.split()
    now, peak = (int(words[place].replace(",", "")) for place in (3, 9))
    assert peak > 0
    assert peak >= now
    assert any(one.startswith("Latency: median ") and "allowed 1 us" in one for one in lines)
    start = next(n for n, one in enumerate(lines) if one.startswith("Progress of a block from s:"))
    assert lines[start].endswith("as measured in lane 0")
    assert lines[start + 1].startswith("  chain 1, priority ")
    assert lines[-1].endswith("leaves 0 %: Aggregate COUNT(*) BY s.v")
    assert (
        "Progress"
        not in penstock.connect_inline()
        .execute(
            "CREATE STREAM s (ts BIGINT, v INT, WATERMARK FOR ts AS ts); EXPLAIN SELECT v FROM s"
        )
        .__repr__()
    )


def test_what_was_measured_outlives_work_that_is_all_done() -> None:
    db = penstock.connect_inline()
    db.execute(
        "SET lane_budget = '0.001 ms'; CREATE STREAM s (ts BIGINT, v INT, WATERMARK FOR ts AS ts);"
        "CREATE QUERY q AS SELECT v, COUNT(*) AS n FROM s [RANGE 90] GROUP BY v"
    )
    for ts in range(20):
        db.insert("s", [(ts, i) for i in range(500)])
    (before,) = [one for one in db["q"].explain().splitlines() if one.startswith("Queues")]
    db.wait_idle()
    (done,) = [one for one in db["q"].explain().splitlines() if one.startswith("Queues")]
    assert "0 bytes in 0 rows now" in done
    assert int(done.split()[9].replace(",", "")) >= int(before.split()[9].replace(",", "")) > 0
    db.insert("s", [(99, 1)])
    (after,) = [one for one in db["q"].explain().splitlines() if one.startswith("Queues")]
    assert after.split()[9] == done.split()[9]


def test_status_shows_intake_queues_latencies_and_charts(status: Status) -> None:
    facts = work_facts(status, ALLOWED)
    console = Console(width=200, record=True, file=io.StringIO())
    for made in (intake, queues, latencies, charts):
        console.print(made(facts))
    text = console.export_text()
    assert "2,048" in text
    assert "one in 4" in text
    assert "Aggregate COUNT(*) BY s.v" in text
    for word in ("waiting", "at peak", "median", "95 %", "99 %", "allowed", "chain", "priority"):
        assert word in text
    assert facts.latencies[0].median <= facts.latencies[0].p95 <= facts.latencies[0].p99
    for chart in facts.charts:
        slopes = [slope for _, slope in chart.chains]
        assert slopes == sorted(slopes, reverse=True)
        assert [name for names, _ in chart.chains for name in names] == list(chart.operators)


def test_prometheus_has_the_same(status: Status) -> None:
    facts = work_facts(status, ALLOWED)
    lines = [line for metric in work_metrics(facts) for line in metric.lines()]
    assert "penstock_intake_rows 2048" in lines
    assert "penstock_shedding_one_in 4" in lines
    assert "penstock_held_back_batches_total 7" in lines
    for name in ("queue_bytes", "queue_peak_bytes", "latency_seconds", "chain_slope"):
        assert any(line.startswith(f"penstock_{name}{{") for line in lines)


def test_a_budget_or_latency_that_cannot_be_kept_is_told_with_what_could(
    reports: dict[str, dict[str, Any]],
) -> None:
    first, second = notes_on_work(reports, ALLOWED, 1e-6)
    least = min(one["least_step"] for one in reports.values() if one["least_step"])
    assert first.startswith("lane_budget is 1 us, and the shortest step of an operator took")
    assert time_text(least) in first
    assert second.startswith('query "q" allows a latency of 1 us, and the work for one block')
    assert second.endswith("Allow at least that")
    assert notes_on_work(reports, {"q": 9e9}, 1e3) == []


def test_progress_tells_the_same(db: Connection) -> None:
    (note,) = db.progress()["notes"]
    assert note.startswith('query "q" allows a latency of 1 us')
    assert penstock.connect_inline().progress()["notes"] == []


STREAM = "CREATE STREAM s (ts BIGINT, v INT, WATERMARK FOR ts AS ts)"
QUERY = "CREATE QUERY q AS SELECT v FROM s"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("SET shedding = random", "there is no shedding_bound: nothing is shed"),
        ("SET shedding_bound = '1 MB'", "shedding is none: nothing is shed"),
        ("SET shedding = random; SET shedding_bound = '1 MB'", "there is no lane_budget"),
        ("SET queue_limit = '1 MB'", "queue_limit has no effect"),
        (f"{STREAM}; SET shedding = semantic", "no stream says how useful its rows are"),
        (
            "SET lane_budget = '1 s'; SET shedding = random; SET shedding_bound = '1 MB';"
            " SET queue_limit = '2 MB'",
            "Set a queue_limit below the bound",
        ),
        (
            f"{STREAM}; SET lane_budget = '1 s'; SET scheduler = chain_flush; {QUERY}",
            "no query allows a latency",
        ),
    ],
)
def test_settings_without_effect_are_told_with_what_would_have_one(script: str, said: str) -> None:
    session = Session()
    session.execute(script)
    notes = notes_on_settings(session.settings.work, session.catalog)
    assert any(said in one for one in notes)


def test_settings_that_have_their_effect_lead_to_no_notes() -> None:
    session = Session()
    session.execute(
        "SET lane_budget = '1 s'; SET shedding = semantic; SET shedding_bound = '2 MB';"
        " SET queue_limit = '1 MB'; SET scheduler = chain_flush; SET latency = '1 s';"
        f" {STREAM} OPTIONS (utility 'v'); {QUERY}"
    )
    assert notes_on_settings(session.settings.work, session.catalog) == []
    assert notes_on_settings(Settings().work, session.catalog) == []


def test_run_tells_of_settings_without_effect() -> None:
    script = ROOT / "examples" / "highway" / "highway.cql"
    command = [sys.executable, "-P", "-m", "penstock", "run", str(script)]
    command += ["-e", "SET shedding = random"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "note: shedding is random, and there is no shedding_bound" in done.stderr


def test_explain_draws_charts_as_svg_and_says_them_as_json() -> None:
    script = str(ROOT / "examples" / "scheduling" / "speeding.cql")
    command = [sys.executable, "-P", "-m", "penstock", "explain", script, "--charts", "--format"]
    drawn, told = (
        subprocess.run([*command, form], capture_output=True, text=True, check=True).stdout
        for form in ("svg", "json")
    )
    texts = [one.text or "" for one in ElementTree.fromstring(drawn).iter() if one.text]
    assert any("chain 1: priority" in one for one in texts)
    assert json.loads(told)["charts"]
