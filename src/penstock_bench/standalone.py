"""A standalone cluster of Spark's on this machine: a master, and workers of one core each."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import InternalError
from penstock.spark.spark_session import launch_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

START_SECONDS = 400.0
"""How long a cluster may take to start; far more than it does on a machine at rest."""


@dataclass
class Standalone:
    """A master and its workers, each in a process group with a folder of its own.

    So processes on this machine find each other as little as those of several machines do.
    """

    folder: Path
    port: int
    variables: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: int = 0

    @property
    def url(self) -> str:
        """The master's address."""
        return f"spark://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """All that master and workers have said."""
        return "".join(one.read_text("utf-8") for one in self.folder.glob("*.log"))

    def own_folder(self, name: str) -> Path:
        """The folder for temporary files of a process and of all that it starts."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def start(self, name: str, kind: str, *arguments: str) -> None:
        """Start a master or a worker."""
        own = self.own_folder(name)
        variables = {
            **os.environ,
            **launch_environment(self.url),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "TMPDIR": str(own),
            # Executors have the variables of their worker, not those of the driver.
            **self.variables,
        }
        command = Path(variables["SPARK_HOME"]) / "bin" / "spark-class"
        with (self.folder / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                [command, f"org.apache.spark.deploy.{kind}", *arguments, "--webui-port", "0"],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=own,
                start_new_session=True,
            )
        self.processes.append(started)

    def add_worker(self) -> None:
        """Start one more worker, of one core, and wait until the master knows it."""
        self.workers += 1
        number = self.workers
        work = self.own_folder(str(number))
        self.start(
            str(number), "worker.Worker", "--host", "127.0.0.1", "--cores", "1",
            "--memory", "1g", "--work-dir", str(work), self.url,
        )  # fmt: skip
        self.wait_for("Registering worker", number)

    def wait_for(self, text: str, times: int) -> None:
        """Wait until something was said so often.

        Raises:
            InternalError: It was not.
        """
        deadline = time.monotonic() + START_SECONDS
        while self.log.count(text) < times:
            if time.monotonic() > deadline:
                raise InternalError(self.log)
            time.sleep(0.1)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process without warning; a worker goes together with its executor."""
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self.processes.remove(process)


@contextmanager
def standalone(
    folder: Path, workers: int, variables: Mapping[str, str] | None = None
) -> Iterator[Standalone]:
    """A cluster that runs; its folder is there, and has a short path, as sockets need one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Standalone(folder, port, variables or {})
    try:
        made.start("m", "master.Master", "--host", "127.0.0.1", "--port", str(port))
        made.wait_for("I have been elected leader", 1)
        for _ in range(workers):
            made.add_worker()
        yield made
    finally:
        for process in list(made.processes):
            made.kill(process)
