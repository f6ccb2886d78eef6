"""Tasks write sinks; the driver, lane hosts and workers are killed while they do.

Between the writing of a part and its publication, at any moment, and in the middle of a task, which
then writes its part once more. What others see is what was committed, each commit once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow.parquet as pq

from penstock.pipeline.bound import bound
from penstock.pipeline.plans import read_plan
from penstock.results.answer_kind import is_relation
from penstock.results.result_tables import results_table
from penstock.results.settling import fold_for
from penstock.store.layout import Home
from penstock.store.result_reader import ResultsReader, start_of
from spark.recovery.processes import (
    HERE,
    MARK,
    Driver,
    kill_at_random,
    newest_record,
    python_path,
)
from spark.recovery.scenario import QUERIES, check, make_scenario
from tiers import amount

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from spark.recovery.scenario import Scenario

KILLS = int(os.environ.get("PENSTOCK_KILLS", amount("kills while tasks write sinks")))
WORKER, KEEPER = "pyspark.worker", "penstock.lane_host.lane_server"
Rows = Counter[tuple[object, ...]]


def start(folder: Path, scenario: Scenario) -> Driver:
    """Start a driver whose sinks tasks write, a folder for each query."""
    creating = [f"CREATE QUERY {name} AS {text}" for name, text in QUERIES.items()]
    sinks = [
        f"CREATE SINK to_{name} FROM {name} USING parquet OPTIONS (path '{folder / name}')"
        for name in QUERIES
    ]
    values = {
        "home": str(folder / "home"),
        "statements": ";\n".join((*scenario.statements(), *creating, *sinks)),
        "spark": json.dumps({"spark.penstock.sinks": "tasks"}),
    }
    path = folder / f"{uuid4().hex[:6]}.json"
    path.write_text(json.dumps(values), "utf-8")
    mark, errors = uuid4().hex, path.with_suffix(".stderr")
    with errors.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, HERE / "sink_program.py", path],
            env={**os.environ, "PYTHONPATH": python_path(), MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=file,
            start_new_session=True,
        )
    return Driver(process, Home(folder / "home"), mark, errors)


def test_what_is_seen_of_sinks_is_each_commit_once(tmp_path: Path) -> None:
    draw = random.Random(int(os.environ.get("PENSTOCK_SEED", "6")))
    scenario = make_scenario(tmp_path / "in", 6, batches=14 + 6 * KILLS)
    kills: list[str] = []
    while len(kills) < KILLS:
        driver = start(tmp_path, scenario)
        how = kill_a_part(driver, tmp_path, draw) or kill_at_random(driver, draw)
        assert how, f"done after {len(kills)} kills: {driver.output()}"
        kills.append(how)
        print(len(kills), how, flush=True)
        check_no_more(Home(tmp_path / "home"), tmp_path)
    last = start(tmp_path, scenario)
    # A lane host that has written its part, and a worker that has not heard of it.
    for what in (KEEPER, WORKER):
        if wait_for_draft(last, tmp_path):
            for victim in last.processes(what)[-1:]:
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
            last.wait_for_record(newest_record(last.home) + 1)
    last.finish()
    check(last.home, scenario)
    for query, commits in committed(last.home).items():
        assert seen(tmp_path / query) == commits, query
        assert any(len(path.name.split(".")) == 3 for path in (tmp_path / query).glob("[!.]*"))
    last.wait_until_all_ended()


def kill_a_part(driver: Driver, folder: Path, draw: random.Random) -> str | None:
    """Kill a driver when a task has written a part that nobody sees yet; at times not."""
    if draw.random() < 1 / 3 or not wait_for_draft(driver, folder):
        return None
    time.sleep(draw.expovariate(200))
    if driver.process.poll() is not None:
        return None
    driver.kill(only_python=False)
    return "a part was written"


def wait_for_draft(driver: Driver, folder: Path) -> bool:
    known = set(drafts(folder))
    return driver.wait_for(lambda: bool(set(drafts(folder)) - known))


def drafts(folder: Path) -> list[Path]:
    return [path for query in QUERIES for path in (folder / query).glob(".*")]


def committed(home: Home) -> dict[str, dict[int, Rows]]:
    """What each commit says of each query, read by one process."""
    last = home.chain.last()
    assert last is not None
    plan = bound(read_plan(home, last.plan))
    found: dict[str, dict[int, Rows]] = {}
    for group in plan.groups.values():
        for query, logical in group.plans.items():
            node = group.result(query)
            fold = partial(
                fold_for, logical, node.arrow_types, node.span, group.choices.queue_partitions
            )
            start = start_of(home, query, 0, has_content=is_relation(logical))
            reader = ResultsReader(home, query, start, fold)
            found[query] = {
                one.number: rows(results_table(logical, one.block))
                for one in reader.read(last.number)
                if one.block is not None
            }
    return found


def seen(folder: Path) -> dict[int, Rows]:
    """What others see of each commit."""
    found: dict[int, Rows] = {}
    for path in folder.glob("[!.]*"):
        number = int(path.name.split(".")[0])
        found.setdefault(number, Counter()).update(rows(pq.read_table(path)))
    return found


def check_no_more(home: Home, folder: Path) -> None:
    """Nothing is seen that was not committed, and nothing twice."""
    if newest_record(home) < 1:
        return
    for query, commits in committed(home).items():
        for number, one in seen(folder / query).items():
            assert not one - commits[number], (query, number)


def rows(table: pa.Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.to_pylist())
