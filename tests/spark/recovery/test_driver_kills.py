"""The driver is killed at random moments, and started again until it is done.

Once with files that tasks read, once with files that Spark reads, once with both. PENSTOCK_KILLS
says how often in all (./test --long: 30 times). PENSTOCK_SEED draws other moments.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from spark.recovery.processes import kill_at_random, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import amount

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("PENSTOCK_KILLS", amount(usual=3, long=30)))
SEED = int(os.environ.get("PENSTOCK_SEED", "4"))


@pytest.mark.parametrize("by_spark", ["", "a", "ab"])
def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path, by_spark: str) -> None:
    draw = random.Random(SEED)
    # So that it is not done before the last kill, which comes some two batches after the last.
    batches = 10 + 2 * KILLS
    scenario = make_scenario(tmp_path / "in", SEED, batches=batches, by_spark=by_spark)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    kills: list[str] = []
    while len(kills) < -(-KILLS // 3):
        driver = start_driver(tmp_path / "home", plan)
        how = kill_at_random(driver, draw)
        assert how, f"done after {len(kills)} kills: {driver.output()}"
        kills.append(how)
        print(len(kills), how, flush=True)
    last = start_driver(tmp_path / "home", plan)
    last.finish()
    check(last.home, scenario)
    last.wait_until_all_ended()
