"""Python workers, what forks them, and processes that keep lanes are killed; Spark tries again."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.observe.status import read_status
from spark.recovery.processes import newest_record, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import amount, only_long

if TYPE_CHECKING:
    from spark.recovery.processes import Driver

WORKER, KEEPER = "pyspark.worker", "penstock.lane_host.lane_server"
BATCHES = int(os.environ.get("PENSTOCK_KILLS", amount("kills of workers and lane hosts"))) * 2 + 6


def test_killed_processes_are_replaced(tmp_path: Path) -> None:
    draw = random.Random(1)
    scenario = make_scenario(tmp_path / "in", 1, batches=BATCHES)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    driver = start_driver(tmp_path / "home", plan)
    killed: list[str] = []
    # Every other batch, so that no task is tried more often than Spark is ready to.
    for record in range(2, BATCHES, 2):
        if not (driver.wait_for_record(record) and driver.wait_for_task()):
            break
        time.sleep(draw.uniform(0, 0.1))
        what = draw.choice([WORKER, KEEPER])
        victims = _victims(driver, what)
        if victims:
            _kill(draw.choice(victims))
            killed.append(what)
    driver.finish()
    assert {WORKER, KEEPER} <= set(killed)
    print(killed)
    check(driver.home, scenario)


def test_stopped_processes_are_replaced_and_status_says_so(tmp_path: Path) -> None:
    """They are not dead, and would be waited for as long as they are stopped."""
    scenario = make_scenario(tmp_path / "in", 3, batches=8)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    driver = start_driver(tmp_path / "home", plan)
    for record, what in ((2, KEEPER), (4, WORKER)):
        assert driver.wait_for_record(record)
        assert driver.wait_for_task()
        os.kill(_victims(driver, what)[0], signal.SIGSTOP)
        assert driver.wait_for_record(newest_record(driver.home) + 1)
    driver.finish()
    check(driver.home, scenario)
    status = read_status(driver.home)
    assert status is not None
    first, *_, last = [text for _, text in status.errors]
    keeper = r"the process that keeps the lanes of task [01] ended, and was replaced"
    assert re.fullmatch(keeper, first)
    assert re.fullmatch(r"task [01] of record \d+ was tried again by Spark", last)


def test_the_process_that_forks_workers_is_replaced(tmp_path: Path) -> None:
    """With it go its workers, and the processes that keep lanes; none is left behind."""
    scenario = make_scenario(tmp_path / "in", 5, batches=8)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    driver = start_driver(tmp_path / "home", plan)
    assert driver.wait_for_record(3)
    assert driver.wait_for_task()
    killed = _daemon(driver)
    _kill(killed)
    assert driver.wait_for_record(newest_record(driver.home) + 1)
    assert _daemon(driver) != killed
    driver.finish()
    check(driver.home, scenario)
    driver.wait_until_all_ended()


@only_long
def test_processes_that_outlive_a_killed_driver_do_no_harm(tmp_path: Path) -> None:
    """They wake up while another driver works on the home, and finish what they were about."""
    scenario = make_scenario(tmp_path / "in", 9, batches=10)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    first = start_driver(tmp_path / "home", plan)
    assert first.wait_for_record(4)
    assert first.wait_for_task()
    stale = first.processes(KEEPER)
    assert len(stale) == 2
    for process in stale:
        os.kill(process, signal.SIGSTOP)
    first.kill()
    second = start_driver(tmp_path / "home", plan)
    try:
        assert second.wait_for_record(newest_record(second.home) + 2)
        assert second.wait_for_task()
        assert set(stale) <= set(first.processes(KEEPER))
    finally:
        for process in stale:
            os.kill(process, signal.SIGCONT)
    second.finish()
    check(second.home, scenario)
    first.wait_until_all_ended()


def _daemon(driver: Driver) -> int:
    """The one of Spark's Python processes that forks the others: Java has started it."""
    java = set(driver.processes("java"))
    (found,) = [one for one in driver.processes(WORKER) if _parent(one) in java]
    return found


def _victims(driver: Driver, what: str) -> list[int]:
    """The processes of a kind; of Spark's Python processes not the one that forks the others."""
    found = driver.processes(what)
    parents = {_parent(one) for one in found}
    return [one for one in found if one not in parents]


def _parent(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/stat").read_text("utf-8")
    except OSError:
        return 0
    return int(status.rpartition(")")[2].split()[1])


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
