"""Lanes with a budget too short for their work are killed, and the driver too; nothing is lost.

What waits in queues, and the steps that were taken, are made again from images and logs.
"""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from penstock.scheduling.scheduler_list import SCHEDULERS
from spark.recovery.processes import kill_at_random, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from penstock.store.layout import Home
    from spark.recovery.scenario import Scenario

KEEPER = "penstock.lane_host.lane_server"
NAMES = [
    pytest.param(one.name, marks=() if one.name == "chain" else only_long) for one in SCHEDULERS
]


@pytest.mark.parametrize("scheduler", NAMES)
def test_work_that_waits_survives(tmp_path: Path, scheduler: str) -> None:
    scenario = make_scenario(tmp_path / "in", 7, batches=24)
    # A latency that flushes, a turn of some steps, and a slope between those of charts.
    settings = (
        *(f"SET scheduler = {scheduler}", "SET lane_budget = '1 ms'"),
        *("SET latency = '1 ms'", "SET quantum = '0.5 ms'", "SET threshold = '1000 / s'"),
    )
    home = with_kills(tmp_path / "home", scenario, settings, list(QUERIES), scheduler)
    check(home, scenario)


@pytest.mark.parametrize("kind", ["random", pytest.param("semantic", marks=only_long)])
def test_lanes_that_are_made_again_shed_the_same_rows(tmp_path: Path, kind: str) -> None:
    # An order of rows at one instant would depend on which of equal rows were shed.
    queries = [name for name in QUERIES if name != "last"]
    scenario = replace(make_scenario(tmp_path / "in", 8, batches=24), utility=True)
    settings = (
        *("SET lane_budget = '0.01 ms'", f"SET shedding = {kind}"),
        *("SET shedding_bound = '0.01 kB'", "SET keep_shed = true"),
    )
    home = with_kills(tmp_path / "home", scenario, settings, queries, kind)
    check(home, scenario, queries, sheds=True)


def with_kills(
    folder: Path, scenario: Scenario, settings: Sequence[str], queries: Sequence[str], seed: str
) -> Home:
    """Run queries to the end, with lane hosts and then the driver killed; the home."""
    draw = random.Random(seed)
    plan = make_plan((*settings, *scenario.statements()), queries, lanes=2)
    driver = start_driver(folder, plan)
    assert driver.wait_for_record(3)
    assert driver.wait_for_task()
    for process in driver.processes(KEEPER):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert kill_at_random(driver, draw)
    last = start_driver(folder, plan)
    last.finish()
    assert any(record.behind for record in last.home.chain.since(0))
    return last.home
