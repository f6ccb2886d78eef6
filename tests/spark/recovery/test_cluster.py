"""A Spark master and workers on loopback: where lanes live, and as many tasks as cores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from penstock.pipeline.reading_choice import SETTING
from spark.recovery.on_cluster import EXECUTOR, VARIABLES, keepers, running, signal_all, start_on
from spark.recovery.processes import newest_record
from spark.recovery.scenario import check, make_scenario
from tiers import only_long

if TYPE_CHECKING:
    from pathlib import Path


def test_each_task_has_a_home_and_an_executor_may_be_killed(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 2, batches=40, rows=8, by_spark="")
    with running(2) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=2)
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
        assert driver.wait_for_task()
        (executor,) = cluster.processes_on("1", EXECUTOR)
        signal_all([executor], signal.SIGKILL)
        assert driver.wait_for_record(newest_record(driver.home) + 2)
        driver.finish()
    check(driver.home, scenario)


@only_long
def test_a_worker_is_killed(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 8, batches=10)
    with running(2) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=2)
        assert driver.wait_for_record(4)
        assert driver.wait_for_task()
        cluster.kill(cluster.processes[-1])
        driver.finish()
        assert "Removing executor" in cluster.log or "Removing worker" in cluster.log
    check(driver.home, scenario)


@only_long
@pytest.mark.parametrize("reading", ["auto", "job", "divided"])
def test_lanes_stay_with_their_executor_and_move_when_it_is_gone(
    tmp_path: Path, reading: str
) -> None:
    """Each of four tasks has one process for its lanes, on one of four workers."""
    scenario = make_scenario(tmp_path / "in", 8, batches=80, rows=8, by_spark="")
    settings = {SETTING: reading}
    with running(4) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=4, settings=settings)
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1, 1, 1])
        cluster.kill(cluster.processes[-1])
        assert driver.wait_for(lambda: keepers(cluster) == [2, 1, 1, 0])
        driver.finish()
    check(driver.home, scenario)


PROGRAM = """
import sys, penstock
from penstock.spark.spark_engine import spark_engine
with penstock.connect(sys.argv[1], home=sys.argv[2]) as db:
    db.execute("CREATE STREAM s (ts BIGINT, k INT, WATERMARK FOR ts AS ts)")
    query = db.query("SELECT k, COUNT(*) AS n FROM s [RANGE 10] GROUP BY k")
    db.insert("s", [(at, at % 50) for at in range(500)])
    db.wait_idle()
    (group,) = spark_engine(db).running.pipeline.ledger.plan.plan.groups
    print("lanes", group.lanes)
"""


@only_long
def test_who_connects_at_once_gets_lanes_for_all_executors_that_come(tmp_path: Path) -> None:
    """Spark itself would tell of two cores until they have come."""
    with running(1, cores=4) as cluster:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, cluster.url, str(tmp_path / "home")],
            env={**os.environ, **VARIABLES},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.stdout.splitlines()[-1:] == ["lanes 8"], done.stderr


@only_long
def test_tasks_that_wait_get_executors_by_dynamic_allocation(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 5, batches=40, rows=8, by_spark="")
    dynamic = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.maxExecutors": "2",
        "spark.executor.cores": "1",
        "spark.scheduler.minRegisteredResourcesRatio": "0.0",
    }
    with running(2) as cluster:
        driver = start_on(
            cluster, tmp_path / "home", scenario, tasks=1, most_tasks=4, settings=dynamic
        )
        assert driver.wait_for(lambda: keepers(cluster) == [2, 2])
        driver.finish()
    check(driver.home, scenario)


@only_long
def test_tasks_follow_the_executors_that_join_and_leave(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 4, batches=400, rows=4, by_spark="")
    with running(1) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=1, most_tasks=4)
        assert driver.wait_for(lambda: keepers(cluster) == [1])
        cluster.add_workers()
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
        cluster.kill(cluster.processes[-1])
        # First both tasks live on the one that is left; then there is one task.
        assert driver.wait_for(lambda: keepers(cluster) == [2, 0])
        assert driver.wait_for(lambda: keepers(cluster) == [1, 0])
        assert newest_record(driver.home) < scenario.batches - 2, "it ended too early"
        driver.finish()
    check(driver.home, scenario)
