"""A Spark master and workers on loopback: where lanes live, and one worker killed in mid-run."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.spark.spark_session import launch_environment
from spark.recovery.processes import PATIENCE, python_path, start_driver
from spark.recovery.scenario import QUERIES, check, make_plan, make_scenario
from tiers import only_long

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Cluster:
    """A master and its workers, each in a process group, with a folder `apart` from the others."""

    folder: Path
    port: int
    apart: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return "".join(one.read_text("utf-8") for one in self.folder.glob("*.log"))

    def start(self, name: str, *arguments: str, own: Path | None = None) -> None:
        """Start a process of Spark's; what it starts has a folder of its own for temporary files.

        So processes on this machine find each other as little as those of several machines do.
        """
        variables = {
            **os.environ,
            **launch_environment(self.url),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Executors have the variables of their worker, not those of the driver.
            "PYTHONPATH": python_path(),
            **({"TMPDIR": str(own)} if own else {}),
        }
        command = Path(variables["SPARK_HOME"]) / "bin" / "spark-class"
        with (self.folder / f"{name}.{len(self.processes)}.log").open("wb") as log:
            started = subprocess.Popen(
                [command, f"org.apache.spark.deploy.{name}", *arguments, "--webui-port", "0"],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(started)

    def keepers(self) -> list[list[str]]:
        """For each worker, the names of the sockets that keepers of lanes have listened on."""
        folders = sorted(self.apart.iterdir())
        sockets = (folder.glob("penstock-*/*") for folder in folders)
        return [[one.name for one in found if one.is_socket()] for found in sockets]

    def wait_for(self, text: str, times: int) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.log.count(text) < times:
            assert time.monotonic() < deadline, self.log
            time.sleep(0.1)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """A worker goes together with the executor that it has started."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.processes.remove(process)


@contextmanager
def running(folder: Path, workers: int) -> Iterator[Cluster]:
    """A master, and workers of one core; each has a folder of its own, as if it were a machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Paths of sockets are short.
    apart = Path(tempfile.mkdtemp())
    made = Cluster(folder, port, apart)
    try:
        made.start("master.Master", "--host", "127.0.0.1", "--port", str(port))
        made.wait_for("I have been elected leader", 1)
        for number in range(workers):
            own = apart / str(number)
            own.mkdir()
            made.start(
                "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
                "--work-dir", str(own), made.url, own=own,
            )  # fmt: skip
        made.wait_for("Registering worker", workers)
        yield made
    finally:
        for process in list(made.processes):
            made.kill(process)
        shutil.rmtree(apart, ignore_errors=True)


VARIABLES = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}


@only_long
def test_a_worker_is_killed(tmp_path: Path) -> None:
    scenario = make_scenario(tmp_path / "in", 8, batches=10)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    with running(tmp_path, 2) as cluster:
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
    scenario = make_scenario(tmp_path / "in", 8, batches=24, by_spark="")
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=4)
    with running(tmp_path, 4) as cluster:
        driver = start_driver(
            tmp_path / "home", plan, tasks=4, master=cluster.url, variables=VARIABLES,
            settings={"spark.penstock.reading": reading},
        )  # fmt: skip
        assert driver.wait_for_record(10)
        assert sorted(map(len, cluster.keepers())) == [1, 1, 1, 1]
        cluster.kill(cluster.processes[-1])
        driver.finish()
        assert len([one for one in cluster.keepers() if one]) == 3
        print(cluster.keepers())
    check(driver.home, scenario)
