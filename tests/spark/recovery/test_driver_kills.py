"""The driver is killed at random moments, and started again until it is done.

With files of which tasks read some, and Spark some; in the long tier also with files that tasks
read alone, and Spark alone. PENSTOCK_KILLS says how often; PENSTOCK_SEED draws other moments.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from spark.recovery.processes import kill_at_random, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import amount, only_long

if TYPE_CHECKING:
    from pathlib import Path

KILLS = int(os.environ.get("PENSTOCK_KILLS", amount("kills of the driver for each way of reading")))
FIRST = 4
"""So many files of each stream are there when the first driver starts."""
SEED = int(os.environ.get("PENSTOCK_SEED", "4"))


@pytest.mark.parametrize(
    "by_spark",
    ["a", pytest.param("", marks=only_long), pytest.param("ab", marks=only_long)],
    ids=["by both", "by tasks", "by Spark"],
)
def test_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path, by_spark: str) -> None:
    draw = random.Random(SEED)
    # So that it is not done before the last kill, which comes some two batches after the last.
    batches = FIRST + 10 + 4 * KILLS
    scenario = make_scenario(tmp_path / "in", SEED, batches=batches, by_spark=by_spark)
    # Rows of files that come when others have been read are late, whoever reads them.
    scenario = scenario.hold_back(FIRST)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    start_driver(tmp_path / "home", plan, flush=False).finish()
    scenario.bring()
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
