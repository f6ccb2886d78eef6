"""A Spark master and workers on loopback: where lanes live, and one worker killed in mid-run."""

from __future__ import annotations

import socket
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.pipeline.reading_choice import SETTING
from penstock_bench.standalone import Standalone, standalone
from spark.recovery.processes import python_path, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator

VARIABLES = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


ALL_EXECUTORS = {
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
}
"""The first job waits until every worker has started its executor."""


@contextmanager
def running(workers: int) -> Iterator[Standalone]:
    with (
        # Paths of sockets are short.
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        standalone(Path(folder), workers, {"PYTHONPATH": python_path()}) as cluster,
    ):
        yield cluster


def keepers(cluster: Standalone) -> list[int]:
    """For each worker, how many processes keep lanes there; most first."""
    sockets = (one.glob("penstock-*/*[0-9]") for one in cluster.folder.glob("[0-9]"))
    return sorted((sum(map(listens, found)) for found in sockets), reverse=True)


def listens(path: Path) -> bool:
    """Somebody listens on a socket; one that was killed leaves its file behind."""
    with socket.socket(socket.AF_UNIX) as asking, suppress(OSError):
        asking.connect(str(path))
        return True
    return False


@only_long
def test_a_worker_is_killed(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 8, batches=10)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    with running(2) as cluster:
        driver = start_driver(tmp_path / "home", plan, master=cluster.url, variables=VARIABLES)
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
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=4)
    with running(4) as cluster:
        driver = start_driver(
            tmp_path / "home", plan, tasks=4, master=cluster.url, variables=VARIABLES,
            settings={SETTING: reading, **ALL_EXECUTORS},
        )  # fmt: skip
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1, 1, 1])
        cluster.kill(cluster.processes[-1])
        assert driver.wait_for(lambda: keepers(cluster) == [2, 1, 1, 0])
        driver.finish()
    check(driver.home, scenario)


@only_long
def test_tasks_become_more_when_executors_join(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 4, batches=300, rows=4, by_spark="")
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=4)
    with running(1) as cluster:
        driver = start_driver(
            tmp_path / "home", plan, tasks=1, most_tasks=4, master=cluster.url,
            variables=VARIABLES,
        )  # fmt: skip
        assert driver.wait_for(lambda: keepers(cluster) == [1])
        cluster.add_worker()
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
        driver.finish()
    check(driver.home, scenario)
