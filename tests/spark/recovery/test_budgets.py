"""Lanes with a budget too short for their work are killed, and the driver too; nothing is lost.

What waits in queues, and the steps that were taken, are made again from images and logs.
"""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from penstock.scheduling.scheduler_list import SCHEDULERS
from spark.recovery.processes import kill_at_random, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import only_long

if TYPE_CHECKING:
    from pathlib import Path

KEEPER = "penstock.lane_host.lane_server"
NAMES = [
    pytest.param(one.name, marks=() if one.name == "chain" else only_long) for one in SCHEDULERS
]


@pytest.mark.parametrize("scheduler", NAMES)
def test_work_that_waits_survives(tmp_path: Path, scheduler: str) -> None:
    draw = random.Random(scheduler)
    scenario = make_scenario(tmp_path / "in", 7, batches=24)
    settings = (f"SET scheduler = {scheduler}", "SET latency = '1 s'", "SET lane_budget = '1 ms'")
    plan = make_plan((*settings, *scenario.statements()), list(QUERIES), lanes=2)
    driver = start_driver(tmp_path / "home", plan)
    assert driver.wait_for_record(3)
    assert driver.wait_for_task()
    for process in driver.processes(KEEPER):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    assert kill_at_random(driver, draw)
    last = start_driver(tmp_path / "home", plan)
    last.finish()
    assert any(record.behind for record in last.home.chain.since(0))
    check(last.home, scenario)
