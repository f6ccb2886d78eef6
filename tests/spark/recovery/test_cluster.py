"""A Spark master and two workers on loopback; one worker is killed in mid-run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
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

WORKERS = 2


@dataclass
class Cluster:
    """A master and its workers, each in a process group of its own."""

    folder: Path
    port: int
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        return "".join(one.read_text("utf-8") for one in self.folder.glob("*.log"))

    def start(self, name: str, *arguments: str) -> None:
        variables = {
            **os.environ,
            **launch_environment(self.url),
            "SPARK_LOCAL_IP": "127.0.0.1",
            # Executors have the variables of their worker, not those of the driver.
            "PYTHONPATH": python_path(),
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


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Cluster(tmp_path, port)
    made.start("master.Master", "--host", "127.0.0.1", "--port", str(port))
    made.wait_for("I have been elected leader", 1)
    for number in range(WORKERS):
        made.start(
            "worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g",
            "--work-dir", str(tmp_path / f"worker{number}"), made.url,
        )  # fmt: skip
    yield made
    for process in list(made.processes):
        made.kill(process)


@only_long
def test_a_worker_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    cluster.wait_for("Registering worker", WORKERS)
    scenario = make_scenario(tmp_path / "in", 8, batches=10)
    plan = make_plan(scenario.statements(), list(QUERIES), lanes=2)
    variables = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    driver = start_driver(tmp_path / "home", plan, master=cluster.url, variables=variables)
    assert driver.wait_for_record(4)
    assert driver.wait_for_task()
    cluster.kill(cluster.processes[-1])
    driver.finish()
    assert "Removing executor" in cluster.log or "Removing worker" in cluster.log
    check(driver.home, scenario)
