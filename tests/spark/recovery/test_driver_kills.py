"""The driver is killed at random moments, and started again until it is done.

PENSTOCK_KILLS says how often; a long run has 30 and more. PENSTOCK_SEED draws other moments.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

from spark.recovery.processes import kill_at_random, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("PENSTOCK_KILLS", "3"))
SEED = int(os.environ.get("PENSTOCK_SEED", "4"))


def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path) -> None:
    draw = random.Random(SEED)
    # So that it is not done before the last kill, which comes some two batches after the last.
    scenario = make_scenario(tmp_path / "in", SEED, batches=10 + 2 * KILLS)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    kills: list[str] = []
    while len(kills) < KILLS:
        driver = start_driver(tmp_path / "home", plan)
        how = kill_at_random(driver, draw)
        assert how, f"done after {len(kills)} kills: {driver.output()}"
        kills.append(how)
        print(len(kills), how, flush=True)
    last = start_driver(tmp_path / "home", plan)
    last.finish()
    check(last.home, scenario)
    last.wait_until_all_ended()
