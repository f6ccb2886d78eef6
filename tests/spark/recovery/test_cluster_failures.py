"""What may go wrong on a cluster does, one thing at a time; the answers are the oracle's."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from penstock.observe.status import read_status
from penstock_bench.standalone import MASTER, ClusterNode
from spark.recovery.networks import cables
from spark.recovery.on_cluster import (
    EXECUTOR,
    KEEPER,
    SOON_LOST,
    is_exchanging,
    keepers,
    running,
    signal_all,
    start_on,
)
from spark.recovery.processes import newest_record
from spark.recovery.scenario import check, make_scenario
from tiers import amount, only_long

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HUNG = 30.0
"""Seconds for which processes are stopped, or the network is cut."""


@only_long
def test_executors_are_killed_in_the_middle_of_an_exchange(tmp_path: Path) -> None:
    """Between a fragment that has sent rows and the one that reads them; Spark starts another."""
    kills = amount("kills of executors in an exchange")
    scenario = make_scenario(tmp_path / "in", 21, batches=20 * kills, rows=8, by_spark="")
    with running(2) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=2)
        in_exchange = 0
        for kill in range(kills):
            assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
            assert driver.wait_for_record(newest_record(driver.home) + 2)
            assert driver.wait_for(lambda: is_exchanging(driver.home))
            (executor,) = cluster.processes_on(str(1 + kill % 2), EXECUTOR)
            signal_all([executor], signal.SIGKILL)
            in_exchange += is_exchanging(driver.home)
        driver.finish()
    assert in_exchange, "each kill came too late"
    check(driver.home, scenario)


@only_long
@pytest.mark.parametrize("is_lost", [False, True])
def test_a_worker_is_stopped_for_a_while(tmp_path: Path, is_lost: bool) -> None:
    """With all it has started; it wakes up while others work on, or is given up before."""
    scenario = make_scenario(tmp_path / "in", 22, batches=60, rows=8, by_spark="")
    settings = SOON_LOST if is_lost else {}
    with running(2) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=2, settings=settings)
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
        assert driver.wait_for_task()
        stopped = cluster.processes_on("1")
        signal_all(stopped, signal.SIGSTOP)
        before, began = newest_record(driver.home), time.monotonic()
        if is_lost:
            assert driver.wait_for_record(before + 3)
        time.sleep(max(HUNG - (time.monotonic() - began), 0.0))
        signal_all(stopped, signal.SIGCONT)
        driver.finish()
    check(driver.home, scenario)


@only_long
def test_a_lane_host_on_a_worker_is_stopped(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 23, batches=30, rows=8, by_spark="")
    with running(2) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=2)
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
        assert driver.wait_for_task()
        stopped = cluster.processes_on("1", KEEPER)
        signal_all(stopped, signal.SIGSTOP)
        assert driver.wait_for_record(newest_record(driver.home) + 2)
        assert not set(stopped) & set(cluster.processes_on("1", KEEPER))
        driver.finish()
    check(driver.home, scenario)
    status = read_status(driver.home)
    assert status is not None
    # By the task that asked it, or by another try of Spark's.
    said = [text for _, text in status.errors]
    assert any("was replaced" in one or "tried again by Spark" in one for one in said), said


@only_long
@pytest.mark.parametrize("is_lost", [False, True])
def test_a_worker_cannot_be_reached_for_a_while(tmp_path: Path, is_lost: bool) -> None:
    """What runs there goes on, and cannot tell anybody; the folder of the home is still shared."""
    scenario = make_scenario(tmp_path / "in", 24, batches=60, rows=8, by_spark="")
    settings = SOON_LOST if is_lost else {}
    with cables() as network, running(2, network.node) as cluster:
        driver = start_on(cluster, tmp_path / "home", scenario, tasks=2, settings=settings)
        assert driver.wait_for(lambda: keepers(cluster) == [1, 1])
        assert driver.wait_for_task()
        network.cut("1")
        before, began = newest_record(driver.home), time.monotonic()
        if is_lost:
            assert driver.wait_for_record(before + 3)
        time.sleep(max(HUNG - (time.monotonic() - began), 0.0))
        network.mend("1")
        driver.finish()
    check(driver.home, scenario)


@only_long
def test_two_drivers_and_one_that_comes_back(tmp_path: Path) -> None:
    """A second driver is refused; one that was given up wakes up, and commits nothing."""
    scenario = make_scenario(tmp_path / "in", 25, batches=40, rows=8, by_spark="")
    half = {"spark.cores.max": "1", "spark.scheduler.minRegisteredResourcesRatio": "0.0"}
    with running(2) as cluster:
        first = start_on(cluster, tmp_path / "home", scenario, tasks=1, settings=half)
        assert first.wait_for_record(4)
        code, said = start_on(cluster, first.home.path, scenario, tasks=1, settings=half).output()
        assert code == 1
        assert f"another pipeline uses the home {first.home.path}: process" in said
        assert first.wait_for_task()
        stopped = first.processes()
        signal_all(stopped, signal.SIGSTOP)
        # As whoever takes the first for dead, on a file system that keeps locks of the dead.
        (first.home.path / "lock").unlink()
        second = start_on(cluster, first.home.path, scenario, tasks=1, settings=half)
        try:
            assert second.wait_for_record(newest_record(second.home) + 3)
            assert second.wait_for_task()
        finally:
            signal_all(stopped, signal.SIGCONT)
        code, said = first.output()
        assert code == 1
        assert "is there already: another pipeline uses this home" in said
        second.finish()
    check(second.home, scenario)


@only_long
def test_a_home_that_nodes_do_not_see_is_told(tmp_path: Path) -> None:
    """As one in a folder of the driver's own machine."""
    home = tmp_path / "own" / "home"
    home.parent.mkdir()
    elsewhere = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs tmpfs "$0" && exec "$@"')
    if subprocess.run([*elsewhere, home.parent, "true"], check=False).returncode:
        pytest.skip("only root may mount a file system")

    def node(name: str) -> ClusterNode:
        return ClusterNode(command=() if name == MASTER else (*elsewhere, str(home.parent)))

    scenario = make_scenario(tmp_path / "in", 27, batches=4, rows=8, by_spark="")
    with running(1, node) as cluster:
        code, said = start_on(cluster, home, scenario, tasks=1, settings_in=tmp_path).output()
    assert code == 1
    assert f"the home {home} is not there on " in said
    assert "has to be a folder that all nodes of the cluster see under one path" in said


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a file system")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@only_long
def test_the_disk_of_the_home_becomes_read_only(disk: Path, tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 26, batches=20, rows=8, by_spark="")
    home = disk / "home"
    with running(2) as cluster:
        driver = start_on(cluster, home, scenario, tasks=2, settings_in=tmp_path)
        assert driver.wait_for_record(4)
        # Not mounted anew: the lock is open for writing. A cover that cannot be written instead.
        subprocess.run(["mount", "--bind", str(home), str(home)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(home)], check=True)
        try:
            code, said = driver.output()
        finally:
            subprocess.run(["umount", "-l", str(home)], check=True)
        assert code == 1
        assert f"the disk with {home}" in said
        assert "cannot be written (Read-only file system): mount it so that it can" in said
        second = start_on(cluster, home, scenario, tasks=2, settings_in=tmp_path)
        second.finish()
    check(second.home, scenario)
